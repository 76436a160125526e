// The list of payments as people look for them: by state, method, customer, day, or by a text of
// the payment. There is no index for method and text, because each payment that is created would
// pay for its rows. So a search reads the newest payments that pass the other filters, a hundred
// for each question, and says where it stopped; whoever asks goes on from there.

import type { PaymentMethodType } from '../contract/vocabulary.ts';
import { parseAmount } from '../core/money.ts';
import { pieceSize } from '../core/piece-size.ts';
import { filtered, type ListCaller } from './list-pages.ts';
import { type PaymentState, paymentState, statusWithin } from './payment-state.ts';
import type { ChargeRecord, CheckoutSessionRecord, LastPaymentError, PaymentIntentRecord } from './record.ts';
import type { View } from './view.ts';

export interface PaymentSearch {
  readonly state: PaymentState | null;
  /** The method of the latest charge. */
  readonly method: PaymentMethodType | null;
  /** Payments of any of these customers; null for all payments. */
  readonly customers: readonly string[] | null;
  /** Unix seconds, the first included and the second not. */
  readonly fromSeconds: number | null;
  readonly toSeconds: number | null;
  /**
   * `key=value` of the metadata or a value alone, the whole reference of the session, a part of the
   * description, the amount in dirhams, or the last four digits of the latest card.
   */
  readonly text: string | null;
  /** Only payments that are older than this one. */
  readonly before: string | null;
  readonly limit: number;
}

export const everyPayment: PaymentSearch = {
  state: null,
  method: null,
  customers: null,
  fromSeconds: null,
  toSeconds: null,
  text: null,
  before: null,
  limit: 20,
};

/** What a list shows of a payment. */
export interface FoundPayment {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** Centimes. */
  readonly amount: number;
  readonly amount_received: number;
  readonly amount_refunded: number;
  readonly currency: string;
  readonly state: PaymentState;
  /** Why it failed, when its state says that it did. */
  readonly failure: Failed | null;
  readonly description: string | null;
  readonly customer: string | null;
  readonly reference: string | null;
  /** Of the latest charge; null before there is one. */
  readonly method: PaymentMethodType | null;
  readonly card: { readonly brand: string; readonly last4: string } | null;
  readonly cash_number: string | null;
  /** When the latest charge ends if it is not paid, Unix milliseconds. */
  readonly expires_at_ms: number | null;
}

export type Failed = Pick<LastPaymentError, 'code' | 'decline_code'>;

export interface FoundPayments {
  /** Newest first. */
  readonly payments: readonly FoundPayment[];
  /** The payment at which the search stopped; null when there are no older ones. */
  readonly stoppedAt: string | null;
}

/**
 * So many payments are read for one question, about a millisecond's work, because nothing else runs
 * in the shard meanwhile.
 */
export const examinedMax = pieceSize(100);

export function searchPayments(view: View, caller: ListCaller, search: PaymentSearch): FoundPayments {
  const text = search.text === null ? null : searchedText(search.text);
  const payments: FoundPayment[] = [];
  let examined = 0;
  let last: string | null = null;
  for (const intent of candidates(view, caller, search)) {
    if (examined === examinedMax || payments.length === search.limit) return { payments, stoppedAt: last };
    examined++;
    last = intent.id;
    const found = matching(view, intent, search, text);
    if (found !== null) payments.push(found);
  }
  return { payments, stoppedAt: null };
}

/** The payments that pass the filters that have an index, newest first. */
function candidates(view: View, caller: ListCaller, search: PaymentSearch): Iterable<PaymentIntentRecord> {
  const { state, customers, fromSeconds, toSeconds, before } = search;
  const params = {
    descending: true,
    ...(before !== null && { starting_after: before }),
    ...(fromSeconds !== null && { 'created[gte]': fromSeconds }),
    ...(toSeconds !== null && { 'created[lt]': toSeconds }),
  };
  const of = (customer: string | undefined) =>
    filtered(view, caller, 'payment_intent', params, {
      customer,
      status: state === null ? undefined : statusWithin(state),
    });
  return customers === null ? of(undefined) : newestFirst(customers.map(of));
}

/** Merges lists of which each is newest first. */
function* newestFirst(lists: readonly Generator<PaymentIntentRecord>[]): Generator<PaymentIntentRecord> {
  const heads = new Map<Generator<PaymentIntentRecord>, PaymentIntentRecord>();
  const advance = (list: Generator<PaymentIntentRecord>) => {
    const { done, value } = list.next();
    if (done) heads.delete(list);
    else heads.set(list, value);
  };
  for (const list of lists) advance(list);
  while (heads.size > 0) {
    const [list, newest] = [...heads].reduce((a, b) => (a[1].id > b[1].id ? a : b));
    yield newest;
    advance(list);
  }
}

/** Tells whether a payment passes all filters but those of time. */
export function searchedIn(view: View, search: PaymentSearch): (intent: PaymentIntentRecord) => boolean {
  const text = search.text === null ? null : searchedText(search.text);
  const isOfCustomer = ({ customer }: PaymentIntentRecord) =>
    search.customers === null || (customer !== null && search.customers.includes(customer));
  return (intent) => isOfCustomer(intent) && matching(view, intent, search, text) !== null;
}

/** What is looked for in each payment, read from the text once. */
interface SearchedText {
  readonly text: string;
  readonly lowerCase: string;
  /** Centimes; null when the text is no amount. */
  readonly amount: number | null;
  /** Of `key=value`; null for any other text. */
  readonly entry: readonly [key: string, value: string] | null;
}

function searchedText(text: string): SearchedText {
  const at = text.indexOf('=');
  const entry = at > 0 ? ([text.slice(0, at), text.slice(at + 1)] as const) : null;
  return { text, lowerCase: text.toLowerCase(), amount: parseAmount(text), entry };
}

/** The payment as the list shows it, if it passes the filters that have no index. */
function matching(
  view: View,
  intent: PaymentIntentRecord,
  search: PaymentSearch,
  text: SearchedText | null,
): FoundPayment | null {
  const charge = intent.latest_charge === null ? undefined : view.get('charge', intent.latest_charge);
  if (search.method !== null && charge?.method !== search.method) return null;
  const refunded = charge?.amount_refunded ?? 0;
  const state = paymentState(intent, refunded);
  if (search.state !== null && state !== search.state) return null;
  const session =
    intent.checkout_session === null ? undefined : view.get('checkout_session', intent.checkout_session);
  if (text !== null && !hasText({ intent, session, charge }, text)) return null;
  const error = state === 'failed' ? intent.last_payment_error : null;
  return {
    id: intent.id,
    created: intent.created,
    amount: intent.amount,
    amount_received: intent.amount_received,
    amount_refunded: refunded,
    currency: intent.currency,
    state,
    failure: error && { code: error.code, decline_code: error.decline_code },
    description: intent.description ?? session?.description ?? null,
    customer: intent.customer,
    reference: session?.client_reference_id ?? null,
    method: charge?.method ?? null,
    card: charge?.card ? { brand: charge.card.brand, last4: charge.card.last4 } : null,
    cash_number: charge?.cash_number ?? null,
    expires_at_ms: charge?.expires_at_ms ?? null,
  };
}

interface Searched {
  readonly intent: PaymentIntentRecord;
  readonly session: CheckoutSessionRecord | undefined;
  readonly charge: ChargeRecord | undefined;
}

function hasText({ intent, session, charge }: Searched, wanted: SearchedText): boolean {
  const { text, lowerCase, amount, entry } = wanted;
  if (text === session?.client_reference_id || text === charge?.card?.last4) return true;
  if (amount === intent.amount) return true;
  const has = (data: Readonly<Record<string, string>>) =>
    (entry !== null && Object.hasOwn(data, entry[0]) && data[entry[0]] === entry[1]) ||
    Object.values(data).includes(text);
  if (has(intent.metadata) || (session !== undefined && has(session.metadata))) return true;
  return [intent.description, session?.description].some((each) => each?.toLowerCase().includes(lowerCase));
}
