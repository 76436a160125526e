// What is true of the records after every command, whatever the commands were.

import assert from 'node:assert/strict';
import type {
  ChargeRecord,
  PaymentIntentRecord,
  RecordKind,
  RecordOf,
  StoredRecord,
} from '../../src/domain/record.ts';

/** Everything there is, by id. */
export type Records = ReadonlyMap<string, StoredRecord>;

export function ofKind<K extends RecordKind>(records: Records, kind: K): RecordOf<K>[] {
  return [...records.values()].filter((record): record is RecordOf<K> => record.kind === kind);
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/** Fails when the records contradict each other, or `arrived` centimes are not all accounted for. */
export function assertInvariants(records: Records, arrived: number): void {
  const intents = ofKind(records, 'payment_intent');
  const credited = sum(intents.map(({ amount_received }) => amount_received));
  const underReview = sum(ofKind(records, 'review').map(({ amount_received }) => amount_received));
  assert.equal(credited + underReview, arrived, 'money that arrived is credited or under review');
  for (const intent of intents) assertIntent(records, intent);
  for (const charge of ofKind(records, 'charge')) assertCharge(records, charge);
  for (const session of ofKind(records, 'checkout_session')) {
    const { status } = records.get(session.payment_intent) as PaymentIntentRecord;
    const ended = { succeeded: 'complete', canceled: 'expired' } as Record<string, string>;
    assert.equal(session.status, ended[status] ?? 'open', `session ${session.id}`);
  }
  for (const { id, open, closed_reason } of ofKind(records, 'review')) {
    assert.equal(open, closed_reason === null, `review ${id}`);
  }
  const numbers = ofKind(records, 'charge').flatMap(({ cash_number }) => cash_number ?? []);
  assert.equal(new Set(numbers).size, numbers.length, 'a cash code is held once');
}

function assertIntent(records: Records, intent: PaymentIntentRecord): void {
  const { id, status, latest_charge, network_call } = intent;
  const charges = ofKind(records, 'charge').filter((charge) => charge.payment_intent === id);
  const latest = charges.find((charge) => charge.id === latest_charge);
  const inStatus = (wanted: string) => charges.filter((charge) => charge.status === wanted);
  assert.equal(latest?.id ?? null, latest_charge);
  assert.equal(charges.at(-1)?.id ?? null, latest_charge, 'the latest charge is the last one made');
  assert.equal(intent.amount_received, status === 'succeeded' ? intent.amount : 0);
  assert.deepEqual(inStatus('succeeded'), status === 'succeeded' ? [latest] : [], 'one success a payment');
  const underWay = status === 'requires_action' || status === 'processing';
  assert.deepEqual(inStatus('pending'), underWay ? [latest] : [], 'a charge is open when it is being paid');
  assert.equal(status === 'canceled', intent.canceled_at !== null);
  if (intent.last_payment_error !== null) {
    assert.ok(inStatus('failed').some((charge) => charge.id === intent.last_payment_error!.charge));
  }
  const asked = ofKind(records, 'network_call').filter(
    (each) => each.payment_intent === id && each.action !== 'refund_charge' && !each.accepted,
  );
  assert.deepEqual(
    network_call === null ? [] : [network_call],
    asked.map((each) => each.id),
    'busy while asked',
  );
  if (network_call !== null) {
    const opening = asked[0]!.action !== 'authorize_card';
    assert.equal(status, opening ? 'requires_payment_method' : 'processing');
  }
}

function assertCharge(records: Records, charge: ChargeRecord): void {
  const refunds = ofKind(records, 'refund').filter((refund) => refund.charge === charge.id);
  const inStatus = (wanted: string) =>
    sum(refunds.filter(({ status }) => status === wanted).map(({ amount }) => amount));
  assert.equal(charge.amount_refunded, inStatus('succeeded'));
  assert.equal(charge.amount_refund_pending, inStatus('pending'));
  const received = charge.status === 'succeeded' ? charge.amount : 0;
  assert.ok(charge.amount_refunded + charge.amount_refund_pending <= received, 'refunded ≤ received');
  assert.equal(charge.failure_code === null, charge.status !== 'failed');
  const { status } = records.get(charge.payment_intent) as PaymentIntentRecord;
  if (charge.challenge_token !== null) assert.equal(status, 'requires_action', 'a challenge is answered');
}
