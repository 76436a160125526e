// What pages of customers, members and operators are told of payments.

import type { EventType } from '../../../src/contract/vocabulary.ts';
import { timeOfId } from '../../../src/core/ids.ts';
import { parseAmount } from '../../../src/core/money.ts';
import { moroccoDayAt } from '../../../src/core/morocco-day.ts';
import { examinedMax, type PaymentSearch } from '../../../src/domain/payment-search.ts';
import type { PaymentState } from '../../../src/domain/payment-state.ts';
import type { RecordOf, StoredRecord } from '../../../src/domain/record.ts';
import type { SettledFilter } from '../../../src/domain/settled.ts';
import { isOver } from './charges.ts';
import { methodsLeft, shown } from './payments.ts';
import { fittingOf, show } from './queries.ts';
import { showCharge, showRefund, showReview } from './resources.ts';
import type { Turn } from './turn.ts';

type Intent = RecordOf<'payment_intent'>;
type Charge = RecordOf<'charge'>;

/** What a customer's page shows, besides what it says of the merchant. */
export function paymentView(turn: Turn, id: string): object | null {
  const of = turn.get('checkout_session', id) ?? turn.get('charge', id);
  if (of === undefined) return null;
  const intent = turn.the('payment_intent', of.payment_intent);
  const session = turn.get('checkout_session', intent.checkout_session);
  const charge = turn.get('charge', intent.latest_charge);
  const { status, cancellation_reason, last_payment_error, payment_method_types, return_url } = intent;
  return {
    ...{ org: intent.org, livemode: intent.livemode, amount: intent.amount, currency: intent.currency },
    description: session?.description ?? intent.description,
    intent: {
      ...{ id: intent.id, status, cancellation_reason, last_payment_error, payment_method_types, return_url },
      busy: intent.network_call !== null,
      methods_left: methodsLeft(turn, intent),
    },
    session: session === undefined ? null : sessionView(turn, session),
    charge: charge === undefined ? null : chargeView(turn, charge),
  };
}

function sessionView(turn: Turn, session: RecordOf<'checkout_session'>): object {
  const { id, status, success_url, cancel_url, locale } = session;
  return { id, status, success_url, cancel_url, locale, over: isOver(turn, session) };
}

function chargeView(turn: Turn, charge: Charge): object {
  const { id, status, method, cash_number, expires_at_ms, settled_at_ms, card, decline_code } = charge;
  const of = { id, status, method, cash_number, expires_at_ms, settled_at_ms, card, decline_code };
  return { ...of, over: isOver(turn, charge), challenge: charge.challenge_token !== null };
}

export function linkView(turn: Turn, link: RecordOf<'payment_link'>): object {
  const { id, org, livemode, created, amount, currency, payment_method_types } = link;
  const { description, client_reference_id, single_use, ends_at_ms, deadline_ms } = link;
  const isUsed = single_use && turn.get('checkout_session', link.session)?.status === 'complete';
  const hasEnded = deadline_ms !== null && turn.asked.serviceMs >= deadline_ms;
  const state = isUsed ? 'used' : hasEnded ? 'ended' : link.paused ? 'paused' : 'active';
  return {
    ...{ id, org, livemode, created, amount, currency, payment_method_types },
    ...{ description, client_reference_id, single_use, ends_at_ms, state },
    url: `${turn.asked.settings.baseUrl}/link/${id}`,
  };
}

export function links(turn: Turn): object[] {
  const newestFirst = turn.own('payment_link').sort((a, b) => (a.id > b.id ? -1 : 1));
  return newestFirst.map((link) => linkView(turn, link));
}

export function stateOf(
  { status, amount_received, last_payment_error: error }: Intent,
  refunded: number,
): PaymentState {
  if (status === 'requires_payment_method' && error !== null && error.code !== 'payment_attempt_canceled')
    return 'failed';
  if (status !== 'succeeded' || refunded === 0) return status;
  return refunded >= amount_received ? 'refunded' : 'partly_refunded';
}

const within: Readonly<Record<string, string>> = {
  failed: 'requires_payment_method',
  partly_refunded: 'succeeded',
  refunded: 'succeeded',
};

export function search(turn: Turn, asked: PaymentSearch): object {
  const { state, customers, fromSeconds, toSeconds, before, limit } = asked;
  const range = { 'created[gte]': fromSeconds ?? undefined, 'created[lt]': toSeconds ?? undefined };
  const candidates = (fittingOf(turn, 'payment_intent', [], range) as Intent[])
    .filter((each) => state === null || each.status === (within[state] ?? state))
    .filter((each) => customers === null || customers.includes(each.customer ?? ''))
    .filter((each) => before === null || each.id < before);
  const payments: object[] = [];
  for (const [examined, intent] of candidates.entries()) {
    if (examined === examinedMax || payments.length === limit)
      return { payments, stoppedAt: candidates[examined - 1]?.id ?? null };
    if (fitsSearch(turn, intent, asked)) payments.push(foundPayment(turn, intent));
  }
  return { payments, stoppedAt: null };
}

/** Whether it is what is looked for, whenever it was made. */
export function fitsSearch(
  turn: Turn,
  intent: Intent,
  { state, method, customers, text }: PaymentSearch,
): boolean {
  const found = foundPayment(turn, intent);
  const fits = [
    state === null || found.state === state,
    method === null || found.method === method,
    customers === null || customers.includes(found.customer ?? ''),
    text === null || hasText(turn, intent, text),
  ];
  return fits.every((each) => each);
}

function foundPayment(turn: Turn, intent: Intent) {
  const charge = turn.get('charge', intent.latest_charge);
  const session = turn.get('checkout_session', intent.checkout_session);
  const { id, created, amount, amount_received, currency, customer, last_payment_error: error } = intent;
  const amount_refunded = charge === undefined ? 0 : charge.amount_refunded;
  const state = stateOf(intent, amount_refunded);
  return {
    ...{ id, created, amount, amount_received, amount_refunded, currency, state },
    failure: state === 'failed' ? { code: error?.code, decline_code: error?.decline_code } : null,
    description: intent.description ?? session?.description ?? null,
    customer,
    reference: session?.client_reference_id ?? null,
    method: charge?.method ?? null,
    card: charge?.card ? { brand: charge.card.brand, last4: charge.card.last4 } : null,
    cash_number: charge?.cash_number ?? null,
    expires_at_ms: charge?.expires_at_ms ?? null,
  };
}

function hasText(turn: Turn, intent: Intent, text: string): boolean {
  const charge = turn.get('charge', intent.latest_charge);
  const session = turn.get('checkout_session', intent.checkout_session);
  const metadata = [intent, session].flatMap((each) => Object.entries(each?.metadata ?? {}));
  const lower = text.toLowerCase();
  return (
    metadata.some(([key, value]) => value === text || `${key}=${value}` === text) ||
    session?.client_reference_id === text ||
    [intent, session].some((each) => each?.description?.toLowerCase().includes(lower)) ||
    parseAmount(text) === intent.amount ||
    charge?.card?.last4 === text
  );
}

/** Oldest first. */
function ofPayment<R extends { readonly id: string; readonly payment_intent: string }>(
  records: readonly R[],
  intent: string,
): R[] {
  return records.filter((each) => each.payment_intent === intent).sort((a, b) => (a.id < b.id ? -1 : 1));
}

const refundsTold = 20;

export function story(turn: Turn, reference: string, refundsBefore = '~'): object | null {
  const isCode = /^\d{12}$/.test(reference);
  const code = turn.own('charge').findLast(({ cash_number }) => isCode && cash_number === reference);
  const kinds = ['charge', 'checkout_session', 'refund', 'review'] as const;
  const [part] = [code, ...kinds.map((kind) => turn.get(kind, reference))].filter(
    (each) => each !== undefined,
  );
  const intent = turn.get('payment_intent', part?.payment_intent ?? reference);
  if (intent === undefined || !turn.isOwn(intent)) return null;
  const charges = ofPayment(turn.own('charge'), intent.id);
  const before = ofPayment(turn.own('refund'), intent.id).filter(({ id }) => id < refundsBefore);
  const refunds = before.slice(-refundsTold);
  const reviews = ofPayment(turn.own('review'), intent.id);
  const session = turn.get('checkout_session', intent.checkout_session);
  const customer = turn.get('customer', intent.customer);
  const paid = turn.get('charge', intent.latest_charge);
  const isPaid = intent.status === 'succeeded' && paid?.status === 'succeeded' && paid.method === 'card';
  const isOpen = intent.status === 'requires_payment_method' || intent.status === 'requires_action';
  return {
    intent: shown(turn, intent),
    state: stateOf(
      intent,
      charges.reduce((sum, { amount_refunded }) => sum + amount_refunded, 0),
    ),
    session: session === undefined ? null : show(turn, session),
    customer: customer === undefined ? null : { id: customer.id, name: customer.name, email: customer.email },
    charges: charges.map(showCharge),
    refunds: refunds.map(showRefund),
    olderRefunds: before.length > refunds.length ? refunds[0]?.id : null,
    reviews: reviews.map(showReview),
    refundable: isPaid ? paid.amount - paid.amount_refunded - paid.amount_refund_pending : 0,
    cancelable: isOpen && intent.network_call === null,
    steps: stepsOf(turn, intent, charges, refunds, reviews),
  };
}

type Subject = Intent | Charge | RecordOf<'refund'> | RecordOf<'review'>;

/** The steps, of which the records say when each was; where only an event says so, it is there as long as the event. */
function stepsOf(
  turn: Turn,
  intent: Intent,
  charges: readonly Charge[],
  refunds: readonly RecordOf<'refund'>[],
  reviews: readonly RecordOf<'review'>[],
): object[] {
  const steps: { at_ms: number }[] = [];
  const add = (type: EventType, subject: Subject, fromMs: number, untilMs: number | null = null) => {
    const event = eventOf(turn, type, subject, fromMs, untilMs ?? fromMs);
    if (untilMs !== null && event === undefined) return;
    const isFailure = type === 'charge.failed' && subject.kind === 'charge';
    steps.push({
      ...{ type, at_ms: untilMs !== null && event !== undefined ? timeOfId(event.id) : fromMs },
      object: subject.id,
      amount: subject.kind === 'review' ? subject.amount_received : subject.amount,
      currency: subject.kind === 'review' ? subject.currency_received : subject.currency,
      failure: isFailure ? { code: subject.failure_code, decline_code: subject.decline_code } : null,
      ...{ event: event?.id ?? null, request: event?.request_id ?? null },
      ...{ by: event?.by ?? null, by_name: event?.by_name ?? null },
    } as never);
  };
  add('payment_intent.created', intent, timeOfId(intent.id));
  for (const charge of charges) {
    const [openedMs, settledMs] = [timeOfId(charge.id), charge.settled_at_ms];
    add('payment_intent.requires_action', intent, openedMs);
    add('payment_intent.processing', intent, openedMs, settledMs ?? Infinity);
    const isPaid = charge.status === 'succeeded';
    if (settledMs !== null) add(isPaid ? 'charge.succeeded' : 'charge.failed', charge, settledMs);
  }
  for (const refund of refunds) {
    add('refund.created', refund, timeOfId(refund.id));
    const isMade = refund.status === 'succeeded';
    if (refund.settled_at_ms !== null)
      add(isMade ? 'refund.updated' : 'refund.failed', refund, refund.settled_at_ms);
  }
  for (const review of reviews) {
    add('review.opened', review, timeOfId(review.id));
    if (!review.open) add('review.closed', review, timeOfId(review.id), Infinity);
  }
  const canceledMs = (intent.canceled_at ?? 0) * 1000;
  if (canceledMs > 0) add('payment_intent.canceled', intent, canceledMs, canceledMs + 999);
  return steps.sort((a, b) => a.at_ms - b.at_ms);
}

/** No id that was made before `ms` has this time. */
function endOfIds(ms: number, { idLeads }: Turn): number {
  const ends = idLeads.episodes.map(({ leadMs, untilMs }) => Math.min(ms + leadMs, untilMs + 1));
  return Math.max(ms + idLeads.leadMs, ...ends);
}

/** The first event of a type about an object whose time, which its id has, is within these. */
function eventOf(
  turn: Turn,
  type: EventType,
  subject: StoredRecord,
  fromMs: number,
  untilMs: number,
): RecordOf<'event'> | undefined {
  return turn
    .own('event')
    .filter((event) => event.type === type && event.object_json.includes(`"id":"${subject.id}"`))
    .filter(({ id }) => timeOfId(id) >= fromMs && timeOfId(id) < endOfIds(untilMs + 1, turn))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .find(({ object_json }) => (JSON.parse(object_json) as { id: string }).id === subject.id);
}

/** What succeeded in a period, on one page: the simulator makes no more. */
export function settled(turn: Turn, { kind, methods, fromMs, toMs }: SettledFilter): object {
  const found = turn
    .own(kind)
    .filter(
      ({ status, settled_at_ms: ms }) => status === 'succeeded' && ms !== null && ms >= fromMs && ms < toMs,
    )
    .map((record) => ({
      record,
      charge: record.kind === 'charge' ? record : turn.the('charge', record.charge),
    }))
    .filter(({ charge }) => methods.includes(charge.method))
    .sort((a, b) => (a.record.id > b.record.id ? -1 : 1))
    .map(({ record: { id, payment_intent, amount, settled_at_ms }, charge }) => ({
      ...{ kind, id, payment_intent, charge: charge.id, amount },
      settled: moroccoDayAt(settled_at_ms ?? 0),
    }));
  return { found, next: null };
}

/** The charges that a statement names by their ids or cash codes. */
export function named(turn: Turn, names: readonly string[]): (object | null)[] {
  const dayOf = ({ settled_at_ms: ms }: Charge | RecordOf<'refund'>) =>
    ms === null ? null : moroccoDayAt(ms);
  return names.map((name) => {
    const charge = turn.own('charge').findLast((each) => each.id === name || each.cash_number === name);
    if (charge === undefined) return null;
    const { id, payment_intent, amount, status, receipts } = charge;
    const refunds = ofPayment(turn.own('refund'), payment_intent)
      .filter((each) => each.charge === id)
      .map((each) => ({ id: each.id, amount: each.amount, status: each.status, settled: dayOf(each) }));
    return { id, payment_intent, amount, status, settled: dayOf(charge), receipts, refunds };
  });
}
