// Requests that don't come from a merchant: the hosted pages, operators, time, payment networks, webhook attempts.
// They pass no gates and spend no limits; otherwise they are executed like any other, within a turn.

import { messageOf, refuse, unavailable } from '../contract/errors.ts';
import { kindOfId } from '../contract/id-prefixes.ts';
import { type ExportOperation, routeTable } from '../contract/routes.ts';
import { fillDefaults, parseQuery } from '../contract/validate.ts';
import { assert } from '../core/assert.ts';
import type { Command } from '../domain/decide.ts';
import type { Outcome } from '../domain/decision.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { dueRecords, nextDueMs } from '../domain/due.ts';
import { eventJson } from '../domain/events.ts';
import { exportPage } from '../domain/export.ts';
import { missing } from '../domain/find.ts';
import { kindIndex, scopeOf } from '../domain/indexes.ts';
import { viewPayment } from '../domain/payment-view.ts';
import type { OperationRecord, OperationRequest, StoredRecord } from '../domain/record.ts';
import { answerOutcome, keep } from './execute.ts';
import type { InternalAnswer, InternalRequest } from './protocol.ts';
import type { ShardState } from './shard-state.ts';
import type { ReplyTo, Turn } from './turn.ts';

type Of<K extends InternalRequest['kind']> = Extract<InternalRequest, { kind: K }>;

/** Executes one internal request. */
export function executeInternal(state: ShardState, turn: Turn, to: ReplyTo, request: InternalRequest): void {
  const answer =
    request.kind === 'command'
      ? internalCommand(state, turn, to, request)
      : state.read(
          () => answerQuestion(state, turn, request),
          (refusal) => answerOf({ refusal }, 'en'),
        );
  if (answer !== null) turn.reply(to, answer);
}

function answerQuestion(
  state: ShardState,
  turn: Turn,
  request: Exclude<InternalRequest, { kind: 'command' }>,
): InternalAnswer {
  switch (request.kind) {
    case 'view_payment':
      return viewOf(state, turn, request);
    case 'export_page':
      return exportPageOf(state, turn, request);
    case 'export_ended':
      state.scope(request.org, request.livemode, turn).exports.delete(request.requestId);
      return { ok: true, body: '' };
    case 'events_after':
      return eventsAfter(state, request);
    case 'record':
      return recordOf(state, request);
    case 'records':
      return recordsOf(state, request);
  }
}

/** The record that an internal command is about: it says on whose behalf the command runs. */
function subjectOf(state: ShardState, id: string): StoredRecord | undefined {
  const kind = kindOfId(id);
  return kind === undefined || kind === 'organization' || kind === 'request'
    ? undefined
    : state.records.get(kind, id);
}

function internalCommand(
  state: ShardState,
  turn: Turn,
  to: ReplyTo,
  request: Of<'command'>,
): InternalAnswer | null {
  const { operation, id, params, language } = request;
  const subject = state.read(
    () => subjectOf(state, id) ?? { refusal: missing(id, null) },
    (refusal) => ({ refusal }),
  );
  if ('refusal' in subject) return answerOf(subject, language);
  if (state.refusesWrites) return answerOf({ refusal: unavailable }, language);
  const cause = subject.kind === 'operation' ? subject.request : null;
  const outcome = decideFor(state, turn, subject, { operation, id, params } as unknown as Command, cause);
  if ('waitsFor' in outcome) {
    state.waitForInternal(outcome.waitsFor.id, { to, language });
    return null;
  }
  if (subject.kind !== 'operation') return answerOf(outcome, language);
  // The outcome is for whoever waited; the network's side only hears that it was applied.
  answerWaiting(state, turn, subject, outcome);
  return { ok: true, body: '{}' };
}

/** Decides a command on behalf of the organization that `subject` belongs to, and writes its changes down. */
export function decideFor(
  state: ShardState,
  turn: Turn,
  subject: StoredRecord,
  command: Command,
  cause: OperationRequest | null,
): Outcome {
  const scope = state.scope(subject.org, subject.livemode, turn);
  const decision = state.decide(command, () => state.context(scope, turn, cause));
  state.apply(turn, decision);
  const kept = cause === null ? null : keep(state, cause, decision.outcome);
  turn.record(decision.changes, kept);
  return decision.outcome;
}

/** Answers the request, or the page, that waited for an operation. */
function answerWaiting(state: ShardState, turn: Turn, operation: OperationRecord, outcome: Outcome): void {
  state.ran(operation.request);
  const pending = state.takeWaiting(operation.id);
  if (pending !== undefined) answerOutcome(state, turn, pending, outcome);
  const page = state.takeWaitingInternal(operation.id);
  if (page !== undefined) turn.reply(page.to, answerOf(outcome, page.language));
}

function answerOf(outcome: Outcome, language: 'en' | 'fr' | 'ar'): InternalAnswer {
  if ('body' in outcome) return { ok: true, body: outcome.body };
  const refusal =
    'refusal' in outcome
      ? outcome.refusal
      : 'waiterRefused' in outcome
        ? outcome.waiterRefused
        : refuse('api_error');
  return { ok: false, code: refusal.code, message: messageOf(refusal, language) };
}

const duePerTurnMax = 256;

/** Ends what has run out, some of it a turn, oldest first; true while there is more. */
export function expireDue(state: ShardState, turn: Turn): boolean {
  const due = dueRecords(state.records, turn.serviceMs, duePerTurnMax);
  for (const record of due) {
    decideFor(state, turn, record, { operation: 'expire_due', id: record.id, params: {} }, null);
  }
  const [left] = dueRecords(state.records, turn.serviceMs, 1);
  const isNew = due.every(({ id }) => id !== left?.id);
  assert(isNew, `${left?.id} is due still, although its time was dealt with`);
  state.dueMs = nextDueMs(state.records);
  return left !== undefined;
}

function viewOf(state: ShardState, turn: Turn, request: Of<'view_payment'>): InternalAnswer {
  const view = viewPayment(state.records, request.id, turn.serviceMs);
  if (view === null) return answerOf({ refusal: missing(request.id, null) }, 'en');
  const merchant = state.scope(view.org, view.livemode, turn).settings.name;
  return { ok: true, body: JSON.stringify({ ...view, merchant }) };
}

function exportPageOf(state: ShardState, turn: Turn, request: Of<'export_page'>): InternalAnswer {
  const route = routeTable[request.route]!;
  const parsed = parseQuery(route, request.query);
  if ('refusal' in parsed) return answerOf(parsed, 'en');
  fillDefaults(route, parsed.params);
  const context = state.queryContext(state.scope(request.org, request.livemode, turn), turn);
  const operation = route.operation as ExportOperation;
  const page = exportPage(state.records, operation, parsed.params, context, request.cursor);
  return { ok: true, body: page.text, cursor: page.cursor };
}

/** The body lists `{id, type, body}`, the event itself being text: whoever signs it signs these bytes. */
function eventsAfter({ records }: ShardState, { org, after, limit }: Of<'events_after'>): InternalAnswer {
  const index = kindIndex('event', scopeOf(org, false));
  if (after === null) {
    const [newest] = records.scan(index, { descending: true });
    return { ok: true, body: '[]', cursor: newest?.id ?? '' };
  }
  const events: { id: string; type: string; body: string }[] = [];
  for (const event of records.scan(index, { after, descending: false })) {
    if (event.kind !== 'event' || events.length === limit) break;
    events.push({
      id: event.id,
      type: event.type,
      body: eventJson(event, pendingDeliveries(records, event)),
    });
  }
  return { ok: true, body: JSON.stringify(events), cursor: events.at(-1)?.id ?? after };
}

function recordOf(state: ShardState, { id }: Of<'record'>): InternalAnswer {
  const record = subjectOf(state, id);
  if (record === undefined) return answerOf({ refusal: missing(id, null) }, 'en');
  return { ok: true, body: JSON.stringify(record) };
}

function recordsOf(state: ShardState, { index, limit }: Of<'records'>): InternalAnswer {
  const records: StoredRecord[] = [];
  for (const record of state.records.scan(index, { descending: true })) {
    if (records.length === limit) break;
    records.push(record);
  }
  return { ok: true, body: JSON.stringify(records) };
}
