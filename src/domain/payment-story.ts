// All that is known of one payment, for the people of its organization: its objects as the API
// shows them, and its steps in the order of time. The records themselves say when each step was.
// The event about it adds who or what caused it; once retention has removed the event, the step
// stays.

import { idPrefixes } from '../contract/id-prefixes.ts';
import type {
  ChargeResource,
  CheckoutSessionResource,
  PaymentIntentResource,
  RefundResource,
  ReviewResource,
} from '../contract/routes/resources.ts';
import type { EventType } from '../contract/vocabulary.ts';
import { idFloor, idTimeAfter, timeOfId } from '../core/ids.ts';
import { holderOf } from './cash-codes.ts';
import type { Cause } from './cause.ts';
import { type Caller, recordsOf } from './find.ts';
import { fieldIndex, kindIndex, scopeOf } from './indexes.ts';
import { cancelableStatuses } from './payment-intents.ts';
import type { Failed } from './payment-search.ts';
import { type PaymentState, paymentState } from './payment-state.ts';
import * as present from './present.ts';
import { presentIntent, type QueryContext } from './query.ts';
import type { ChargeRecord, EventRecord, PaymentIntentRecord, RefundRecord, ReviewRecord } from './record.ts';
import { paidCharge, refundable } from './refunds.ts';
import type { View } from './view.ts';

/** One thing that happened to a payment. */
export interface Step {
  readonly type: EventType;
  /** Unix milliseconds. */
  readonly at_ms: number;
  /** The object that changed. */
  readonly object: string;
  /** Hundredths of the currency, of a charge, a refund, or the money of a review. */
  readonly amount: number;
  readonly currency: string;
  /** Why the attempt failed. */
  readonly failure: Failed | null;
  readonly event: string | null;
  /** The API request that caused it; null when it was something else, or is not known any more. */
  readonly request: string | null;
  /** Who or what caused it; null when that is not known any more. */
  readonly by: Cause['by'] | null;
  /** The id of the member, or the name of the operator, who asked for it. */
  readonly by_name: string | null;
}

export interface PaymentStory {
  readonly intent: PaymentIntentResource;
  readonly state: PaymentState;
  readonly session: CheckoutSessionResource | null;
  readonly customer: {
    readonly id: string;
    readonly name: string | null;
    readonly email: string | null;
  } | null;
  /** Oldest first, like the others. */
  readonly charges: readonly ChargeResource[];
  readonly refunds: readonly RefundResource[];
  /** There are older refunds, which come before this one; null when there are none. */
  readonly olderRefunds: string | null;
  readonly reviews: readonly ReviewResource[];
  /** The centimes that can be paid back now. */
  readonly refundable: number;
  readonly cancelable: boolean;
  readonly steps: readonly Step[];
}

/**
 * A charge can be paid back in many small refunds: the newest are told, or those before one of
 * them.
 */
const refundsToldMax = 20;

/**
 * The story of the payment with this id, or of the payment that this charge, session, refund,
 * review or cash code is of. `refundsBefore`: tells the refunds that come before this one.
 */
export function storyOf(
  view: View,
  context: QueryContext,
  reference: string,
  refundsBefore?: string,
): PaymentStory | null {
  const intent = intentOf(view, context, reference);
  if (intent === null) return null;
  const scope = scopeOf(intent.org, intent.livemode);
  const listOf = (kind: 'charge' | 'refund') => fieldIndex(kind, scope, 'payment_intent', intent.id);
  const charges = [...recordsOf(view, 'charge', listOf('charge'), { descending: false })];
  const { refunds, olderRefunds } = refundsOf(view, listOf('refund'), refundsBefore);
  const reviews = reviewsOf(view, intent);
  const session = intent.checkout_session && view.get('checkout_session', intent.checkout_session);
  const customer = intent.customer && view.get('customer', intent.customer);
  const paid = paidCharge(view, context, { payment_intent: intent.id });
  const refunded = charges.reduce((sum, charge) => sum + charge.amount_refunded, 0);
  return {
    intent: presentIntent(intent, view, context),
    state: paymentState(intent, refunded),
    session: session ? present.presentCheckoutSession(session, context.settings.baseUrl) : null,
    customer: customer ? { id: customer.id, name: customer.name, email: customer.email } : null,
    charges: charges.map(present.presentCharge),
    refunds: refunds.map(present.presentRefund),
    olderRefunds,
    reviews: reviews.map(present.presentReview),
    refundable: 'record' in paid ? refundable(paid.record) : 0,
    cancelable: intent.network_call === null && cancelableStatuses.includes(intent.status),
    steps: stepsOf(view, context, { intent, charges, refunds, reviews }),
  };
}

function refundsOf(view: View, index: string, before: string | undefined) {
  const refunds: RefundRecord[] = [];
  for (const refund of recordsOf(view, 'refund', index, { before, descending: true })) {
    if (refunds.length === refundsToldMax) return { refunds, olderRefunds: refunds[0]?.id ?? null };
    refunds.unshift(refund);
  }
  return { refunds, olderRefunds: null };
}

function intentOf(view: View, { org, livemode }: Caller, reference: string): PaymentIntentRecord | null {
  const holder = /^\d{12}$/.test(reference)
    ? holderOf(view, reference)
    : (view.get('charge', reference) ??
      view.get('checkout_session', reference) ??
      view.get('refund', reference) ??
      view.get('review', reference));
  const id = holder && 'payment_intent' in holder ? holder.payment_intent : reference;
  const intent = view.get('payment_intent', id);
  return intent?.org === org && intent.livemode === livemode ? intent : null;
}

/** Reviews are rare, and their list is looked through from the payment's time on. */
const reviewsReadMax = 500;

function reviewsOf(view: View, { id, org, livemode }: PaymentIntentRecord): ReviewRecord[] {
  const after = idFloor(idPrefixes.review, timeOfId(id));
  const found: ReviewRecord[] = [];
  let read = 0;
  for (const review of view.scan(kindIndex('review', scopeOf(org, livemode)), { after, descending: false })) {
    if (read++ === reviewsReadMax) break;
    if (review.kind === 'review' && review.payment_intent === id) found.push(review);
  }
  return found;
}

interface Records {
  readonly intent: PaymentIntentRecord;
  readonly charges: readonly ChargeRecord[];
  readonly refunds: readonly RefundRecord[];
  readonly reviews: readonly ReviewRecord[];
}

type Subject = PaymentIntentRecord | ChargeRecord | RefundRecord | ReviewRecord;

/** What happened to a record, and when. */
interface Moment {
  readonly type: EventType;
  readonly subject: Subject;
  readonly fromMs: number;
  /**
   * Null when it happened at `fromMs`; otherwise only its event tells whether and when it happened
   * since, until this time.
   */
  readonly untilMs: number | null;
}

function stepsOf(view: View, context: QueryContext, records: Records): Step[] {
  return momentsOf(records)
    .flatMap((moment): Step[] => {
      const event = eventOf(view, context, moment);
      const { type, subject, fromMs, untilMs } = moment;
      const atMs = untilMs === null ? fromMs : event && timeOfId(event.id);
      if (atMs === null) return [];
      return [
        {
          type,
          at_ms: atMs,
          object: subject.id,
          ...moneyOf(subject),
          failure: type === 'charge.failed' ? failureOf(subject) : null,
          event: event?.id ?? null,
          request: event?.request_id ?? null,
          by: event?.by ?? null,
          by_name: event?.by_name ?? null,
        },
      ];
    })
    .sort((a, b) => a.at_ms - b.at_ms);
}

function moneyOf(subject: Subject): Pick<Step, 'amount' | 'currency'> {
  if (subject.kind === 'review')
    return { amount: subject.amount_received, currency: subject.currency_received };
  return { amount: subject.amount, currency: subject.currency };
}

function failureOf(subject: Subject): Failed | null {
  if (subject.kind !== 'charge' || subject.failure_code === null) return null;
  return { code: subject.failure_code, decline_code: subject.decline_code };
}

function momentsOf({ intent, charges, refunds, reviews }: Records): Moment[] {
  const moments: Moment[] = [];
  const between = (type: EventType, subject: Subject, fromMs: number, untilMs: number | null) =>
    moments.push({ type, subject, fromMs, untilMs });
  const at = (type: EventType, subject: Subject, ms: number) => between(type, subject, ms, null);
  at('payment_intent.created', intent, timeOfId(intent.id));
  for (const charge of charges) {
    const openedMs = timeOfId(charge.id);
    const { settled_at_ms: settledMs, status } = charge;
    at('payment_intent.requires_action', intent, openedMs);
    between('payment_intent.processing', intent, openedMs, settledMs ?? Infinity);
    if (settledMs !== null)
      at(status === 'succeeded' ? 'charge.succeeded' : 'charge.failed', charge, settledMs);
  }
  for (const refund of refunds) {
    at('refund.created', refund, timeOfId(refund.id));
    const { settled_at_ms: settledMs, status } = refund;
    if (settledMs !== null)
      at(status === 'succeeded' ? 'refund.updated' : 'refund.failed', refund, settledMs);
  }
  for (const review of reviews) {
    at('review.opened', review, timeOfId(review.id));
    if (!review.open) between('review.closed', review, timeOfId(review.id), Infinity);
  }
  if (intent.canceled_at !== null) {
    const canceledMs = intent.canceled_at * 1000;
    between('payment_intent.canceled', intent, canceledMs, canceledMs + 999);
  }
  return moments;
}

/** So many events of its type are looked through for one. */
const eventsReadMax = 200;

/**
 * The event about a moment. Its id has the time of the change, or a little more when the clock was
 * set back.
 */
function eventOf(
  view: View,
  { idLeads }: QueryContext,
  { type, subject, fromMs, untilMs }: Moment,
): EventRecord | null {
  const index = fieldIndex('event', scopeOf(subject.org, subject.livemode), 'type', type);
  const range = {
    after: idFloor(idPrefixes.event, fromMs),
    before: idFloor(idPrefixes.event, idTimeAfter((untilMs ?? fromMs) + 1, idLeads)),
    descending: false,
  };
  let read = 0;
  for (const event of recordsOf(view, 'event', index, range)) {
    if (read++ === eventsReadMax) break;
    // Every resource begins with its id.
    if (event.object_json.startsWith(`{"id":"${subject.id}"`)) return event;
  }
  return null;
}
