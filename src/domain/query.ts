// Queries read the state. They see the changes of the commands before them in the commit batch, and
// are answered after the commit together with those, so that nobody learns what could still be
// lost.

import { buckets } from '../contract/limits.ts';
import type { ParamsOf, QueryOperation } from '../contract/routes/table.ts';
import type { IdLeads } from '../core/ids.ts';
import { tableOf } from '../core/tables.ts';
import { burstOf } from '../core/token-bucket.ts';
import { answered, type Context, type Outcome } from './decision.ts';
import { pendingDeliveries } from './deliveries.ts';
import { eventJson } from './events.ts';
import { find, required } from './find.ts';
import type { ListedKind } from './indexes.ts';
import { type Filters, type ListParams, listPageOf } from './list-pages.ts';
import * as present from './present.ts';
import type { PaymentIntentRecord, RecordOf, StoredRecord } from './record.ts';
import type { RememberedTexts } from './remembered-texts.ts';
import type { View } from './view.ts';

/** What a query is given besides the state. */
export interface QueryContext extends Pick<Context, 'org' | 'livemode' | 'account' | 'settings'> {
  /** How far the times in ids were ever ahead of `created`. */
  readonly idLeads: IdLeads;
  /** What records were shown as. */
  readonly texts: RememberedTexts<StoredRecord>;
}

type Query<O extends QueryOperation> = (
  view: View,
  params: ParamsOf<O>,
  context: QueryContext,
  id: string,
) => Outcome;

/** A record as JSON text. */
type Show<K extends ListedKind> = (record: RecordOf<K>, view: View, context: QueryContext) => string;

const shows: { readonly [K in Exclude<ListedKind, 'delivery' | 'day_total' | 'payment_link'>]: Show<K> } = {
  payment_intent: (record, view, context) => JSON.stringify(presentIntent(record, view, context)),
  checkout_session: (record, _view, { settings }) =>
    JSON.stringify(present.presentCheckoutSession(record, settings.baseUrl)),
  customer: (record) => JSON.stringify(present.presentCustomer(record)),
  charge: (record) => JSON.stringify(present.presentCharge(record)),
  refund: (record) => JSON.stringify(present.presentRefund(record)),
  review: (record) => JSON.stringify(present.presentReview(record)),
  webhook_endpoint: (record) => JSON.stringify(present.presentWebhookEndpoint(record)),
  event: (record, view) => eventJson(record, pendingDeliveries(view, record)),
};

/** The resource of an intent, with its `next_action`. */
export function presentIntent(record: PaymentIntentRecord, view: View, context: Pick<Context, 'settings'>) {
  const isOpen = record.status === 'requires_action';
  const charge = isOpen ? required(view, 'charge', record.latest_charge) : undefined;
  return present.presentPaymentIntent(record, charge, context.settings.baseUrl);
}

type ShownKind = keyof typeof shows;

function textOf<K extends ShownKind>(
  kind: K,
  record: RecordOf<K>,
  view: View,
  context: QueryContext,
): string {
  const known = context.texts.get(record);
  if (known !== undefined) return known;
  const text = shows[kind](record, view, context);
  return showsOthers(record) ? text : context.texts.put(record, text);
}

/**
 * Whether the text depends on other records, too: the charge of a next action, the deliveries of an
 * event.
 */
function showsOthers(record: StoredRecord): boolean {
  return record.kind === 'event' || (record.kind === 'payment_intent' && record.status === 'requires_action');
}

function retrieve<K extends ShownKind>(kind: K) {
  return (view: View, _params: object, context: QueryContext, id: string): Outcome => {
    const found = find(view, context, kind, id);
    return 'refusal' in found ? found : { body: textOf(kind, found.record, view, context) };
  };
}

/** A list that can be filtered by the parameters `names`, in the order of their index. */
function list<K extends ShownKind, N extends string = never>(kind: K, url: string, names: readonly N[] = []) {
  type Params = ListParams & Readonly<Partial<Record<NoInfer<N>, string | undefined>>>;
  return (view: View, params: Params, context: QueryContext): Outcome => {
    const filters: Filters = tableOf(names, (name) => params[name]);
    for (const kind of ['customer', 'payment_intent'] as const) {
      const id = filters[kind];
      const found = id === undefined ? null : find(view, context, kind, id, kind);
      if (found !== null && 'refusal' in found) return found;
    }
    const page = listPageOf(view, context, kind, params, filters);
    if ('refusal' in page) return page;
    // Texts that are put together one by one are copied once, when the answer is written.
    let body = `{"object":"list","url":"${url}","has_more":${page.hasMore},"data":[`;
    let comma = '';
    for (const record of page.records) {
      body += comma + textOf(kind, record, view, context);
      comma = ',';
    }
    return { body: `${body}]}` };
  };
}

const queries: { readonly [O in QueryOperation]: Query<O> } = {
  retrieve_payment_intent: retrieve('payment_intent'),
  list_payment_intents: list('payment_intent', '/v1/payment_intents', ['customer', 'status']),
  list_checkout_sessions: list('checkout_session', '/v1/checkout/sessions'),
  retrieve_checkout_session: retrieve('checkout_session'),
  list_refunds: list('refund', '/v1/refunds', ['payment_intent', 'status']),
  retrieve_refund: retrieve('refund'),
  list_charges: list('charge', '/v1/charges', ['payment_intent', 'status']),
  retrieve_charge: retrieve('charge'),
  list_customers: list('customer', '/v1/customers', ['email']),
  retrieve_customer: retrieve('customer'),
  list_reviews: list('review', '/v1/reviews'),
  retrieve_review: retrieve('review'),
  list_events: list('event', '/v1/events', ['type']),
  retrieve_event: retrieve('event'),
  list_webhook_endpoints: list('webhook_endpoint', '/v1/webhook_endpoints'),
  retrieve_webhook_endpoint: retrieve('webhook_endpoint'),
  retrieve_account: (_view, _params, context) => answered(account(context)),
};

function account({ account: { id, created, name, methods, limits }, livemode }: QueryContext) {
  const available = (on: boolean) => (on ? 'available' : 'unavailable');
  return {
    id,
    object: 'account',
    created,
    livemode,
    name,
    country: 'MA',
    default_currency: 'mad',
    payment_methods: { card: available(methods.card), cash: available(methods.cash) },
    limits: Object.fromEntries(
      buckets.map((bucket) => {
        const { perMinute, source } = limits[bucket];
        return [bucket, { per_minute: perMinute, burst: burstOf(perMinute), source }];
      }),
    ),
  };
}

/** Answers one query from the state that `view` shows. */
export function query<O extends QueryOperation>(
  view: View,
  operation: O,
  params: ParamsOf<O>,
  context: QueryContext,
  id: string,
): Outcome {
  return queries[operation](view, params, context, id);
}
