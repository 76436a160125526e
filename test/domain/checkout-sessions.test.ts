// Checkout sessions: how long they are open, what ends them, and how a cash code changes their end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueRecords } from '../../src/domain/due.ts';
import { createIntent, createSession, openCharge, scenes, typedCard } from './scenes.ts';
import { hourMs, minuteMs, Stage, settings, World } from './stage.ts';

const session = { amount: 20_000, currency: 'mad', success_url: 'https://shop.test/ok' };

/** Plays what is due, oldest first, until nothing is. */
function runDue(stage: Stage): string[] {
  const events: string[] = [];
  let rounds = 0;
  for (;;) {
    const due = dueRecords(stage.world.state, stage.nowMs, 2);
    if (due.length === 0) return events;
    assert.ok(++rounds < 100, 'what was due is due no more');
    for (const { id } of due) events.push(...stage.when('expire_due', {}, id).events);
  }
}

test('created with its payment intent', () => {
  const stage = new Stage();
  const step = stage.when('create_checkout_session', {
    ...session,
    cancel_url: 'https://shop.test/back',
    client_reference_id: 'cart-7',
    locale: 'ar',
    metadata: { a: 'b' },
  });
  const { answer } = step.expect({
    answer: {
      status: 'open',
      payment_status: 'unpaid',
      cancel_url: 'https://shop.test/back',
      client_reference_id: 'cart-7',
      locale: 'ar',
      payment_method_types: ['card'],
      expires_at: stage.nowMs / 1000 + 24 * 3600,
      metadata: { a: 'b' },
    },
    events: ['payment_intent.created'],
    changes: ['checkout_session open', 'payment_intent requires_payment_method'],
  });
  assert.equal(answer.url, `https://pay.test/checkout/${answer.id}`);
  const intent = stage.read('retrieve_payment_intent', {}, answer.payment_intent);
  assert.deepEqual([intent.amount, intent.checkout_session, intent.metadata], [20_000, answer.id, {}]);
});

test('what its payment intent is to have is given for it; the session keeps its own', () => {
  const stage = new Stage();
  const own = { description: 'Basket 7', client_reference_id: 'cart-7', metadata: { a: 'session' } };
  const intentOf = (more: object) => {
    const answer = stage.given('create_checkout_session', { ...session, ...own, ...more });
    assert.deepEqual([answer.description, answer.metadata], ['Basket 7', { a: 'session' }]);
    const { description, metadata } = stage.read('retrieve_payment_intent', {}, answer.payment_intent);
    return [description, metadata];
  };
  assert.deepEqual(intentOf({}), [null, {}]);
  const data = { description: 'Order 7', metadata: { b: 'intent', empty: '' } };
  assert.deepEqual(intentOf({ payment_intent_data: data }), ['Order 7', { b: 'intent' }]);
  assert.deepEqual(intentOf({ payment_intent_data: { description: 'Order 7' } }), ['Order 7', {}]);
});

const addresses = [
  ['https', { success_url: 'HTTPS://shop.test/', cancel_url: 'https://shop.test/' }, null],
  ['plain http after paying', { success_url: 'http://shop.test/' }, 'success_url'],
  ['in capitals', { success_url: 'HTTP://shop.test/' }, 'success_url'],
  ['plain http after giving up', { cancel_url: 'http://localhost/' }, 'cancel_url'],
] as const;

for (const [what, named, param] of addresses) {
  test(`addresses in live mode: ${what}`, () => {
    for (const livemode of [true, false]) {
      const stage = new Stage().as({ livemode });
      const step = stage.when('create_checkout_session', { ...session, ...named });
      if (param === null || !livemode) step.expect({ events: ['payment_intent.created'] });
      else step.expect({ refusal: ['parameter_invalid', param] });
    }
  });
}

test('the address to return to from a card page is https in live mode', () => {
  for (const livemode of [true, false]) {
    const stage = new Stage().as({ livemode });
    const intent = createIntent(stage);
    const confirm = (return_url: string) => stage.when('confirm_payment_intent', { return_url }, intent);
    if (livemode) confirm('http://shop.test/').expect({ refusal: ['parameter_invalid', 'return_url'] });
    else assert.equal(confirm('http://shop.test/').code, 'waits');
    if (livemode) assert.equal(confirm('https://shop.test/').code, 'waits');
  }
});

test('expires_at: from 30 minutes to 24 hours', () => {
  const stage = new Stage();
  const inSeconds = (seconds: number) =>
    stage.when('create_checkout_session', { ...session, expires_at: stage.nowMs / 1000 + seconds });
  inSeconds(30 * 60).expect({ events: ['payment_intent.created'] });
  inSeconds(24 * 3600).expect({ events: ['payment_intent.created'] });
  for (const seconds of [30 * 60 - 1, 24 * 3600 + 1, -1]) {
    inSeconds(seconds).expect({ refusal: ['parameter_invalid', 'expires_at'] });
  }
});

test('paid: complete, and no longer to be visited', () => {
  const stage = new Stage();
  const scene = scenes.paid(stage);
  const { status, payment_status, url } = stage.read('retrieve_checkout_session', {}, scene.session);
  assert.deepEqual([status, payment_status, url], ['complete', 'paid', null]);
  stage.when('expire_checkout_session', {}, scene.session).expect({ refusal: 'invalid_request' });
});

test('its time is up', () => {
  const stage = new Stage();
  const scene = createSession(stage);
  stage.advance(24 * hourMs - 1);
  stage.when('expire_due', {}, scene.session).expect({ changes: [] });
  stage.advance(1);
  stage.when('expire_due', {}, scene.session).expect({
    events: ['payment_intent.canceled', 'checkout.session.expired'],
    changes: ['checkout_session expired', 'payment_intent canceled'],
  });
  const { status, payment_status, url } = stage.read('retrieve_checkout_session', {}, scene.session);
  assert.deepEqual([status, payment_status, url], ['expired', 'unpaid', null]);
  stage.when('expire_due', {}, scene.session).expect({ changes: [] });
  stage.when('choose_method', { method: 'card' }, scene.session).expect({ refusal: 'invalid_request' });
});

test('a cash code prolongs the session to its own end', () => {
  const stage = new Stage();
  const scene = scenes.code(stage);
  const codeEndsAt = (stage.nowMs + settings.cashCodeMs) / 1000;
  const before = stage.read('retrieve_checkout_session', {}, scene.session);
  assert.deepEqual([before.status, before.expires_at], ['open', codeEndsAt]);
  stage.advance(24 * hourMs);
  assert.deepEqual(runDue(stage), []);
  stage.advance(settings.cashCodeMs - 24 * hourMs);
  assert.deepEqual(runDue(stage), [
    'charge.failed',
    'payment_intent.payment_failed',
    'payment_intent.canceled',
    'checkout.session.expired',
  ]);
});

test('a cash code that ends before the session does not shorten it', () => {
  const stage = new Stage(new World({ ...settings, cashCodeMs: hourMs }));
  const scene = createSession(stage);
  const { expires_at_ms } = stage.get('checkout_session', scene.session);
  stage.settle(stage.calls('choose_method', { method: 'cash' }, scene.session));
  assert.equal(stage.get('checkout_session', scene.session).expires_at_ms, expires_at_ms);
});

test('a payment on its way postpones the end', () => {
  const stage = new Stage();
  const scene = createSession(stage);
  stage.advance(24 * hourMs - minuteMs);
  const charge = openCharge(stage, scene.intent);
  const call = stage.calls('submit_card', typedCard, charge);
  stage.advance(minuteMs);
  assert.deepEqual(runDue(stage), [], 'while the network is asked');
  stage.settle(call, { result: 'accepted' });
  stage.advance(minuteMs);
  assert.deepEqual(runDue(stage), [], 'while its word is awaited');
  stage.settle(call);
  assert.equal(stage.get('checkout_session', scene.session).status, 'complete');
  stage.advance(minuteMs);
  assert.deepEqual(runDue(stage), []);
});

test('a payment that fails after the end takes the session with it', () => {
  const stage = new Stage();
  const scene = createSession(stage);
  stage.advance(24 * hourMs - minuteMs);
  const call = stage.calls('submit_card', typedCard, openCharge(stage, scene.intent));
  stage.advance(minuteMs);
  runDue(stage);
  stage.settle(call, { result: 'declined', decline_code: 'lost_card' });
  stage.advance(minuteMs);
  assert.deepEqual(runDue(stage), ['payment_intent.canceled', 'checkout.session.expired']);
});

test('a charge whose time is up waits for the network that is being asked', () => {
  const stage = new Stage();
  const scene = scenes.authorizing(stage);
  const { expires_at_ms } = stage.get('charge', scene.charge);
  stage.advance(settings.cardPageMs);
  assert.deepEqual(runDue(stage), []);
  assert.equal(stage.get('charge', scene.charge).expires_at_ms, expires_at_ms, 'what is shown stays');
  stage.settle(scene.call, { result: 'accepted' });
  stage.advance(minuteMs);
  assert.deepEqual(runDue(stage), ['charge.failed', 'payment_intent.payment_failed']);
  assert.equal(stage.get('payment_intent', scene.intent).status, 'requires_payment_method');
});

test('what became due while nobody ran happens in order, once', () => {
  const stage = new Stage();
  const first = openCharge(stage, createIntent(stage));
  stage.advance(minuteMs);
  const scene = scenes.open(stage);
  const code = scenes.code(stage);
  stage.advance(30 * 24 * hourMs);
  const due = dueRecords(stage.world.state, stage.nowMs, 100).map(({ id }) => id);
  assert.deepEqual(due, [first, scene.charge, scene.session, code.charge, code.session]);
  assert.equal(dueRecords(stage.world.state, stage.nowMs, 3).length, 3);
  const failed = ['charge.failed', 'payment_intent.payment_failed'];
  const ended = ['payment_intent.canceled', 'checkout.session.expired'];
  assert.deepEqual(runDue(stage), [...failed, ...failed, ...ended, ...failed, ...ended]);
  assert.deepEqual(runDue(stage), []);
});

test('expire_due for what is not due, decided, or nothing at all', () => {
  const stage = new Stage();
  const scene = scenes.open(stage);
  for (const id of [scene.charge, scene.session, scene.intent, 'ch_x', 'cs_x']) {
    stage.when('expire_due', {}, id).expect({ changes: [] });
  }
});

test('choosing a method that the session does not take', () => {
  const stage = new Stage();
  const scene = createSession(stage, { payment_method_types: ['card'] });
  stage
    .when('choose_method', { method: 'cash' }, scene.session)
    .expect({ refusal: 'payment_method_unavailable' });
  stage.when('choose_method', { method: 'card' }, 'cs_x').expect({ refusal: 'resource_missing' });
});
