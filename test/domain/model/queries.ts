// What the API answers to queries: single objects, and pages of lists.

import type { QueryOperation } from '../../../src/contract/routes/table.ts';
import { burstOf } from '../../../src/core/token-bucket.ts';
import type { RecordKind, RecordOf, StoredRecord } from '../../../src/domain/record.ts';
import { type Params, shown } from './payments.ts';
import * as resources from './resources.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

interface Listed {
  readonly kind: RecordKind;
  readonly url: string;
  readonly filters: readonly string[];
}

const listed = (kind: RecordKind, url: string, ...filters: readonly string[]): Listed => ({
  kind,
  url,
  filters,
});

const lists: Readonly<Record<string, Listed>> = {
  list_payment_intents: listed('payment_intent', '/v1/payment_intents', 'customer', 'status'),
  list_checkout_sessions: listed('checkout_session', '/v1/checkout/sessions'),
  list_refunds: listed('refund', '/v1/refunds', 'payment_intent', 'status'),
  list_charges: listed('charge', '/v1/charges', 'payment_intent', 'status'),
  list_customers: listed('customer', '/v1/customers', 'email'),
  list_reviews: listed('review', '/v1/reviews'),
  list_events: listed('event', '/v1/events', 'type'),
  list_webhook_endpoints: listed('webhook_endpoint', '/v1/webhook_endpoints'),
};

export function answerTo(turn: Turn, operation: QueryOperation, params: Params, id: string): Expected {
  if (operation === 'retrieve_account') return { answer: accountOf(turn) };
  const list = lists[operation];
  if (list !== undefined) return page(turn, list, params);
  const record = visible(turn, operation.replace('retrieve_', '') as RecordKind, id);
  return record === null ? refuse('resource_missing') : { answer: show(turn, record) };
}

function visible(turn: Turn, kind: RecordKind, id: string): StoredRecord | null {
  const record = turn.get(kind, id);
  if (record === undefined || !turn.isOwn(record)) return null;
  return record.kind === 'webhook_endpoint' && record.status === 'deleted' ? null : record;
}

export function show(turn: Turn, record: StoredRecord): object {
  const { baseUrl } = turn.asked.settings;
  switch (record.kind) {
    case 'payment_intent':
      return shown(turn, record);
    case 'checkout_session':
      return resources.showSession(record, baseUrl);
    case 'charge':
      return resources.showCharge(record);
    case 'refund':
      return resources.showRefund(record);
    case 'customer':
      return resources.showCustomer(record);
    case 'review':
      return resources.showReview(record);
    case 'webhook_endpoint':
      return resources.showEndpoint(record);
    case 'event':
      return resources.showEvent(record, pendingOf(turn, record));
    default:
      throw new Error(`nobody is shown a ${record.kind}`);
  }
}

function pendingOf(turn: Turn, { id }: RecordOf<'event'>): number {
  const isGone = (endpoint: string) => turn.get('webhook_endpoint', endpoint)?.status === 'deleted';
  const waiting = turn.own('delivery').filter((each) => each.event === id && each.status === 'pending');
  return waiting.filter(({ endpoint }) => !isGone(endpoint)).length;
}

function page(turn: Turn, { kind, url, filters }: Listed, params: Params): Expected {
  for (const name of filters) {
    const isObject = name === 'customer' || name === 'payment_intent';
    if (isObject && params[name] !== undefined && visible(turn, name, params[name]) === null)
      return refuse('resource_missing', name);
  }
  const { starting_after, ending_before, limit = 10 } = params;
  for (const [name, cursor] of Object.entries({ starting_after, ending_before }))
    if (cursor !== undefined && visible(turn, kind, cursor) === null) return refuse('resource_missing', name);
  const fitting = fittingOf(turn, kind, filters, params);
  const after = starting_after === undefined ? fitting : fitting.filter(({ id }) => id < starting_after);
  const before = ending_before === undefined ? after : after.filter(({ id }) => id > ending_before);
  const onPage = ending_before === undefined ? before.slice(0, limit) : before.slice(-limit);
  const data = onPage.map((record) => show(turn, record));
  return { answer: { object: 'list', url, has_more: before.length > limit, data } };
}

/** Newest first. */
export function fittingOf(
  turn: Turn,
  kind: RecordKind,
  filters: readonly string[],
  params: Params,
): StoredRecord[] {
  const bounds = [
    [params.created, (created: number, bound: number) => created === bound],
    [params['created[gte]'], (created: number, bound: number) => created >= bound],
    [params['created[gt]'], (created: number, bound: number) => created > bound],
    [params['created[lte]'], (created: number, bound: number) => created <= bound],
    [params['created[lt]'], (created: number, bound: number) => created < bound],
  ] as const;
  return turn
    .own(kind)
    .filter((record) => isListed(record))
    .filter((record) =>
      filters.every((name) => params[name] === undefined || fieldOf(record, name) === params[name]),
    )
    .filter(({ created }) => bounds.every(([bound, fits]) => bound === undefined || fits(created, bound)))
    .sort((a, b) => (a.id > b.id ? -1 : 1));
}

const fieldOf = (record: StoredRecord, name: string) =>
  (record as unknown as Readonly<Record<string, unknown>>)[name];

function isListed(record: StoredRecord): boolean {
  if (record.kind === 'customer') return !record.deleted;
  return record.kind !== 'webhook_endpoint' || record.status !== 'deleted';
}

function accountOf({ asked }: Turn): object {
  const { id, created, name, methods, limits } = asked.account;
  const available = (isOn: boolean) => (isOn ? 'available' : 'unavailable');
  const shownLimits = Object.entries(limits).map(([bucket, { perMinute, source }]) => [
    bucket,
    { per_minute: perMinute, burst: burstOf(perMinute), source },
  ]);
  return {
    ...{ id, object: 'account', created, livemode: asked.livemode, name },
    ...{ country: 'MA', default_currency: 'mad' },
    payment_methods: { card: available(methods.card), cash: available(methods.cash) },
    limits: Object.fromEntries(shownLimits),
  };
}
