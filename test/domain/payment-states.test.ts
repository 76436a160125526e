// The states of a payment: every transition with its changes and events, and the refusal of every action in every state that
// does not allow it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canceledBeforePaid, cashRefused, declined, expiredUnpaid } from '../../src/domain/charges.ts';
import type { AnyCommand } from '../../src/domain/command.ts';
import { isStatus, paymentStates, statusWithin } from '../../src/domain/payment-state.ts';
import {
  amount,
  card,
  createIntent,
  openCharge,
  type Scene,
  type SceneName,
  scenes,
  typedCard,
} from './scenes.ts';
import { type Json, minuteMs, Stage, type Step } from './stage.ts';

interface Transition {
  readonly from: SceneName;
  readonly on: string;
  readonly run: (stage: Stage, scene: Scene) => Step;
  readonly events: readonly string[];
  readonly changes: readonly string[];
  /** What the intent is afterwards. */
  readonly intent: object;
}

const opened = ['network_call removed', 'payment_intent requires_action', 'charge pending'];
const succeeded = ['payment_intent succeeded', 'charge succeeded', 'checkout_session complete'];
const failed = ['payment_intent requires_payment_method', 'charge failed'];
const failedEvents = ['charge.failed', 'payment_intent.payment_failed'];
const paidEvents = ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.completed'];

const transitions: readonly Transition[] = [
  {
    from: 'fresh',
    on: 'confirm: the network is asked',
    run: (stage, { intent }) => stage.when('confirm_payment_intent', { payment_method_type: 'card' }, intent),
    events: [],
    changes: ['network_call', 'payment_intent requires_payment_method'],
    intent: { status: 'requires_payment_method', latest_charge: null },
  },
  {
    from: 'opening',
    on: 'the network has opened the card page',
    run: (stage, { call }) => stage.settle(call!),
    events: ['payment_intent.requires_action'],
    changes: opened,
    intent: { status: 'requires_action', network_call: null },
  },
  {
    from: 'opening',
    on: 'the network cannot open it',
    run: (stage, { call }) => stage.settle(call!, { result: 'failed', reason: 'down' }),
    events: [],
    changes: ['network_call removed', 'payment_intent requires_payment_method'],
    intent: { status: 'requires_payment_method', network_call: null, latest_charge: null },
  },
  {
    from: 'fresh',
    on: 'the customer chooses cash on the checkout page',
    run: (stage, { session }) => stage.settle(stage.calls('choose_method', { method: 'cash' }, session)),
    events: ['payment_intent.requires_action'],
    changes: [...opened, 'checkout_session open'],
    intent: { status: 'requires_action' },
  },
  {
    from: 'open',
    on: 'the customer typed a card',
    run: (stage, { charge }) => stage.when('submit_card', typedCard, charge),
    events: ['payment_intent.processing'],
    changes: ['network_call', 'payment_intent processing', 'charge pending'],
    intent: { status: 'processing' },
  },
  {
    from: 'open',
    on: 'the customer typed a card that wants a challenge',
    run: (stage, { charge }) => stage.when('submit_card', { ...typedCard, challenge: true }, charge),
    events: [],
    changes: ['charge pending'],
    intent: { status: 'requires_action' },
  },
  {
    from: 'challenge',
    on: 'the customer passed the challenge',
    run: (stage, { charge }) => stage.when('answer_challenge', { passed: true }, charge),
    events: ['payment_intent.processing'],
    changes: ['network_call', 'payment_intent processing', 'charge pending'],
    intent: { status: 'processing' },
  },
  {
    from: 'challenge',
    on: 'the customer failed the challenge',
    run: (stage, { charge }) => stage.when('answer_challenge', { passed: false }, charge),
    events: failedEvents,
    changes: failed,
    intent: { status: 'requires_payment_method' },
  },
  ...(['open', 'challenge', 'code'] as const).map((from) => ({
    from,
    on: 'the customer goes back to choose again',
    run: (stage: Stage, { charge }: Scene) => stage.when('abandon_charge', {}, charge),
    events: ['charge.failed'],
    changes: from === 'code' ? [...failed, 'network_call'] : failed,
    intent: { status: 'requires_payment_method', last_payment_error: null },
  })),
  {
    from: 'authorizing',
    on: 'the network confirms',
    run: (stage, { call }) => stage.settle(call!),
    events: paidEvents,
    changes: ['network_call removed', ...succeeded],
    intent: { status: 'succeeded', amount_received: amount, network_call: null },
  },
  {
    from: 'authorizing',
    on: 'the network takes the order',
    run: (stage, { call }) => stage.settle(call!, { result: 'accepted' }),
    events: [],
    changes: ['network_call', 'payment_intent processing'],
    intent: { status: 'processing', network_call: null },
  },
  {
    from: 'accepted',
    on: 'the network confirms later',
    run: (stage, { call }) => stage.settle(call!),
    events: paidEvents,
    changes: ['network_call removed', ...succeeded],
    intent: { status: 'succeeded', amount_received: amount },
  },
  {
    from: 'authorizing',
    on: 'the bank declines',
    run: (stage, { call }) => stage.settle(call!, { result: 'declined', decline_code: 'insufficient_funds' }),
    events: failedEvents,
    changes: ['network_call removed', ...failed],
    intent: { status: 'requires_payment_method', amount_received: 0 },
  },
  {
    from: 'accepted',
    on: 'the network fails',
    run: (stage, { call }) => stage.settle(call!, { result: 'failed', reason: 'down' }),
    events: failedEvents,
    changes: ['network_call removed', ...failed],
    intent: { status: 'requires_payment_method' },
  },
  {
    from: 'open',
    on: 'its time is up',
    run: (stage, { charge }) => {
      stage.advance(30 * minuteMs);
      return stage.when('expire_due', {}, charge);
    },
    events: failedEvents,
    changes: failed,
    intent: { status: 'requires_payment_method' },
  },
  {
    from: 'code',
    on: 'an agent takes the cash',
    run: (stage, { charge }) => {
      const number = stage.get('charge', charge).cash_number!;
      return stage.when('pay_cash', { number, amount });
    },
    events: ['payment_intent.processing', ...paidEvents],
    changes: succeeded,
    intent: { status: 'succeeded', amount_received: amount },
  },
  {
    from: 'open',
    on: 'cancel',
    run: (stage, { intent }) =>
      stage.when('cancel_payment_intent', { cancellation_reason: 'duplicate' }, intent),
    events: ['charge.failed', 'payment_intent.canceled', 'checkout.session.expired'],
    changes: ['payment_intent canceled', 'charge failed', 'checkout_session expired'],
    intent: { status: 'canceled', cancellation_reason: 'duplicate', amount_received: 0 },
  },
  {
    from: 'fresh',
    on: 'cancel',
    run: (stage, { intent }) => stage.when('cancel_payment_intent', {}, intent),
    events: ['payment_intent.canceled', 'checkout.session.expired'],
    changes: ['payment_intent canceled', 'checkout_session expired'],
    intent: { status: 'canceled', cancellation_reason: null },
  },
  {
    from: 'code',
    on: 'the session is expired',
    run: (stage, { session }) => stage.when('expire_checkout_session', {}, session),
    events: ['charge.failed', 'payment_intent.canceled', 'checkout.session.expired'],
    changes: ['payment_intent canceled', 'charge failed', 'checkout_session expired', 'network_call'],
    intent: { status: 'canceled', cancellation_reason: 'expired' },
  },
  {
    from: 'declined',
    on: 'another charge',
    run: (stage, { intent }) =>
      stage.settle(stage.calls('confirm_payment_intent', { payment_method_type: 'card' }, intent)),
    events: ['payment_intent.requires_action'],
    changes: opened,
    intent: { status: 'requires_action' },
  },
];

for (const { from, on, run, events, changes, intent } of transitions) {
  test(`${from}: ${on}`, () => {
    const stage = new Stage();
    const scene = scenes[from](stage);
    const step = run(stage, scene).expect({ events, changes });
    const record: Json = stage.get('payment_intent', scene.intent);
    for (const [name, value] of Object.entries(intent)) assert.deepEqual(record[name], value, name);
    for (const told of step.told) {
      if (told.object === 'payment_intent') assert.equal(told.id, scene.intent);
    }
  });
}

/** The outcome of each action in each state: the code of the refusal, `ok`, or `waits` for the network. */
const busy = 'payment_intent_busy';
const state = 'payment_intent_unexpected_state';
const charge = 'charge_unexpected_state';
const missing = 'resource_missing';
const over = 'invalid_request';

type Action = readonly [AnyCommand, object, keyof Scene | null];
const actions: Readonly<Record<string, Action>> = {
  update: ['update_payment_intent', { description: 'Order 7' }, 'intent'],
  confirm: ['confirm_payment_intent', { payment_method_type: 'card' }, 'intent'],
  cancel: ['cancel_payment_intent', {}, 'intent'],
  expire: ['expire_checkout_session', {}, 'session'],
  choose: ['choose_method', { method: 'cash' }, 'session'],
  back: ['abandon_charge', {}, 'charge'],
  submit: ['submit_card', typedCard, 'charge'],
  challenge: ['answer_challenge', { passed: true }, 'charge'],
  complete: ['complete_charge', {}, 'charge'],
  fail: ['fail_charge', {}, 'charge'],
  end: ['expire_charge', {}, 'charge'],
  refund: ['create_refund', {}, null],
};

// biome-ignore format: a table
const matrix: Readonly<Record<SceneName, readonly string[]>> = {
  //            update confirm cancel expire choose   back     submit   challenge complete fail    end      refund
  fresh:       ['ok',  'waits', 'ok',  'ok',  'waits', missing, missing, missing,  missing, missing, missing, state],
  opening:     [busy,  busy,    busy,  busy,  busy,    missing, missing, missing,  missing, missing, missing, state],
  open:        ['ok',  state,   'ok',  'ok',  state,   'ok',    'waits', charge,   'ok',    'ok',    'ok',    state],
  challenge:   ['ok',  state,   'ok',  'ok',  state,   'ok',    'waits', 'waits',  'ok',    'ok',    'ok',    state],
  code:        ['ok',  state,   'ok',  'ok',  state,   'ok',    missing, missing,  'ok',    'ok',    'ok',    state],
  authorizing: [busy,  busy,    busy,  busy,  busy,    busy,    busy,    busy,     busy,    busy,    busy,    state],
  accepted:    ['ok',  state,   state, state, state,   state,   state,   state,    'ok',    'ok',    'ok',    state],
  declined:    ['ok',  'waits', 'ok',  'ok',  'waits', state,   state,   state,    charge,  charge,  charge,  state],
  paid:        ['ok',  state,   state, over,  over,    state,   state,   state,    charge,  charge,  charge,  'ok'],
  paid_cash:   ['ok',  state,   state, over,  over,    state,   missing, missing,  charge,  charge,  charge,  'refund_unsupported_payment_method'],
  canceled:    ['ok',  state,   state, over,  over,    state,   state,   state,    charge,  charge,  charge,  state],
};

for (const name of Object.keys(matrix) as SceneName[]) {
  Object.entries(actions).forEach(([action, [operation, params, of]], i) => {
    test(`${name}: ${action} comes to ${matrix[name][i]}`, () => {
      const stage = new Stage();
      const scene = scenes[name](stage);
      const id = of === null ? '' : (scene[of] as string) || 'ch_0000000000000000000000000000';
      const given = operation === 'create_refund' ? { payment_intent: scene.intent } : params;
      assert.equal(stage.when(operation, given, id).code, matrix[name][i]);
    });
  });
}

test('once another charge is open, nothing happens to the one before', () => {
  const stage = new Stage();
  const { intent, charge: earlier } = scenes.open(stage);
  stage.given('abandon_charge', {}, earlier);
  const latest = openCharge(stage, intent);
  const on = ['back', 'submit', 'challenge', 'complete', 'fail', 'end'];
  for (const [operation, params] of on.map((action) => actions[action]!)) {
    const { outcome } = stage.when(operation, params, earlier);
    assert('refusal' in outcome, operation);
    const { code, values } = outcome.refusal;
    assert.deepEqual([code, values], [charge, { status: 'failed' }], operation);
  }
  assert.equal(stage.when('submit_card', typedCard, latest).code, 'waits');
});

test('creating: defaults, and the event names the request', () => {
  const stage = new Stage();
  const step = stage.when('create_payment_intent', { amount: 100, currency: 'mad' }).expect({
    answer: {
      amount: 100,
      amount_received: 0,
      status: 'requires_payment_method',
      payment_method_types: ['card'],
      latest_charge: null,
      last_payment_error: null,
      next_action: null,
      metadata: {},
      livemode: false,
      checkout_session: null,
    },
    events: ['payment_intent.created'],
    changes: ['payment_intent requires_payment_method'],
  });
  assert.deepEqual(step.told, [step.answer]);
  const [event] = stage.read('list_events').data;
  assert.deepEqual(event.request, { id: `req_${'1'.padStart(24, '0')}`, idempotency_key: 'key-1' });
  assert.deepEqual(event.data.object, step.answer);
});

test('updating merges metadata and sets the description, and changes and tells nothing else', () => {
  const stage = new Stage();
  const { intent, charge } = scenes.open(stage);
  const before = stage.read('retrieve_payment_intent', {}, intent);
  const update = (params: object) => stage.when('update_payment_intent', params, intent);
  const set = { description: 'Order 7', metadata: { a: '1', b: '2' } };
  update(set).expect({ answer: { ...before, ...set }, changes: ['payment_intent requires_action'] });
  update({ metadata: { b: '', c: '3', d: '' } }).expect({
    answer: { ...before, description: 'Order 7', metadata: { a: '1', c: '3' } },
  });
  update({ description: '' }).expect({ answer: { description: null, metadata: { a: '1', c: '3' } } });
  update({}).expect({ answer: stage.read('retrieve_payment_intent', {}, intent) });
  const many = Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`k${i}`, 'x']));
  update({ metadata: many }).expect({ refusal: ['parameter_invalid', 'metadata'] });
  stage.given('complete_charge', {}, charge);
  update({ metadata: { paid: 'yes' } }).expect({ answer: { status: 'succeeded', amount_received: amount } });
  stage.when('update_payment_intent', {}, 'pi_x').expect({ refusal: 'resource_missing' });
});

test('confirming: what the customer has to do next is in the answer, and in no later one', () => {
  const stage = new Stage();
  const scene = scenes.fresh(stage);
  const params = { payment_method_type: 'card', return_url: 'https://shop.test/back' };
  const { answer } = stage.settle(stage.calls('confirm_payment_intent', params, scene.intent));
  assert.deepEqual(answer.next_action, {
    type: 'redirect_to_url',
    redirect_to_url: {
      url: `https://pay.test/pay/${answer.latest_charge}`,
      return_url: 'https://shop.test/back',
    },
  });
  assert.deepEqual(stage.read('retrieve_payment_intent', {}, scene.intent), answer);
  const charge = stage.given('complete_charge', {}, answer.latest_charge);
  assert.equal(charge.paid, true);
  assert.equal(stage.read('retrieve_payment_intent', {}, scene.intent).next_action, null);
});

test('confirming by cash shows the code, where to print it and how long it can be paid', () => {
  const stage = new Stage();
  const intent = createIntent(stage, { payment_method_types: ['cash'] });
  const { answer } = stage.settle(stage.calls('confirm_payment_intent', {}, intent));
  const details = answer.next_action.cash_display_details;
  assert.match(details.number, /^\d{12}$/);
  assert.equal(details.hosted_voucher_url, `https://pay.test/voucher/${answer.latest_charge}`);
  assert.equal(details.expires_at, (stage.nowMs + 3 * 24 * 60 * minuteMs) / 1000);
});

test('confirming: which method', () => {
  const stage = new Stage();
  const both = createIntent(stage, { payment_method_types: ['card', 'cash'] });
  const one = createIntent(stage);
  const confirm = (params: object, id: string) => stage.when('confirm_payment_intent', params, id);
  confirm({}, both).expect({ refusal: ['parameter_missing', 'payment_method_type'] });
  confirm({ payment_method_type: 'cash' }, one).expect({
    refusal: ['parameter_invalid', 'payment_method_type'],
  });
  assert.equal(confirm({}, one).code, 'waits');
  assert.equal(confirm({ payment_method_type: 'cash' }, both).code, 'waits');
});

const errors = [
  ['declined', 'a decline', null, declined('lost_card', 'en')],
  ['open', 'a decline by the helper', 'fail_charge', declined('generic_decline', 'en')],
  ['open', 'expiry', 'expire_charge', expiredUnpaid('en')],
  ['code', 'a refusal of the cash', 'fail_charge', cashRefused('en')],
  ['code', 'expiry of a cash code', 'expire_charge', expiredUnpaid('en')],
] as const;

for (const [from, what, helper, failure] of errors) {
  test(`last_payment_error after ${what}`, () => {
    const stage = new Stage();
    const scene = scenes[from](stage);
    if (helper !== null) stage.given(helper, {}, scene.charge);
    const error = stage.read('retrieve_payment_intent', {}, scene.intent).last_payment_error;
    assert.deepEqual(error, { ...failure, charge: scene.charge });
    const { failure_code, failure_message, decline_code } = stage.read('retrieve_charge', {}, scene.charge);
    assert.deepEqual(
      [failure_code, failure_message, decline_code],
      [failure.code, failure.message, failure.decline_code],
    );
  });
}

test('the charge that a cancel ends is told of first, as it is then', () => {
  const stage = new Stage();
  const { intent, charge } = scenes.challenge(stage);
  const { told } = stage.when('cancel_payment_intent', {}, intent);
  const [failed, canceled] = told;
  assert.deepEqual(failed, stage.read('retrieve_charge', {}, charge));
  assert.deepEqual([failed.status, failed.failure_code], ['failed', 'payment_attempt_canceled']);
  assert.equal(canceled.id, intent);
});

test('a cash charge has no bank that could decline it', () => {
  const stage = new Stage();
  const { charge } = scenes.code(stage);
  const params = { decline_code: 'lost_card' };
  stage.when('fail_charge', params, charge).expect({ refusal: ['parameter_invalid', 'decline_code'] });
  assert.equal(stage.given('fail_charge', {}, charge).failure_code, 'cash_payment_refused');
});

test('going back: the charge says why it ended, and the reason of an earlier one stays', () => {
  const stage = new Stage();
  const { intent, charge: declinedCharge } = scenes.declined(stage);
  const { last_payment_error } = stage.read('retrieve_payment_intent', {}, intent);
  const charge = openCharge(stage, intent, 'cash');
  const [told] = stage.when('abandon_charge', {}, charge).told;
  assert.deepEqual(told, stage.read('retrieve_charge', {}, charge));
  const { code, message } = canceledBeforePaid('en');
  assert.deepEqual([told.failure_code, told.failure_message], [code, message]);
  const after = stage.read('retrieve_payment_intent', {}, intent);
  assert.deepEqual([after.latest_charge, after.next_action], [charge, null]);
  assert.deepEqual(after.last_payment_error, last_payment_error);
  assert.equal(after.last_payment_error.charge, declinedCharge);
  stage.when('abandon_charge', {}, charge).expect({ refusal: 'payment_intent_unexpected_state' });
});

test('money that comes for a code that was given up opens a review, also while another charge is open', () => {
  const stage = new Stage();
  const { intent, session, charge } = scenes.code(stage);
  const number = stage.get('charge', charge).cash_number!;
  stage.given('abandon_charge', {}, charge);
  const late = () => stage.when('pay_cash', { number, amount });
  late().expect({ events: ['review.opened'], changes: ['review'] });
  stage.settle(stage.calls('choose_method', { method: 'card' }, session));
  late().expect({ events: ['review.opened'], changes: ['review'] });
  stage.given('complete_charge', {}, stage.get('payment_intent', intent).latest_charge!);
  const [{ reason, charge: of }] = stage.read('list_reviews').data;
  assert.deepEqual([reason, of], ['late_payment', charge]);
});

test('a charge without a checkout page has nowhere to go back to', () => {
  const stage = new Stage();
  const charge = openCharge(stage, createIntent(stage));
  stage.when('abandon_charge', {}, charge).expect({ refusal: 'resource_missing' });
  stage.when('abandon_charge', {}, 'ch_x').expect({ refusal: 'resource_missing' });
});

test('confirming by another method does not end a charge that is open', () => {
  const stage = new Stage();
  for (const [scene, method] of [
    ['open', 'cash'],
    ['code', 'card'],
  ] as const) {
    const { intent } = scenes[scene](stage);
    const params = { payment_method_type: method };
    stage.when('confirm_payment_intent', params, intent).expect({ refusal: state });
  }
});

test('a canceled payment has no error to report, but its charge says why it ended', () => {
  const stage = new Stage();
  const { intent: id, charge } = scenes.open(stage);
  stage.given('cancel_payment_intent', {}, id, { language: 'ar' });
  const intent = stage.read('retrieve_payment_intent', {}, id);
  assert.equal(intent.last_payment_error, null);
  assert.equal(intent.canceled_at, stage.nowMs / 1000);
  const { failure_code, failure_message } = stage.read('retrieve_charge', {}, charge);
  const { code, message } = canceledBeforePaid('ar');
  assert.deepEqual([failure_code, failure_message], [code, message]);
});

test('success clears the error of an earlier charge', () => {
  const stage = new Stage();
  const scene = scenes.declined(stage);
  stage.settle(stage.calls('confirm_payment_intent', { payment_method_type: 'card' }, scene.intent));
  const intent = stage.read('retrieve_payment_intent', {}, scene.intent);
  assert.equal(intent.last_payment_error.code, 'card_declined', 'until the next charge is decided');
  stage.given('complete_charge', {}, intent.latest_charge);
  assert.equal(stage.read('retrieve_payment_intent', {}, scene.intent).last_payment_error, null);
});

test('the card that was typed shows on the charge', () => {
  const stage = new Stage();
  const scene = scenes.paid(stage);
  const { payment_method_details } = stage.read('retrieve_charge', {}, scene.charge);
  assert.deepEqual(payment_method_details, { type: 'card', card });
});

test('failures speak the language of the request', () => {
  const stage = new Stage();
  const scene = scenes.open(stage);
  stage.given('fail_charge', { decline_code: 'stolen_card' }, scene.charge, { language: 'fr' });
  const { last_payment_error } = stage.read('retrieve_payment_intent', {}, scene.intent);
  assert.equal(last_payment_error.message, declined('stolen_card', 'fr').message);
});

test('the index of a status finds the payments of a state alone where no other state has that status', () => {
  for (const state of paymentStates) {
    const sharing = paymentStates.filter((each) => statusWithin(each) === statusWithin(state));
    assert.equal(isStatus(state), sharing.length === 1, state);
  }
});
