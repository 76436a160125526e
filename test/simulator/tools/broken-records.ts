// Records that contradict each other, one contradiction at a time, in what a shard really has: `payments verify` tells of each of
// them by the name of the invariant, and of none in the records as they are.

import { answersPerDeliveryMax } from '../../../src/contract/limits.ts';
import { idsIn } from '../../../src/domain/indexes.ts';
import { faultsOf } from '../../../src/domain/invariants.ts';
import type { RecordKind, RecordOf, StoredRecord } from '../../../src/domain/record.ts';
import type { View } from '../../../src/domain/view.ts';
import { ofKind, type Records } from '../../domain/invariants.ts';
import { PlainRecords } from '../oracle/plain-records.ts';
import type { SpareMachine } from './spare-machine.ts';

/** What a record, or those that belong to it, would have to be; nothing: it can't be broken in this way. */
type Break<R extends StoredRecord> = (record: R, all: Others) => Partial<R> | StoredRecord[] | null;
type Breaks = {
  readonly [K in RecordKind]: Readonly<Record<string, readonly Break<RecordOf<K>>[]>>;
};

/** The records, and how one is found that another belongs to. */
interface Others {
  of<K extends RecordKind>(kind: K, isIt: (record: RecordOf<K>) => boolean): RecordOf<K> | undefined;
}

const when = <T>(holds: boolean, changed: T): T | null => (holds ? changed : null);
/** A change of another record, where that is there. */
const other = <R extends StoredRecord>(record: R | undefined, changed: Partial<R>): StoredRecord[] | null =>
  record === undefined ? null : [{ ...record, ...changed }];
const gone = (record: StoredRecord | undefined): StoredRecord[] | null =>
  record === undefined ? null : [{ ...record, removed: true }];

const breaks: Breaks = {
  payment_intent: {
    amount_received: [
      ({ status, amount }) => when(status === 'succeeded', { amount_received: amount - 1 }),
      ({ status, amount }) => when(status !== 'succeeded', { amount_received: amount }),
    ],
    canceled_at: [
      ({ status }) => when(status === 'canceled', { canceled_at: null }),
      ({ status }) => when(status !== 'canceled', { canceled_at: 1 }),
    ],
    latest_charge: [
      ({ latest_charge }) => when(latest_charge !== null, { latest_charge: null }),
      ({ latest_charge }) => when(latest_charge === null, { latest_charge: 'ch_none' }),
      ({ id, latest_charge }, all) => {
        const older = all.of('charge', (each) => each.payment_intent === id && each.id !== latest_charge);
        return older === undefined ? null : { latest_charge: older.id };
      },
    ],
    charges: [
      ({ latest_charge, status }, all) =>
        status === 'succeeded'
          ? other(
              all.of('charge', (each) => each.id === latest_charge),
              { status: 'failed' },
            )
          : null,
      ({ id, latest_charge, status }, all) => {
        const older = all.of('charge', (each) => each.payment_intent === id && each.id !== latest_charge);
        return status === 'succeeded' ? other(older, { status: 'succeeded' }) : null;
      },
      ({ id, latest_charge, status }, all) => {
        const latest = all.of('charge', (each) => each.id === latest_charge);
        const older = all.of('charge', (each) => each.payment_intent === id && each.id !== latest_charge);
        if (status !== 'succeeded' || latest === undefined || older === undefined) return null;
        return [
          { ...latest, status: 'failed' },
          { ...older, status: 'succeeded' },
        ];
      },
      ({ latest_charge, status }, all) =>
        status === 'succeeded'
          ? null
          : other(
              all.of('charge', (each) => each.id === latest_charge),
              { status: 'succeeded' },
            ),
      ({ latest_charge, status }, all) =>
        status === 'requires_action' || status === 'processing'
          ? other(
              all.of('charge', (each) => each.id === latest_charge),
              { status: 'failed' },
            )
          : other(
              all.of('charge', (each) => each.id === latest_charge),
              { status: 'pending' },
            ),
    ],
    last_payment_error: [
      ({ last_payment_error: error }) => error && { last_payment_error: { ...error, charge: 'ch_none' } },
      ({ last_payment_error: error }, all) =>
        error &&
        other(
          all.of('charge', (each) => each.id === error.charge),
          { status: 'pending' },
        ),
      ({ id, last_payment_error: error }, all) => {
        const failed = all.of('charge', (each) => each.status === 'failed' && each.payment_intent !== id);
        return error && failed ? { last_payment_error: { ...error, charge: failed.id } } : null;
      },
    ],
    network_call: [
      ({ network_call: id }, all) => gone(all.of('network_call', (each) => each.id === id)),
      ({ network_call: id }, all) =>
        other(
          all.of('network_call', (each) => each.id === id),
          { accepted: true },
        ),
      ({ network_call: id }, all) =>
        other(
          all.of('network_call', (each) => each.id === id),
          { payment_intent: 'pi_none' },
        ),
      ({ network_call: id }) => when(id !== null, { status: 'requires_action' }),
      ({ network_call: id, status }) =>
        when(id !== null, { status: status === 'processing' ? 'requires_payment_method' : 'processing' }),
    ],
    checkout_session: [
      ({ checkout_session: id }, all) => gone(all.of('checkout_session', (each) => each.id === id)),
      ({ checkout_session: id }, all) =>
        other(
          all.of('checkout_session', (each) => each.id === id),
          { payment_intent: 'pi_none' },
        ),
    ],
    customer: [
      ({ customer }) => when(customer !== null, { customer: 'cus_none' }),
      ({ customer: id, livemode }, all) =>
        other(
          all.of('customer', (each) => each.id === id),
          { livemode: !livemode },
        ),
      ({ customer: id }, all) =>
        other(
          all.of('customer', (each) => each.id === id),
          { org: 'org_none' },
        ),
    ],
  },
  charge: {
    payment_intent: [() => ({ payment_intent: 'pi_none' }), ({ amount }) => ({ amount: amount + 1 })],
    refunds: [
      ({ amount_refunded }) => ({ amount_refunded: amount_refunded + 1 }),
      ({ amount_refund_pending }) => ({ amount_refund_pending: amount_refund_pending + 1 }),
      ({ id }, all) => gone(all.of('refund', (each) => each.charge === id && each.status !== 'failed')),
      ({ id }, all) =>
        other(
          all.of('refund', (each) => each.charge === id && each.status === 'failed'),
          { status: 'pending' },
        ),
      ({ id }, all) =>
        other(
          all.of('refund', (each) => each.charge === id && each.status !== 'failed'),
          { charge: 'ch_none' },
        ),
    ],
    refundable: [
      () => ({ amount_refunded: -1 }),
      () => ({ amount_refund_pending: -1 }),
      ({ amount }) => ({ amount_refunded: amount + 1, amount_refund_pending: 0 }),
      ({ amount, amount_refunded }) => ({ amount_refund_pending: amount - amount_refunded + 1 }),
      ({ status }) => when(status !== 'succeeded', { amount_refunded: 1 }),
    ],
    failure: [
      ({ status }) => when(status === 'failed', { failure_code: null }),
      ({ status }) => when(status !== 'failed', { failure_code: 'card_declined' }),
    ],
    settled: [
      ({ status }) => when(status === 'pending', { settled_at_ms: 1 }),
      ({ status }) => when(status !== 'pending', { settled_at_ms: null }),
    ],
    challenge: [
      ({ status }) => when(status !== 'pending', { challenge_token: 'a token' }),
      ({ challenge_token, payment_intent }, all) =>
        challenge_token === null
          ? null
          : other(
              all.of('payment_intent', ({ id }) => id === payment_intent),
              { status: 'processing' },
            ),
    ],
    cash_code: [
      ({ method }) => when(method === 'card', { cash_number: '000000000000' }),
      ({ method }) => when(method === 'cash', { cash_number: null }),
      ({ id, method, status }, all) => {
        const held = all.of('charge', (each) => each.cash_number !== null && each.id > id);
        return method === 'cash' && status !== 'failed' && held ? { cash_number: held.cash_number } : null;
      },
    ],
  },
  refund: {
    charge: [
      () => ({ charge: 'ch_none' }),
      ({ payment_intent }, all) => {
        const charge = all.of('charge', (each) => each.payment_intent !== payment_intent);
        return charge === undefined ? null : { charge: charge.id };
      },
    ],
    amount: [() => ({ amount: 0 }), () => ({ amount: -1 })],
    failure: [
      ({ status }) => when(status === 'failed', { failure_reason: null }),
      ({ status }) => when(status !== 'failed', { failure_reason: 'declined' }),
    ],
    settled: [
      ({ status }) => when(status === 'pending', { settled_at_ms: 1 }),
      ({ status }) => when(status !== 'pending', { settled_at_ms: null }),
    ],
  },
  checkout_session: {
    payment_intent: [
      () => ({ payment_intent: 'pi_none' }),
      ({ amount }) => ({ amount: amount + 1 }),
      ({ payment_intent }, all) =>
        other(
          all.of('payment_intent', ({ id }) => id === payment_intent),
          { checkout_session: null },
        ),
    ],
    status: [
      ({ status }) => when(status !== 'open', { status: 'open' }),
      ({ status }) => when(status !== 'complete', { status: 'complete' }),
      ({ status }) => when(status !== 'expired', { status: 'expired' }),
    ],
    customer: [({ customer }) => when(customer !== null, { customer: 'cus_none' })],
  },
  payment_link: {
    session: [({ session }) => when(session !== null, { session: 'cs_none' })],
    end: [
      ({ deadline_ms }) => when(deadline_ms === null, { ends_at_ms: 1 }),
      ({ deadline_ms }) => when(deadline_ms !== null, { ends_at_ms: null }),
    ],
  },
  customer: {
    deleted: (['email', 'name', 'phone', 'description'] as const)
      .map(
        (name): Break<RecordOf<'customer'>> =>
          ({ deleted }) =>
            when(deleted, { [name]: 'left' }),
      )
      .concat([
        ({ deleted }) => when(deleted, { metadata: { left: 'over' } }),
        ({ deleted, email }) => when(!deleted && email !== null, { deleted: true }),
      ]),
  },
  review: {
    charge: [
      () => ({ charge: 'ch_none' }),
      ({ amount_expected }) => ({ amount_expected: amount_expected + 1 }),
      () => ({ payment_intent: 'pi_none' }),
    ],
    closed: [
      ({ closed_reason }) => when(closed_reason === null, { open: false }),
      ({ closed_reason }) => when(closed_reason !== null, { open: true }),
    ],
  },
  day_total: {
    day: [(total) => [{ ...total, id: `${total.id}0` }]],
    received: (['card', 'cash'] as const).flatMap((method): Break<RecordOf<'day_total'>>[] => [
      (total) => when(total[`${method}_received`] > 0, { [`${method}_succeeded`]: 0 }),
      (total) => when(total[`${method}_received`] > 0, { [`${method}_received`]: 0 }),
      (total) => when(total[`${method}_received`] === 0, { [`${method}_received`]: 1 }),
    ]),
    refunded: [
      ({ refunds }) => when(refunds > 0, { refunded: 0 }),
      ({ refunds }) => when(refunds > 0, { refunds: 0 }),
      ({ refunds }) => when(refunds === 0, { refunded: 1 }),
    ],
  },
  event: {
    object: [
      ({ object_json }) => ({ object_json: object_json.slice(1) }),
      () => ({ object_json: 'null' }),
      ({ object_json }) => ({ object_json: object_json.replace('"id":"', '"it":"') }),
      ({ object_json }) => ({ object_json: object_json.replace('"object":"', '"what":"') }),
      ({ livemode, object_json }) => ({
        object_json: object_json.replace(`"livemode":${livemode}`, `"livemode":${!livemode}`),
      }),
      ({ type }) => ({ type: type.startsWith('review.') ? 'charge.failed' : 'review.opened' }),
    ],
  },
  webhook_endpoint: {
    deleted: [
      ({ status }) => when(status === 'deleted', { secrets: [{ sealed: 'left', expires_at_ms: null }] }),
      ({ status }) => when(status !== 'deleted', { secrets: [] }),
      ({ status }) => when(status !== 'deleted', { draining: true }),
    ],
  },
  delivery: {
    endpoint: [() => ({ endpoint: 'we_none' })],
    event: [({ status }) => when(status === 'pending', { event: 'evt_none' })],
    status: [
      ({ status }) => when(status === 'pending', { due_at_ms: null }),
      ({ status }) => when(status === 'pending', { ended_at_ms: 1 }),
      ({ status }) => when(status !== 'pending', { due_at_ms: 1 }),
      ({ status }) => when(status !== 'pending', { ended_at_ms: null }),
    ],
    attempts: [
      ({ attempt_count }) => ({ tries: attempt_count + 1 }),
      ({ id, first_at_ms }, all) => {
        // The oldest attempts may be gone.
        const isTold =
          first_at_ms !== null || all.of('attempt', (each) => each.delivery === id) !== undefined;
        return when(isTold, { attempt_count: 0, tries: 0 });
      },
    ],
    answered: [() => ({ answered: Array.from({ length: answersPerDeliveryMax + 1 }, () => 'att_none') })],
  },
  attempt: {
    delivery: [() => ({ delivery: 'del_none' })],
    answer: [
      ({ id, delivery, serial, answer }, all) => {
        const answered = all.of('delivery', (each) => each.id === delivery)?.answered ?? [];
        return when(serial !== null && answer === null && !answered.includes(id), { answer: 'an answer' });
      },
      ({ serial, answer }) => when(serial !== null && !!answer, { failure: null }),
    ],
  },
  network_call: {
    payment_intent: [() => ({ payment_intent: 'pi_none' })],
    about: [
      ({ charge }) => when(charge !== null, { charge: null }),
      ({ charge }) => when(charge !== null, { charge: 'ch_none' }),
      ({ charge }, all) => {
        const some = all.of('charge', () => true);
        return charge === null && some !== undefined ? { charge: some.id } : null;
      },
      ({ refund }) => when(refund !== null, { refund: 'ref_none' }),
      ({ refund }) => when(refund !== null, { refund: null }),
      ({ refund }, all) => {
        const some = all.of('refund', () => true);
        return refund === null && some !== undefined ? { refund: some.id } : null;
      },
    ],
    waited_for: [
      ({ id }, all) =>
        other(
          all.of('payment_intent', (each) => each.network_call === id),
          { network_call: null },
        ),
    ],
  },
};

const tells = 'records that contradict each other are told';

export async function breakRecords(spare: SpareMachine): Promise<void> {
  const records = spare.history.at(spare.batches.at(-1)!.lastSequence);
  const plain = new PlainRecords(records.values());
  const view = viewOf(plain);
  for (const record of records.values()) spare.same(tells, faultsOf(record, view), [], record.id);
  for (const kind of Object.keys(breaks) as RecordKind[]) breakKind(spare, kind, records, plain, view);
}

function breakKind<K extends RecordKind>(
  spare: SpareMachine,
  kind: K,
  records: Records,
  plain: PlainRecords,
  view: View,
): void {
  const all: Others = { of: (of, isIt) => ofKind(records, of).find(isIt) };
  const ofThis = ofKind(records, kind);
  for (const [name, ways] of Object.entries(breaks[kind]))
    for (const [way, change] of ways.entries()) {
      const start = ofThis.length === 0 ? 0 : spare.random.below(ofThis.length);
      const inTurn = [...ofThis.slice(start), ...ofThis.slice(0, start)];
      for (const record of inTurn) {
        const changed = change(record, all);
        if (changed === null) continue;
        const broken = Array.isArray(changed) ? changed : [{ ...record, ...changed }];
        for (const each of broken) plain.apply(each);
        const told = faultsOf(view.get(kind, record.id) ?? record, view).map(({ invariant }) => invariant);
        spare.check(
          tells,
          told.includes(`${kind}.${name}`),
          () => `${kind}.${name} (${way}) is not told of ${JSON.stringify(broken)}, but ${told}`,
        );
        for (const { id, ...each } of broken) {
          const before = records.get(id);
          plain.apply(before ?? ({ ...each, id, removed: true } as StoredRecord));
        }
        spare.world.happened.add('records that contradict each other');
        break;
      }
    }
}

/** The records as the domain reads them. */
export function viewOf(plain: PlainRecords): View {
  return {
    get<K extends RecordKind>(kind: K, id: string) {
      const found = plain.get(id);
      return found?.kind === kind ? (found as RecordOf<K>) : undefined;
    },
    scan: (index, range) => plain.keysIn(index, range).map((key) => plain.get(idsIn(index)(key))!),
  };
}
