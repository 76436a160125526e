// The invariants of records: money adds up, states match each other, and everything that a record
// names exists. They hold after every command. Each is a pure function with a name, which returns
// in words what is wrong with a record, or null. `payments verify` runs them over a data folder,
// and the tests of the state machine after every step.

import { kindOfId } from '../contract/id-prefixes.ts';
import { answersPerDeliveryMax } from '../contract/limits.ts';
import { firstSuccess } from './attempts.ts';
import { holderOf, isGivenUp } from './cash-codes.ts';
import { recordsOf } from './find.ts';
import { attemptIndex, fieldIndex, scopeOf } from './indexes.ts';
import type {
  ChargeRecord,
  NetworkCallRecord,
  PaymentIntentRecord,
  RecordKind,
  RecordOf,
  RefundRecord,
  StoredRecord,
} from './record.ts';
import type { View } from './view.ts';

type Check<R extends StoredRecord> = (record: R, view: View) => string | null;

/** One invariant that does not hold. */
interface Fault {
  /** The kind of record and the name of the invariant, such as `charge.refunds`. */
  readonly invariant: string;
  readonly what: string;
}

/** By kind of record, then by name. */
export const invariants: { readonly [K in RecordKind]: Readonly<Record<string, Check<RecordOf<K>>>> } = {
  payment_intent: {
    amount_received: ({ amount, amount_received, status }) =>
      unless(
        amount_received === (status === 'succeeded' ? amount : 0),
        `is ${status} and has received ${amount_received} of ${amount}`,
      ),
    canceled_at: ({ canceled_at, status }) =>
      unless(
        (status === 'canceled') === (canceled_at !== null),
        `is ${status} and was canceled at ${canceled_at}`,
      ),
    latest_charge: (intent, view) => {
      const newest = chargesOf(intent, view).at(-1)?.id ?? null;
      return unless(
        newest === intent.latest_charge,
        `names ${intent.latest_charge} as its latest charge, which is ${newest}`,
      );
    },
    charges: (intent, view) =>
      one(intent, view, 'succeeded', intent.status === 'succeeded') ??
      one(intent, view, 'pending', intent.status === 'requires_action' || intent.status === 'processing'),
    last_payment_error: ({ id, last_payment_error: error, ...record }, view) => {
      const charge = error && related(view, record, 'charge', error.charge);
      const isRight = error === null || (charge?.status === 'failed' && charge.payment_intent === id);
      return unless(
        isRight,
        `names ${error?.charge} as the charge that failed last, and it did not fail for this intent`,
      );
    },
    network_call: (intent, view) => {
      const { network_call: id, status } = intent;
      if (id === null) return null;
      const call = related(view, intent, 'network_call', id);
      if (call?.payment_intent !== intent.id) return `waits for the network call ${id}, which is not there`;
      const expected = call.action === 'authorize_card' ? 'processing' : 'requires_payment_method';
      return unless(
        !call.accepted && status === expected,
        `is ${status} and waits for ${id} (${call.action})`,
      );
    },
    checkout_session: (intent, view) => {
      const id = intent.checkout_session;
      const session = id === null ? undefined : related(view, intent, 'checkout_session', id);
      return unless(
        id === null || session?.payment_intent === intent.id,
        `belongs to ${id}, which does not name it`,
      );
    },
    customer: (intent, view) => exists(view, intent, 'customer', intent.customer),
  },
  charge: {
    payment_intent: (charge, view) => {
      const intent = related(view, charge, 'payment_intent', charge.payment_intent);
      if (intent === undefined) return `belongs to ${charge.payment_intent}, which is not there`;
      const isEqual = intent.amount === charge.amount && intent.currency === charge.currency;
      return unless(isEqual, `is over ${charge.amount} and its payment intent over ${intent.amount}`);
    },
    refunds: (charge, view) => {
      const { amount_refunded, amount_refund_pending } = charge;
      const refunded = refundsOf(charge, view, 'succeeded');
      const pending = refundsOf(charge, view, 'pending');
      return (
        unless(
          amount_refunded === refunded,
          `says that ${amount_refunded} were refunded, and its refunds say ${refunded}`,
        ) ??
        unless(
          amount_refund_pending === pending,
          `holds ${amount_refund_pending} for refunds, and its refunds say ${pending}`,
        )
      );
    },
    refundable: ({ status, amount, amount_refunded, amount_refund_pending }) => {
      const received = status === 'succeeded' ? amount : 0;
      const returned = amount_refunded + amount_refund_pending;
      const isRight = amount_refunded >= 0 && amount_refund_pending >= 0 && returned <= received;
      return unless(isRight, `has received ${received} and returns ${returned}`);
    },
    failure: ({ status, failure_code }) =>
      unless(
        (status === 'failed') === (failure_code !== null),
        `is ${status} with the failure ${failure_code}`,
      ),
    settled: ({ status, settled_at_ms }) => onceSettled(status, settled_at_ms),
    challenge: (charge, view) => {
      if (charge.challenge_token === null) return null;
      const status = related(view, charge, 'payment_intent', charge.payment_intent)?.status;
      const isRight = charge.status === 'pending' && status === 'requires_action';
      return unless(
        isRight,
        `is ${charge.status} and waits for a challenge while its payment intent is ${status}`,
      );
    },
    cash_code: (charge, view) => {
      const { id, method, cash_number } = charge;
      if (method === 'card') return unless(cash_number === null, 'is paid by card and has a cash code');
      if (cash_number === null) return 'is paid in cash and has no code';
      const holder = holderOf(view, cash_number)?.id;
      return unless(holder === id || isGivenUp(charge), `has a cash code that is held by ${holder}`);
    },
  },
  refund: {
    charge: (refund, view) => {
      const charge = related(view, refund, 'charge', refund.charge);
      const isRight = charge?.payment_intent === refund.payment_intent && charge.currency === refund.currency;
      return unless(
        isRight,
        `returns money of ${refund.charge}, which is not there or belongs to another payment intent`,
      );
    },
    amount: ({ amount }) => unless(amount > 0, `returns ${amount}`),
    failure: ({ status, failure_reason }) =>
      unless(
        (status === 'failed') === (failure_reason !== null),
        `is ${status} with the failure ${failure_reason}`,
      ),
    settled: ({ status, settled_at_ms }) => onceSettled(status, settled_at_ms),
  },
  checkout_session: {
    payment_intent: (session, view) => {
      const intent = related(view, session, 'payment_intent', session.payment_intent);
      const isRight = intent?.checkout_session === session.id && intent.amount === session.amount;
      return unless(isRight, `pays ${session.payment_intent}, which is not there or does not name it`);
    },
    status: (session, view) => {
      const status = related(view, session, 'payment_intent', session.payment_intent)?.status;
      const expected = status === 'succeeded' ? 'complete' : status === 'canceled' ? 'expired' : 'open';
      return unless(session.status === expected, `is ${session.status} and its payment intent ${status}`);
    },
    customer: (session, view) => exists(view, session, 'customer', session.customer),
  },
  payment_link: {
    session: (link, view) => exists(view, link, 'checkout_session', link.session),
    end: ({ ends_at_ms, deadline_ms }) =>
      unless(
        (ends_at_ms === null) === (deadline_ms === null),
        `ends at ${ends_at_ms}, in service time at ${deadline_ms}`,
      ),
  },
  customer: {
    deleted: ({ deleted, email, name, phone, description, metadata }) => {
      const isEmpty = [email, name, phone, description].every((value) => value === null);
      return unless(
        !deleted || (isEmpty && Object.keys(metadata).length === 0),
        'is deleted and has personal data',
      );
    },
  },
  review: {
    charge: (review, view) => {
      const charge = related(view, review, 'charge', review.charge);
      const isRight =
        charge?.payment_intent === review.payment_intent && charge.amount === review.amount_expected;
      return unless(isRight, `is about ${review.charge}, which is not there or another payment's`);
    },
    closed: ({ open, closed_reason }) =>
      unless(open === (closed_reason === null), `is ${open ? 'open' : 'closed'} as ${closed_reason}`),
  },
  day_total: {
    day: ({ id, org, livemode, day }, view) => {
      const index = fieldIndex('day_total', scopeOf(org, livemode), 'day', day);
      const found = [...view.scan(index, { descending: false })].map((total) => total.id);
      return unless(
        found.length === 1 && found[0] === id,
        `is the total of ${day}, which has ${found.join(', ')}`,
      );
    },
    received: (total) => {
      const isRight = (['card', 'cash'] as const).every(
        (method) => total[`${method}_received`] > 0 === total[`${method}_succeeded`] > 0,
      );
      return unless(isRight, 'has money without a charge that succeeded, or such a charge without money');
    },
    refunded: ({ refunded, refunds }) =>
      unless(refunded > 0 === refunds > 0, `returned ${refunded} in ${refunds} refunds`),
  },
  event: {
    object: (event) =>
      unless(
        subjectOf(event) !== null,
        'carries an object that can’t be read or is not that of its organization and mode',
      ),
  },
  webhook_endpoint: {
    deleted: ({ status, draining, secrets }) => {
      if (status === 'deleted') return unless(secrets.length === 0, 'is deleted and has signing secrets');
      return unless(
        secrets.length > 0 && !draining,
        `is ${status} and has ${secrets.length} signing secrets`,
      );
    },
  },
  delivery: {
    endpoint: (delivery, view) => exists(view, delivery, 'webhook_endpoint', delivery.endpoint),
    event: (delivery, view) => {
      const isWaiting = delivery.status === 'pending';
      return isWaiting ? exists(view, delivery, 'event', delivery.event) : null;
    },
    status: ({ status, due_at_ms, ended_at_ms }) => {
      const isWaiting = status === 'pending';
      const isRight = isWaiting === (due_at_ms !== null) && isWaiting === (ended_at_ms === null);
      return unless(isRight, `is ${status}, due at ${due_at_ms} and ended at ${ended_at_ms}`);
    },
    // The oldest of its attempts may be gone.
    attempts: (delivery, view) => {
      const { id, attempt_count, tries } = delivery;
      const first = firstSuccess(delivery) === null ? 0 : 1;
      const found = first + count(view.scan(attemptIndex(id), { descending: false }));
      return unless(
        found <= attempt_count && tries <= attempt_count,
        `counts ${attempt_count} attempts, ${tries} since it was resent, and has ${found}`,
      );
    },
    answered: ({ answered }) =>
      unless(answered.length <= answersPerDeliveryMax, `keeps the answers of ${answered.length} attempts`),
  },
  attempt: {
    delivery: (attempt, view) => exists(view, attempt, 'delivery', attempt.delivery),
    answer: (attempt, view) => {
      const { id, serial, answer, failure } = attempt;
      if (serial === null || !answer) return null;
      const answered = related(view, attempt, 'delivery', attempt.delivery)?.answered ?? [];
      return unless(failure !== null && answered.includes(id), 'keeps an answer that is not one to keep');
    },
  },
  network_call: {
    payment_intent: (call, view) => exists(view, call, 'payment_intent', call.payment_intent),
    about: (call, view) => {
      const needsCharge = call.action !== 'open_card_page' && call.action !== 'issue_cash_code';
      const needsRefund = call.action === 'refund_charge';
      if (needsCharge !== (call.charge !== null) || needsRefund !== (call.refund !== null))
        return `is ${call.action} for ${call.charge} and ${call.refund}`;
      return exists(view, call, 'charge', call.charge) ?? exists(view, call, 'refund', call.refund);
    },
    waited_for: (call, view) => {
      if (call.accepted || !waitedFor.has(call.action)) return null;
      const waiting = related(view, call, 'payment_intent', call.payment_intent)?.network_call;
      return unless(waiting === call.id, `is under way, and its payment intent waits for ${waiting}`);
    },
  },
};

/** The actions that the customer or the merchant waits for. */
const waitedFor: ReadonlySet<NetworkCallRecord['action']> = new Set([
  'open_card_page',
  'issue_cash_code',
  'authorize_card',
]);

/** What is wrong with a record, in the state that `view` shows. */
export function faultsOf(record: StoredRecord, view: View): Fault[] {
  return faultsOfKind(record.kind, record, view);
}

function faultsOfKind<K extends RecordKind>(kind: K, record: RecordOf<K>, view: View): Fault[] {
  const checks: Readonly<Record<string, Check<RecordOf<K>>>> = invariants[kind];
  const faults: Fault[] = [];
  if (kindOfId(record.id) !== record.kind)
    faults.push({ invariant: `${record.kind}.id`, what: `is a ${record.kind}, which its id denies` });
  for (const [name, check] of Object.entries(checks)) {
    const what = check(record, view);
    if (what !== null) faults.push({ invariant: `${record.kind}.${name}`, what });
  }
  return faults;
}

/**
 * The id of the object that an event is about; null when the event does not carry one of its own
 * organization's mode.
 */
export function subjectOf({ type, livemode, object_json }: RecordOf<'event'>): string | null {
  let object: { id?: unknown; object?: unknown; livemode?: unknown } | null;
  try {
    object = JSON.parse(object_json);
  } catch {
    return null;
  }
  const { id, object: name, livemode: mode } = object ?? {};
  const isRight = typeof id === 'string' && typeof name === 'string' && mode === livemode;
  return isRight && type.startsWith(`${name}.`) ? id : null;
}

function unless(holds: boolean, what: string): string | null {
  return holds ? null : what;
}

function onceSettled(status: ChargeRecord['status'], settledAtMs: number | null): string | null {
  return unless(
    (status === 'pending') === (settledAtMs === null),
    `is ${status} and was settled at ${settledAtMs}`,
  );
}

type Scoped = Pick<StoredRecord, 'org' | 'livemode'>;

/** A record of the same organization and mode. */
function related<K extends RecordKind>(
  view: View,
  { org, livemode }: Scoped,
  kind: K,
  id: string,
): RecordOf<K> | undefined {
  const record = view.get(kind, id);
  return record?.org === org && record.livemode === livemode ? record : undefined;
}

function exists(view: View, record: Scoped, kind: RecordKind, id: string | null): string | null {
  return unless(
    id === null || related(view, record, kind, id) !== undefined,
    `names the ${kind} ${id}, which is not there`,
  );
}

/** The charges of an intent, oldest first. */
function chargesOf({ id, org, livemode }: PaymentIntentRecord, view: View): ChargeRecord[] {
  const index = fieldIndex('charge', scopeOf(org, livemode), 'payment_intent', id);
  return [...recordsOf(view, 'charge', index, { descending: false })];
}

/** An intent has one charge in `status`, its latest, or none. */
function one(
  intent: PaymentIntentRecord,
  view: View,
  status: ChargeRecord['status'],
  isWanted: boolean,
): string | null {
  const found = chargesOf(intent, view).filter((charge) => charge.status === status);
  const isRight = isWanted ? found.length === 1 && found[0]?.id === intent.latest_charge : found.length === 0;
  const named = found.map(({ id }) => id).join(', ') || 'none';
  return unless(isRight, `is ${intent.status} and has these charges that are ${status}: ${named}`);
}

/** The sum of the charge's refunds in a status, centimes. */
function refundsOf(charge: ChargeRecord, view: View, status: RefundRecord['status']): number {
  const index = fieldIndex(
    'refund',
    scopeOf(charge.org, charge.livemode),
    'payment_intent',
    charge.payment_intent,
  );
  let sum = 0;
  for (const refund of recordsOf(view, 'refund', index, { descending: false }))
    if (refund.charge === charge.id && refund.status === status) sum += refund.amount;
  return sum;
}

function count(items: Iterable<unknown>): number {
  let number = 0;
  for (const _ of items) number++;
  return number;
}
