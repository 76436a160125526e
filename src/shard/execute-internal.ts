// Internal requests: those of the hosted pages, the dashboard, operators, payment networks, and of
// the edges that stream events and exports. They pass no gates and spend no limits; otherwise they
// are executed within a commit batch like any other.

import { kindOfId } from '../contract/id-prefixes.ts';
import { listedMax } from '../contract/limits.ts';
import { fillDefaults } from '../contract/routes/parsed-params.ts';
import { parseQuery } from '../contract/routes/query-string.ts';
import type { Route } from '../contract/routes/route.ts';
import { type ExportOperation, routeTable } from '../contract/routes/table.ts';
import { assert, elementAt } from '../core/assert.ts';
import { wallMsOf } from '../core/clock.ts';
import { pendingDeliveries } from '../domain/deliveries.ts';
import { eventJson } from '../domain/events.ts';
import { exportPage } from '../domain/export.ts';
import { missing } from '../domain/find.ts';
import { endpointDueIndex, kindIndex, scopeOf } from '../domain/indexes.ts';
import { linksOf, viewLink } from '../domain/payment-links.ts';
import { searchPayments } from '../domain/payment-search.ts';
import { storyOf } from '../domain/payment-story.ts';
import { viewPayment } from '../domain/payment-view.ts';
import type { QueryContext } from '../domain/query.ts';
import type { StoredRecord, WebhookEndpointRecord } from '../domain/record.ts';
import { chargesNamed, settledPage } from '../domain/settled.ts';
import type { View } from '../domain/view.ts';
import { answer, messageAnswer } from './answer.ts';
import type { CommitBatch, ReplyTo } from './commit-batch.ts';
import type { EndpointNow, FailingEndpoints } from './endpoint-health.ts';
import { executeCommand, executeFor } from './execute-command.ts';
import type { InternalAnswer, InternalRequest, ListedEvent } from './protocol.ts';
import type { Scope } from './scope.ts';
import type { ShardState } from './shard-state.ts';

type Of<K extends InternalRequest['kind']> = Extract<InternalRequest, { kind: K }>;
type Question = Exclude<InternalRequest, { kind: 'command' }>;

export function executeInternal(
  state: ShardState,
  batch: CommitBatch,
  to: ReplyTo,
  request: InternalRequest,
): void {
  if (request.kind === 'command') {
    commandOf(state, batch, to, request);
    return;
  }
  const answered = state.reads.readForRequest(null, () => answerQuestion(state, batch, request));
  batch.reply(to, 'refusal' in answered ? messageAnswer(answered, 'en') : answered);
}

function commandOf(state: ShardState, batch: CommitBatch, to: ReplyTo, request: Of<'command'>): void {
  const { id, language } = request;
  const waiter = { kind: 'message', to, language } as const;
  if (request.scope !== undefined) {
    const { org, livemode } = request.scope;
    const scope = state.scopes.get(org, livemode, batch);
    executeCommand(state, batch, { ...request, scope, request: null, addressAllowed: null }, waiter);
    return;
  }
  const subject = state.reads.readForRequest(
    null,
    () => subjectOf(batch.view, id) ?? { refusal: missing('object', id, null) },
  );
  if ('refusal' in subject) answer(batch, state.settings, waiter, subject);
  else executeFor(state, batch, subject, request, waiter);
}

/** The record that an internal request is about. A command runs on behalf of its organization. */
function subjectOf(view: View, id: string): StoredRecord | undefined {
  const kind = kindOfId(id);
  return kind === undefined || kind === 'organization' || kind === 'request' ? undefined : view.get(kind, id);
}

function found(value: unknown): InternalAnswer {
  return { ok: true, body: JSON.stringify(value) };
}

function notFound(id: string): InternalAnswer {
  return messageAnswer({ refusal: missing('object', id, null) }, 'en');
}

function answerQuestion(state: ShardState, batch: CommitBatch, request: Question): InternalAnswer {
  const { view } = batch;
  switch (request.kind) {
    case 'view_payment':
      return viewOf(state, batch, request);
    case 'view_link':
      return linkOf(state, batch, request);
    case 'record': {
      const record = subjectOf(view, request.id);
      return record === undefined ? notFound(request.id) : found(record);
    }
    case 'records':
      return recordsOf(view, request);
    case 'events_after':
      return eventsAfter(view, request);
    case 'charges_named':
      return found(chargesNamed(view, request, request.names));
    case 'failing_endpoints':
      return found(failingOf(state, batch, request));
    case 'now': {
      const { nowMs, serviceMs } = batch;
      return found({ nowMs, serviceMs });
    }
  }
  const scope = state.scopes.get(request.org, request.livemode, batch);
  const context = state.queryContext(scope, batch);
  switch (request.kind) {
    case 'export_page':
      return exportPageOf(view, context, request);
    case 'export_ended':
      scope.exports.delete(request.requestId);
      return { ok: true, body: '' };
    case 'search_payments':
      return found(searchPayments(view, context, request.search));
    case 'payment_story':
      return found(storyOf(view, context, request.reference, request.refundsBefore));
    case 'payment_links': {
      const { baseUrl } = state.settings;
      return found(linksOf(view, request).map((link) => viewLink(view, link, batch.serviceMs, baseUrl)));
    }
    case 'settled_page':
      return found(settledPage(view, context, request.filter, request.start));
    case 'endpoint_health':
      return found(healthOf(state, scope, batch));
    case 'limit_levels':
      return found(scope.levels(batch));
  }
}

function healthOf(state: ShardState, scope: Scope, batch: CommitBatch): EndpointNow[] {
  return state.endpoints.of(scope).map((endpoint) => endpointNow(state, endpoint, batch));
}

function endpointNow(
  { health, tasks }: ShardState,
  { id, status }: WebhookEndpointRecord,
  batch: CommitBatch,
): EndpointNow {
  const enabled = status === 'enabled';
  const [next] = enabled ? tasks.scan(endpointDueIndex(id), { descending: false }) : [];
  const dueMs = next?.kind === 'delivery' ? next.due_at_ms : null;
  const nextAttemptMs = dueMs === null ? null : wallMsOf(dueMs, batch);
  return { id, enabled, nextAttemptMs, health: health.of(id, batch.nowMs) };
}

/** Of more than `listedMax`, the rest are counted without a look at whether they are enabled. */
function failingOf(
  state: ShardState,
  batch: CommitBatch,
  { limit }: Of<'failing_endpoints'>,
): FailingEndpoints {
  const ids = state.health.failing();
  const enabled = ids
    .slice(0, listedMax)
    .flatMap((id) => batch.view.get('webhook_endpoint', id) ?? [])
    .filter(({ status }) => status === 'enabled');
  const listed = enabled
    .slice(0, limit)
    .map((endpoint) => ({ endpoint, now: endpointNow(state, endpoint, batch) }));
  return { count: enabled.length + Math.max(0, ids.length - listedMax), listed };
}

function viewOf({ scopes }: ShardState, batch: CommitBatch, { id }: Of<'view_payment'>): InternalAnswer {
  const view = viewPayment(batch.view, id, batch.serviceMs);
  if (view === null) return notFound(id);
  const { settings, networks }: Scope = scopes.get(view.org, view.livemode, batch);
  const { name: merchant, branding } = settings;
  const { cardPage: card_page, agents } = networks;
  return found({ ...view, merchant, branding, card_page, agents });
}

function linkOf(state: ShardState, batch: CommitBatch, { id }: Of<'view_link'>): InternalAnswer {
  const link = batch.view.get('payment_link', id);
  if (link === undefined) return notFound(id);
  const { settings }: Scope = state.scopes.get(link.org, link.livemode, batch);
  const { name: merchant, branding } = settings;
  const shown = viewLink(batch.view, link, batch.serviceMs, state.settings.baseUrl);
  return found({ ...shown, merchant, branding });
}

function exportPageOf(view: View, context: QueryContext, request: Of<'export_page'>): InternalAnswer {
  const route = elementAt(routeTable, request.route);
  assert(isExport(route), `${route.operation} is no export`);
  const parsed = parseQuery(route, request.query);
  if ('refusal' in parsed) return messageAnswer(parsed, 'en');
  fillDefaults(route, parsed.params);
  const { text, cursor } = exportPage(view, route.operation, parsed.params, context, request.cursor, request);
  return { ok: true, body: text, cursor };
}

function isExport(route: Route): route is Route & { readonly operation: ExportOperation } {
  return route.kind === 'export';
}

function eventsAfter(view: View, { org, livemode, after, limit }: Of<'events_after'>): InternalAnswer {
  const index = kindIndex('event', scopeOf(org, livemode));
  if (after === null) {
    const [newest] = view.scan(index, { descending: true });
    return { ok: true, body: '[]', cursor: newest?.id ?? '' };
  }
  const events: ListedEvent[] = [];
  for (const event of view.scan(index, { after, descending: false })) {
    if (event.kind !== 'event' || events.length === limit) break;
    const body = eventJson(event, pendingDeliveries(view, event));
    events.push({ id: event.id, type: event.type, body });
  }
  return { ok: true, body: JSON.stringify(events), cursor: events.at(-1)?.id ?? after };
}

function recordsOf(view: View, { index, limit, before }: Of<'records'>): InternalAnswer {
  const records: StoredRecord[] = [];
  for (const record of view.scan(index, { before, descending: true })) {
    if (records.length === limit) break;
    records.push(record);
  }
  return found(records);
}
