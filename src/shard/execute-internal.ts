// Internal requests, which don't come from a merchant: those of the hosted pages, operators and payment networks. They pass
// no gates and spend no limits; otherwise they are executed within a turn like any other.

import { kindOfId } from '../contract/id-prefixes.ts';
import { parseQuery } from '../contract/routes/query-string.ts';
import { type ExportOperation, routeTable } from '../contract/routes/table.ts';
import { fillDefaults } from '../contract/routes/validate.ts';
import { assert } from '../core/assert.ts';
import { causes } from '../domain/cause.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { dueRecords, nextDueMs } from '../domain/due.ts';
import { eventJson } from '../domain/events.ts';
import { exportPage } from '../domain/export.ts';
import { missing } from '../domain/find.ts';
import { dueIndex, kindIndex, scopeOf, timeKey } from '../domain/indexes.ts';
import { searchPayments } from '../domain/payment-search.ts';
import { storyOf } from '../domain/payment-story.ts';
import { viewPayment } from '../domain/payment-view.ts';
import type { StoredRecord } from '../domain/record.ts';
import { chargesNamed, settledPage } from '../domain/settled.ts';
import { answer, messageAnswer } from './answer.ts';
import { about, executeCommand } from './execute-command.ts';
import type { InternalAnswer, InternalRequest } from './protocol.ts';
import type { ShardState } from './shard-state.ts';
import type { ReplyTo, Turn } from './turn.ts';

type Of<K extends InternalRequest['kind']> = Extract<InternalRequest, { kind: K }>;

/** Executes one internal request. */
export function executeInternal(state: ShardState, turn: Turn, to: ReplyTo, request: InternalRequest): void {
  if (request.kind === 'command') {
    commandOf(state, turn, to, request);
    return;
  }
  const answered = state.readForVisit(
    null,
    () => answerQuestion(state, turn, request),
    (refusal) => messageAnswer({ refusal }, 'en'),
  );
  turn.reply(to, answered);
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
    case 'search_payments': {
      const { org, livemode, search } = request;
      const context = state.queryContext(state.scope(org, livemode, turn), turn);
      return { ok: true, body: JSON.stringify(searchPayments(state.view, context, search)) };
    }
    case 'payment_story': {
      const { org, livemode, reference, refundsBefore } = request;
      const context = state.queryContext(state.scope(org, livemode, turn), turn);
      const story = storyOf(state.view, context, reference, refundsBefore);
      return { ok: true, body: JSON.stringify(story) };
    }
    case 'charges_named':
      return { ok: true, body: JSON.stringify(chargesNamed(state.view, request, request.names)) };
    case 'settled_page': {
      const { org, livemode, filter, start } = request;
      const context = state.queryContext(state.scope(org, livemode, turn), turn);
      return { ok: true, body: JSON.stringify(settledPage(state.view, context, filter, start)) };
    }
    case 'limit_levels': {
      const levels = state.scope(request.org, request.livemode, turn).levels(turn);
      return { ok: true, body: JSON.stringify(levels) };
    }
  }
}

/** The record that an internal command is about. The command runs on behalf of its organization. */
function subjectOf(state: ShardState, id: string): StoredRecord | undefined {
  const kind = kindOfId(id);
  return kind === undefined || kind === 'organization' || kind === 'request'
    ? undefined
    : state.view.get(kind, id);
}

function commandOf(state: ShardState, turn: Turn, to: ReplyTo, request: Of<'command'>): void {
  const { operation, id, params, language, cause } = request;
  const waiter = { kind: 'message', to, language } as const;
  const subject = state.readForVisit(
    null,
    () => subjectOf(state, id) ?? { refusal: missing(id, null) },
    (refusal) => ({ refusal }),
  );
  if ('refusal' in subject) answer(state, turn, waiter, subject);
  else executeCommand(state, turn, about(state, turn, subject, operation, params as object, cause), waiter);
}

const duePerTurnMax = 256;

/** Expires some of the charges and sessions that are due, the oldest first; true when more are due. */
export function expireDue(state: ShardState, turn: Turn): boolean {
  const { tasks, damagedTasks } = state;
  const due = dueRecords(tasks, turn.serviceMs, duePerTurnMax);
  for (const record of due) {
    const command = about(state, turn, record, 'expire_due', {}, causes.time);
    const outcome = executeCommand(state, turn, command, null);
    // It needs a damaged record, such as that of its payment.
    if ('refusal' in outcome) damagedTasks.leave(dueIndex, timeKey(record.due_at_ms) + record.id);
  }
  const [left] = dueRecords(tasks, turn.serviceMs, 1);
  const isNew = due.every(({ id }) => id !== left?.id);
  assert(isNew, `${left?.id} is due still, although its time was dealt with`);
  state.dueMs = nextDueMs(tasks);
  return left !== undefined;
}

function viewOf(state: ShardState, turn: Turn, request: Of<'view_payment'>): InternalAnswer {
  const view = viewPayment(state.view, request.id, turn.serviceMs);
  if (view === null) return messageAnswer({ refusal: missing(request.id, null) }, 'en');
  const { settings, networks } = state.scope(view.org, view.livemode, turn);
  const { name: merchant, branding } = settings;
  const { cardPage: card_page, agents } = networks;
  return { ok: true, body: JSON.stringify({ ...view, merchant, branding, card_page, agents }) };
}

function exportPageOf(state: ShardState, turn: Turn, request: Of<'export_page'>): InternalAnswer {
  const route = routeTable[request.route]!;
  const parsed = parseQuery(route, request.query);
  if ('refusal' in parsed) return messageAnswer(parsed, 'en');
  fillDefaults(route, parsed.params);
  const context = state.queryContext(state.scope(request.org, request.livemode, turn), turn);
  const operation = route.operation as ExportOperation;
  const page = exportPage(state.view, operation, parsed.params, context, request.cursor);
  return { ok: true, body: page.text, cursor: page.cursor };
}

/** The body is a list of `{id, type, body}`. `body` is the event as text, whose bytes are signed. */
function eventsAfter(
  { view }: ShardState,
  { org, livemode, after, limit }: Of<'events_after'>,
): InternalAnswer {
  const index = kindIndex('event', scopeOf(org, livemode));
  if (after === null) {
    const [newest] = view.scan(index, { descending: true });
    return { ok: true, body: '[]', cursor: newest?.id ?? '' };
  }
  const events: { id: string; type: string; body: string }[] = [];
  for (const event of view.scan(index, { after, descending: false })) {
    if (event.kind !== 'event' || events.length === limit) break;
    events.push({
      id: event.id,
      type: event.type,
      body: eventJson(event, pendingDeliveries(view, event)),
    });
  }
  return { ok: true, body: JSON.stringify(events), cursor: events.at(-1)?.id ?? after };
}

function recordOf(state: ShardState, { id }: Of<'record'>): InternalAnswer {
  const record = subjectOf(state, id);
  if (record === undefined) return messageAnswer({ refusal: missing(id, null) }, 'en');
  return { ok: true, body: JSON.stringify(record) };
}

function recordsOf(state: ShardState, { index, limit, before }: Of<'records'>): InternalAnswer {
  const records: StoredRecord[] = [];
  for (const record of state.view.scan(index, { before, descending: true })) {
    if (records.length === limit) break;
    records.push(record);
  }
  return { ok: true, body: JSON.stringify(records) };
}
