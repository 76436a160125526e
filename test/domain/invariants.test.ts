// Every invariant holds for what the state machine makes, and each is broken by one change and told then.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedEvents } from '../../src/domain/expected-events.ts';
import { faultsOf, invariants, subjectOf } from '../../src/domain/invariants.ts';
import type { RecordKind, StoredRecord } from '../../src/domain/record.ts';
import { openCharge, payByCard, scenes, typedCard } from './scenes.ts';
import { Stage } from './stage.ts';

/** What a row breaks: fields that a record gets, or another record that it loses. */
type Broken = Partial<Record<string, unknown>>;

interface Row {
  readonly invariant: string;
  /** Makes what is needed, and names the record with the fault. */
  readonly given: (stage: Stage) => string;
  /** Its new fields; a function may also remove what the record names. */
  readonly broken: Broken | ((stage: Stage, record: StoredRecord) => Broken);
}

const missing = (kind: string) => `${kind}_${'0'.repeat(25)}`;
const newestOf = (stage: Stage, kind: RecordKind): string =>
  stage.world.log.flat().findLast((change) => change.kind === kind && !change.removed)!.id;

const intentOf = (name: keyof typeof scenes) => (stage: Stage) => scenes[name](stage).intent;
const chargeOf = (name: keyof typeof scenes) => (stage: Stage) => scenes[name](stage).charge;
const sessionOf = (name: keyof typeof scenes) => (stage: Stage) => scenes[name](stage).session;
const callOf = (name: 'opening' | 'authorizing') => (stage: Stage) => scenes[name](stage).call!.id;
const customer = (stage: Stage): string => stage.given('create_customer', { email: 'a@shop.test' }).id;

function link(stage: Stage): string {
  const success_url = 'https://shop.test/thanks';
  const order = { amount: 500, currency: 'mad', success_url, payment_method_types: ['card'] } as const;
  const params = { order, single_use: true, lasts_ms: null, made_with: 'form' };
  return stage.given('create_payment_link', {
    ...params,
    order: { ...order, payment_method_types: ['card'] },
  }).id;
}

function refund(stage: Stage): string {
  return stage.given('create_refund', { payment_intent: payByCard(stage).intent, amount: 500 }).id;
}

function review(stage: Stage): string {
  stage.given('complete_charge', { amount: 77 }, scenes.open(stage).charge);
  return newestOf(stage, 'review');
}

function delivery(stage: Stage): string {
  stage.given('create_webhook_endpoint', { url: 'https://a.test', enabled_events: ['*'] });
  payByCard(stage);
  const id = newestOf(stage, 'delivery');
  const result = { at_ms: 0, duration_ms: 1, status: 500, failure: 'refused', answer: 'no' };
  stage.when('record_attempt', { delivery: id, number: 0, serial: 1, first: false, result });
  return id;
}

function endpoint(stage: Stage): string {
  delivery(stage);
  return newestOf(stage, 'webhook_endpoint');
}

const newest = (kind: RecordKind) => (stage: Stage) => {
  delivery(stage);
  return newestOf(stage, kind);
};

const rows: readonly Row[] = [
  { invariant: 'payment_intent.amount_received', given: intentOf('paid'), broken: { amount_received: 1 } },
  { invariant: 'payment_intent.canceled_at', given: intentOf('canceled'), broken: { canceled_at: null } },
  {
    invariant: 'payment_intent.latest_charge',
    given: intentOf('paid'),
    broken: { latest_charge: missing('ch') },
  },
  { invariant: 'payment_intent.charges', given: intentOf('paid'), broken: { status: 'processing' } },
  {
    invariant: 'payment_intent.last_payment_error',
    given: intentOf('declined'),
    broken: (stage, record) => ({
      last_payment_error: {
        ...stage.get('payment_intent', record.id).last_payment_error!,
        charge: missing('ch'),
      },
    }),
  },
  {
    invariant: 'payment_intent.network_call',
    given: intentOf('open'),
    broken: { network_call: missing('op') },
  },
  { invariant: 'payment_intent.network_call', given: intentOf('opening'), broken: { status: 'processing' } },
  {
    invariant: 'payment_intent.checkout_session',
    given: intentOf('fresh'),
    broken: { checkout_session: missing('cs') },
  },
  { invariant: 'payment_intent.customer', given: intentOf('fresh'), broken: { customer: missing('cus') } },
  { invariant: 'payment_intent.id', given: intentOf('fresh'), broken: { id: missing('ch') } },
  { invariant: 'charge.payment_intent', given: chargeOf('paid'), broken: { amount: 1 } },
  { invariant: 'charge.payment_intent', given: chargeOf('paid'), broken: { livemode: true } },
  {
    invariant: 'charge.refunds',
    given: (stage) => stage.get('refund', refund(stage)).charge,
    broken: { amount_refund_pending: 499 },
  },
  { invariant: 'charge.refunds', given: chargeOf('paid'), broken: { amount_refunded: 1 } },
  { invariant: 'charge.refundable', given: chargeOf('paid'), broken: { amount_refunded: 20_001 } },
  { invariant: 'charge.refundable', given: chargeOf('paid'), broken: { amount_refund_pending: -1 } },
  { invariant: 'charge.failure', given: chargeOf('declined'), broken: { failure_code: null } },
  { invariant: 'charge.settled', given: chargeOf('open'), broken: { settled_at_ms: 0 } },
  { invariant: 'charge.settled', given: chargeOf('declined'), broken: { settled_at_ms: null } },
  { invariant: 'charge.challenge', given: chargeOf('paid'), broken: { challenge_token: 'tok' } },
  {
    invariant: 'charge.cash_code',
    given: (stage) => {
      const { charge } = scenes.code(stage);
      const other = stage.get('charge', scenes.code(stage).charge);
      stage.world.state.apply({ ...other, cash_number: stage.get('charge', charge).cash_number });
      return charge;
    },
    broken: {},
  },
  { invariant: 'refund.charge', given: refund, broken: { charge: missing('ch') } },
  { invariant: 'refund.amount', given: refund, broken: { amount: 0 } },
  { invariant: 'refund.failure', given: refund, broken: { failure_reason: 'no' } },
  { invariant: 'refund.settled', given: refund, broken: { settled_at_ms: 0 } },
  {
    invariant: 'checkout_session.payment_intent',
    given: sessionOf('fresh'),
    broken: { payment_intent: missing('pi') },
  },
  { invariant: 'checkout_session.status', given: sessionOf('paid'), broken: { status: 'open' } },
  { invariant: 'checkout_session.customer', given: sessionOf('paid'), broken: { customer: missing('cus') } },
  { invariant: 'payment_link.session', given: link, broken: { session: missing('cs') } },
  { invariant: 'payment_link.end', given: link, broken: { ends_at_ms: 0 } },
  { invariant: 'customer.deleted', given: customer, broken: { deleted: true } },
  { invariant: 'review.charge', given: review, broken: { amount_expected: 1 } },
  { invariant: 'review.closed', given: review, broken: { open: false } },
  { invariant: 'day_total.day', given: newest('day_total'), broken: { day: '2026-11-01' } },
  { invariant: 'day_total.received', given: newest('day_total'), broken: { card_succeeded: 0 } },
  { invariant: 'day_total.refunded', given: newest('day_total'), broken: { refunded: 1 } },
  {
    invariant: 'event.object',
    given: newest('event'),
    broken: { object_json: '{"id":"pi_' },
  },
  { invariant: 'webhook_endpoint.deleted', given: endpoint, broken: { status: 'deleted' } },
  { invariant: 'webhook_endpoint.deleted', given: endpoint, broken: { secrets: [] } },
  { invariant: 'delivery.endpoint', given: delivery, broken: { endpoint: missing('we') } },
  { invariant: 'delivery.event', given: delivery, broken: { event: missing('evt') } },
  { invariant: 'delivery.status', given: delivery, broken: { due_at_ms: null } },
  { invariant: 'delivery.attempts', given: delivery, broken: { attempt_count: 0 } },
  { invariant: 'delivery.answered', given: delivery, broken: { answered: ['wha_1', 'wha_2', 'wha_3'] } },
  {
    invariant: 'attempt.delivery',
    given: newest('attempt'),
    broken: { delivery: missing('whd') },
  },
  { invariant: 'attempt.answer', given: newest('attempt'), broken: { failure: null } },
  {
    invariant: 'network_call.payment_intent',
    given: callOf('opening'),
    broken: { payment_intent: missing('pi') },
  },
  { invariant: 'network_call.about', given: callOf('authorizing'), broken: { charge: null } },
  { invariant: 'network_call.about', given: callOf('authorizing'), broken: { charge: missing('ch') } },
  {
    invariant: 'network_call.waited_for',
    given: callOf('opening'),
    broken: (stage, record) => {
      const intent = stage.get('payment_intent', (record as { payment_intent?: string }).payment_intent!);
      stage.world.state.apply({ ...intent, network_call: null });
      return {};
    },
  },
];

/** Another record of the same kind, as `given` makes it. */
const another = (given: Row['given'], field: string) => (stage: Stage) => ({ [field]: given(stage) });

/** What a record belongs to is changed, so that it no longer fits. */
function related(kind: RecordKind, field: string, changes: object): Row['broken'] {
  return (stage, record) => {
    const id = String(new Map<string, unknown>(Object.entries(record)).get(field));
    stage.world.state.apply({ ...stage.get(kind, id), ...changes } as StoredRecord);
    return {};
  };
}

/** A customer of somebody else. */
const customerOf = (changes: object) => (stage: Stage) => {
  const { id } = stage.given('create_customer', {});
  stage.world.state.apply({ ...stage.get('customer', id), ...changes });
  return id;
};

/** More ways to break an invariant: each part of it alone. */
const parts: readonly (readonly [invariant: string, given: Row['given'], broken: Row['broken']])[] = [
  ['payment_intent.amount_received', intentOf('open'), { amount_received: 20_000 }],
  ['payment_intent.amount_received', intentOf('paid'), { amount_received: 0 }],
  ['payment_intent.canceled_at', intentOf('open'), { canceled_at: 0 }],
  ['payment_intent.latest_charge', intentOf('open'), { latest_charge: null }],
  ['payment_intent.charges', intentOf('open'), { status: 'requires_payment_method' }],
  ['payment_intent.charges', intentOf('open'), { status: 'succeeded' }],
  ['payment_intent.charges', intentOf('fresh'), { status: 'requires_action' }],
  ['payment_intent.charges', intentOf('fresh'), { status: 'processing' }],
  ['payment_intent.charges', intentOf('declined'), { status: 'succeeded' }],
  ['payment_intent.charges', intentOf('paid'), another(chargeOf('paid'), 'latest_charge')],
  [
    'payment_intent.last_payment_error',
    intentOf('declined'),
    related('charge', 'latest_charge', { status: 'pending' }),
  ],
  [
    'payment_intent.last_payment_error',
    intentOf('declined'),
    related('charge', 'latest_charge', { payment_intent: missing('pi') }),
  ],
  [
    'payment_intent.network_call',
    intentOf('opening'),
    related('network_call', 'network_call', { accepted: true }),
  ],
  ['payment_intent.network_call', intentOf('authorizing'), { status: 'requires_payment_method' }],
  ['payment_intent.network_call', intentOf('opening'), another(callOf('opening'), 'network_call')],
  ['payment_intent.checkout_session', intentOf('fresh'), another(sessionOf('fresh'), 'checkout_session')],
  ['payment_intent.customer', intentOf('fresh'), another(customerOf({ livemode: true }), 'customer')],
  ['payment_intent.customer', intentOf('fresh'), another(customerOf({ org: 'org_2' }), 'customer')],
  ['charge.payment_intent', chargeOf('paid'), { currency: 'eur' }],
  ['charge.payment_intent', chargeOf('paid'), { payment_intent: missing('pi') }],
  ['charge.payment_intent', chargeOf('paid'), { org: 'org_2' }],
  ['charge.refunds', chargeOf('paid'), { amount_refund_pending: 1 }],
  ['charge.refundable', chargeOf('paid'), { amount_refunded: -1 }],
  ['charge.refundable', chargeOf('declined'), { amount_refunded: 1 }],
  ['charge.refundable', chargeOf('paid'), { amount_refunded: 19_999, amount_refund_pending: 2 }],
  ['charge.failure', chargeOf('open'), { failure_code: 'expired' }],
  ['charge.challenge', chargeOf('authorizing'), { challenge_token: 'tok' }],
  ['charge.challenge', chargeOf('challenge'), { status: 'failed' }],
  ['charge.cash_code', chargeOf('paid'), { cash_number: '1234567890' }],
  ['charge.cash_code', chargeOf('code'), { cash_number: null }],
  ['refund.charge', refund, another(chargeOf('paid'), 'charge')],
  ['refund.charge', refund, { currency: 'eur' }],
  ['refund.amount', refund, { amount: -1 }],
  ['refund.failure', refund, { status: 'failed' }],
  ['refund.settled', refund, { status: 'succeeded' }],
  ['checkout_session.payment_intent', sessionOf('fresh'), { amount: 1 }],
  ['checkout_session.payment_intent', sessionOf('fresh'), another(intentOf('fresh'), 'payment_intent')],
  ['checkout_session.status', sessionOf('fresh'), { status: 'complete' }],
  ['checkout_session.status', sessionOf('fresh'), { status: 'expired' }],
  ['checkout_session.status', sessionOf('canceled'), { status: 'open' }],
  ['payment_link.end', link, { deadline_ms: 0 }],
  ...(['email', 'name', 'phone', 'description'] as const).map(
    (field) =>
      ['customer.deleted', customer, { deleted: true, email: null, [field]: 'a@shop.test' }] as const,
  ),
  ['customer.deleted', customer, { deleted: true, email: null, metadata: { size: 'M' } }],
  ['review.charge', review, { charge: missing('ch') }],
  ['review.charge', review, another(chargeOf('open'), 'charge')],
  ['review.closed', review, { closed_reason: 'approved' }],
  ['day_total.day', newest('day_total'), { id: missing('day') }],
  ['day_total.received', newest('day_total'), { card_received: 0 }],
  ['day_total.received', newest('day_total'), { cash_received: 1 }],
  ['day_total.received', newest('day_total'), { cash_succeeded: 1 }],
  ['day_total.refunded', newest('day_total'), { refunds: 1 }],
  ['webhook_endpoint.deleted', endpoint, { draining: true }],
  ['delivery.status', delivery, { ended_at_ms: 0 }],
  ['delivery.status', delivery, { status: 'failed' }],
  ['delivery.attempts', delivery, { tries: 2 }],
  ['attempt.answer', newest('attempt'), related('delivery', 'delivery', { answered: [] })],
  ['network_call.about', callOf('opening'), { charge: missing('ch') }],
  ['network_call.about', callOf('authorizing'), { refund: missing('re') }],
  ['network_call.about', callOf('authorizing'), { action: 'refund_charge' }],
  ['network_call.about', callOf('authorizing'), { action: 'refund_charge', refund: missing('re') }],
];

/** What may be so, too. */
const allowed: typeof parts = [
  ['charge.refundable', chargeOf('paid'), { amount_refunded: 20_000 }],
  ['charge.refundable', chargeOf('paid'), { amount_refund_pending: 20_000 }],
  ['charge.cash_code', chargeOf('open'), {}],
  ['refund.amount', refund, { amount: 1 }],
  ['customer.deleted', customer, { deleted: true, email: null }],
  ['delivery.event', delivery, { status: 'ended', event: missing('evt') }],
  ['delivery.answered', delivery, { answered: ['wha_1', 'wha_2'] }],
  ['attempt.answer', newest('attempt'), { serial: null, failure: null }],
  ['attempt.answer', newest('attempt'), { answer: '', failure: null }],
  ['network_call.waited_for', callOf('opening'), { accepted: true, payment_intent: missing('pi') }],
  ['network_call.waited_for', callOf('opening'), { action: 'refund_charge', payment_intent: missing('pi') }],
];

function recordsOf(stage: Stage): Map<string, StoredRecord> {
  const records = new Map<string, StoredRecord>();
  for (const change of stage.world.log.flat())
    if (change.removed) records.delete(change.id);
    else records.set(change.id, change);
  return records;
}

for (const { invariant, given, broken } of rows) {
  test(`${invariant}: ${JSON.stringify(broken) ?? 'something else changes'}`, () => {
    const stage = new Stage();
    const id = given(stage);
    const record = recordsOf(stage).get(id)!;
    const isSound = typeof broken === 'function' || Object.keys(broken).length > 0;
    if (isSound) assert.deepEqual(faultsOf(record, stage.world.state), []);
    const after = { ...record, ...(typeof broken === 'function' ? broken(stage, record) : broken) };
    const faults = faultsOf(after as StoredRecord, stage.world.state);
    assert.ok(
      faults.some((fault) => fault.invariant === invariant && fault.what.length > 0),
      JSON.stringify(faults),
    );
  });
}

test('charges that contradict their payment are named', () => {
  const stage = new Stage();
  const { intent, charge } = scenes.paid(stage);
  const record = recordsOf(stage).get(intent)!;
  for (const [changes, what] of [
    [{ status: 'canceled' }, `is canceled and has these charges that are succeeded: ${charge}`],
    [{ id: missing('pi') }, 'is succeeded and has these charges that are succeeded: none'],
  ] as const) {
    const faults = faultsOf({ ...record, ...changes } as StoredRecord, stage.world.state);
    assert.equal(faults.find(({ invariant }) => invariant === 'payment_intent.charges')?.what, what);
  }
});

/** Whether the invariant holds for what `given` makes, before and after it is broken. */
function holding(...[invariant, given, broken]: (typeof parts)[number]): [boolean, boolean] {
  const stage = new Stage();
  const id = given(stage);
  const holds = (record: StoredRecord) =>
    faultsOf(record, stage.world.state).every((fault) => fault.invariant !== invariant);
  const record = recordsOf(stage).get(id)!;
  const before = holds(record);
  const changes = typeof broken === 'function' ? broken(stage, record) : broken;
  return [before, holds({ ...record, ...changes } as StoredRecord)];
}

test('each part of an invariant is needed', () => {
  const unexpected = (rows: typeof parts, after: boolean) =>
    rows.filter((row) => String(holding(...row)) !== String([true, after]));
  assert.deepEqual(unexpected(parts, false), []);
  assert.deepEqual(unexpected(allowed, true), []);
});

test('an event is about the object that it carries, of its type and mode', () => {
  const stage = new Stage();
  const id = newest('event')(stage);
  const event = stage.get('event', id);
  const carrying = (object: unknown, fields: object = {}) =>
    subjectOf({ ...event, type: 'charge.failed', ...fields, object_json: JSON.stringify(object) });
  const whole = { id: 'ch_1', object: 'charge', livemode: false };
  assert.equal(carrying(whole), 'ch_1');
  assert.equal(carrying({ ...whole, livemode: true }, { livemode: true }), 'ch_1');
  for (const [object, fields] of [
    [null, {}],
    [{}, {}],
    [{ ...whole, id: 7 }, {}],
    [{ ...whole, object: 7 }, {}],
    [{ ...whole, object: 'refund' }, {}],
    [{ ...whole, object: 'char' }, {}],
    [{ ...whole, livemode: true }, {}],
    [whole, { livemode: true }],
    [whole, { type: 'refund.failed' }],
  ] as const)
    assert.equal(carrying(object, fields), null, JSON.stringify([object, fields]));
});

test('every invariant has a row that breaks it', () => {
  const all = Object.entries(invariants).flatMap(([kind, checks]) =>
    Object.keys(checks).map((name) => `${kind}.${name}`),
  );
  const broken = new Set(rows.map(({ invariant }) => invariant));
  assert.deepEqual(
    all.filter((name) => !broken.has(name)),
    [],
  );
});

test('the events of all records are those that happened, in every state', () => {
  for (const name of Object.keys(scenes) as (keyof typeof scenes)[]) {
    const stage = new Stage();
    scenes[name](stage);
    refund(stage);
    stage.given('succeed_refund', {}, refund(stage));
    stage.given('fail_refund', { failure_reason: 'expired_card' }, refund(stage));
    review(stage);
    stage.given('close_review', { as: 'approved' }, review(stage));
    const abandoned = scenes.open(stage);
    stage.given('abandon_charge', {}, abandoned.charge);
    stage.settle(stage.calls('submit_card', typedCard, openCharge(stage, abandoned.intent)));
    // On a network's own page: one customer is still there, another one has gone back.
    for (const goesBack of [false, true]) {
      const opening = scenes.opening(stage).call!;
      stage.settle(opening, { result: 'awaited' });
      const { latest_charge } = stage.get('payment_intent', opening.payment_intent);
      if (goesBack) stage.given('abandon_charge', {}, latest_charge!);
    }
    const records = [...recordsOf(stage).values()];
    for (const record of records) assert.deepEqual(faultsOf(record, stage.world.state), [], record.id);
    const happened = records.flatMap((each) =>
      each.kind === 'event' ? [String([each.type, subjectOf(each)])] : [],
    );
    assert.deepEqual(happened.sort(), records.flatMap(expectedEvents).map(String).sort(), name);
  }
});
