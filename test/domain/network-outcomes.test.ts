// Outcomes of network calls are applied once, also when they arrive twice, late or out of order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../src/contract/errors/table.ts';
import { networkCallOf } from '../../src/domain/network-call.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import { amount, createIntent, openCharge, payByCard, type SceneName, scenes, typedCard } from './scenes.ts';
import { minuteMs, Stage, settings } from './stage.ts';

const done: NetworkOutcome = { result: 'done' };
const accepted: NetworkOutcome = { result: 'accepted' };
const declinedByBank: NetworkOutcome = { result: 'declined', decline_code: 'do_not_honor' };
const failed: NetworkOutcome = { result: 'failed', reason: 'down' };
const all = { done, accepted, declined: declinedByBank, failed };

for (const scene of ['opening', 'authorizing', 'accepted'] as const satisfies readonly SceneName[]) {
  for (const [first, outcome] of Object.entries(all)) {
    if (first === 'accepted') continue;
    for (const [second, again] of Object.entries(all)) {
      test(`${scene}: ${first}, then ${second} changes nothing`, () => {
        const stage = new Stage();
        const { call } = scenes[scene](stage);
        stage.settle(call!, outcome);
        stage.settle(call!, again).expect({ events: [], changes: [] });
      });
    }
  }
}

test('an order that is taken twice stays taken', () => {
  const stage = new Stage();
  const { call, intent } = scenes.accepted(stage);
  stage.settle(call!, accepted).expect({ events: [] });
  assert.equal(stage.get('payment_intent', intent).status, 'processing');
  stage.settle(call!);
  assert.equal(stage.get('payment_intent', intent).status, 'succeeded');
});

test('who has typed a card is told what became of it', () => {
  for (const [outcome, status] of [
    [accepted, 'processing'],
    [done, 'succeeded'],
    [declinedByBank, 'failed'],
  ] as const) {
    const stage = new Stage();
    assert.deepEqual(stage.settle(scenes.authorizing(stage).call!, outcome).answer, { status });
  }
});

test('a cash code that is given up is canceled, and nothing follows whether that was possible or not', () => {
  for (const outcome of [done, failed]) {
    const stage = new Stage();
    const { charge } = scenes.code(stage);
    const [call] = stage.when('abandon_charge', {}, charge).decision.networkCalls;
    assert.deepEqual([call!.action, call!.accepted], ['cancel_cash_code', false]);
    stage.settle(call!, outcome).expect({ answer: {}, changes: ['network_call removed'] });
  }
});

test('an opening that is only taken stays open: what may be payable has a holder, and whoever waits is told to try again', () => {
  const stage = new Stage();
  const intent = createIntent(stage, { payment_method_types: ['cash'] });
  const call = stage.calls('confirm_payment_intent', {}, intent);
  for (let times = 0; times < 2; times++) {
    const step = stage.settle(call, accepted).expect({ events: [], changes: [] });
    assert.ok('waiterRefused' in step.outcome);
  }
  stage.settle(call);
  assert.equal(stage.given('pay_cash', { number: call.cash_number, amount }).payment_intent, intent);
});

test('an opening that fails: whoever waits is told to try again, and can', () => {
  for (const outcome of [failed, declinedByBank]) {
    const stage = new Stage();
    const { call, intent } = scenes.opening(stage);
    const { outcome: told } = stage.settle(call!, outcome);
    assert.ok('waiterRefused' in told);
    const { code, retryAfterSeconds } = told.waiterRefused;
    assert.deepEqual([code, statusOf(told.waiterRefused), retryAfterSeconds], ['api_error', 503, 1]);
    assert.ok(openCharge(stage, intent));
  }
});

test('the address to return to changes with the charge, not with a try that opens none', () => {
  const stage = new Stage();
  const { intent } = scenes.fresh(stage);
  const confirm = (return_url?: string) =>
    stage.calls(
      'confirm_payment_intent',
      { payment_method_type: 'card', ...(return_url && { return_url }) },
      intent,
    );
  const returnUrl = () => stage.get('payment_intent', intent).return_url;
  stage.settle(confirm('https://shop.test/a'), failed);
  assert.equal(returnUrl(), null);
  stage.settle(confirm('https://shop.test/b'));
  assert.equal(returnUrl(), 'https://shop.test/b');
  stage.given('fail_charge', {}, stage.get('payment_intent', intent).latest_charge!);
  const last = confirm();
  assert.equal(returnUrl(), 'https://shop.test/b', 'while the network is asked');
  stage.settle(last);
  assert.equal(returnUrl(), null);
});

test('an outcome for a call that never was', () => {
  const stage = new Stage();
  stage.when('apply_network_outcome', { call: 'op_x', outcome: done }).expect({ events: [], changes: [] });
});

test('the request that waits is the one its events name', () => {
  const stage = new Stage();
  const call = stage.calls('confirm_payment_intent', {}, createIntent(stage));
  stage.settle(call);
  const [event] = stage.read('list_events', { type: 'payment_intent.requires_action' }).data;
  assert.deepEqual(event.request, {
    id: call.request!.request_id,
    idempotency_key: call.request!.idempotency_key,
  });
});

test("the customer's own payment names no request", () => {
  const stage = new Stage();
  const { charge } = scenes.open(stage);
  stage.settle(stage.calls('submit_card', typedCard, charge));
  const [event] = stage.read('list_events', { type: 'payment_intent.succeeded' }).data;
  assert.deepEqual(event.request, { id: null, idempotency_key: null });
});

test('a charge is made when the network has opened it: nobody who pages through the list misses it', () => {
  const stage = new Stage();
  const intent = createIntent(stage);
  const call = stage.calls('confirm_payment_intent', {}, intent);
  stage.advance(5_000);
  const cursor = openCharge(stage, createIntent(stage));
  stage.settle(call);
  const openedAt = stage.nowMs / 1000;
  const { id, created, expires_at_ms } = stage.get(
    'charge',
    stage.get('payment_intent', intent).latest_charge!,
  );
  assert.equal(created, openedAt);
  assert.equal(expires_at_ms, stage.nowMs + 30 * minuteMs, 'the customer has all of the time');
  const ids = (params: object) =>
    stage.read('list_charges', params).data.map((each: { id: string }) => each.id);
  assert.deepEqual(ids({ ending_before: cursor }), [id]);
  assert.deepEqual(ids({ 'created[gte]': openedAt }), [id, cursor]);
  assert.deepEqual(ids({ 'created[lt]': openedAt }), []);
});

test('a cash code ends when its network was told, however long it took to answer', () => {
  const stage = new Stage();
  const intent = createIntent(stage, { payment_method_types: ['cash'] });
  const call = stage.calls('confirm_payment_intent', {}, intent);
  const { cash } = networkCallOf(stage.world.state, call, settings.cashCodeMs);
  stage.advance(5 * minuteMs);
  stage.settle(call);
  const charge = stage.get('charge', stage.get('payment_intent', intent).latest_charge!);
  assert.equal(charge.expires_at_ms, cash!.expiresAtMs);
  stage.advance(settings.cashCodeMs - 5 * minuteMs);
  const { number } = cash!;
  assert.equal(stage.given('pay_cash', { number, amount }).status, 'failed', 'its time is up');
});

test('money for a charge whose time was up meanwhile opens a review', () => {
  const stage = new Stage();
  const { call, charge, intent } = scenes.accepted(stage);
  stage.advance(settings.cardPageMs);
  stage.given('expire_due', {}, charge);
  const second = openCharge(stage, intent);
  stage.settle(call!).expect({ events: ['review.opened'], changes: ['network_call removed', 'review'] });
  const [review] = stage.read('list_reviews').data;
  assert.deepEqual([review.reason, review.charge, review.amount_received], ['late_payment', charge, amount]);
  stage.given('complete_charge', {}, second);
  assert.equal(stage.get('payment_intent', intent).latest_charge, second);
});

test('a decline for a charge whose time was up meanwhile changes nothing', () => {
  const stage = new Stage();
  const { call, charge } = scenes.accepted(stage);
  stage.advance(settings.cardPageMs);
  stage.given('expire_due', {}, charge);
  stage.settle(call!, declinedByBank).expect({ events: [], changes: ['network_call removed'] });
});

for (const helper of ['complete_charge', 'fail_charge', 'expire_charge'] as const) {
  for (const [result, outcome] of Object.entries(all)) {
    test(`${helper} decides what the network has taken: its ${result} finds nothing to do`, () => {
      const stage = new Stage();
      const { call, charge } = scenes.accepted(stage);
      assert.ok(stage.when(helper, {}, charge).changes.includes('network_call removed'));
      stage.settle(call!, outcome).expect({ events: [], changes: [] });
    });
  }
}

test('a helper that completes with another amount decides nothing: the order stands', () => {
  const stage = new Stage();
  const { call, charge, intent } = scenes.accepted(stage);
  stage
    .when('complete_charge', { amount: 5 }, charge)
    .expect({ events: ['review.opened'], changes: ['review'] });
  stage.settle(call!);
  assert.equal(stage.get('payment_intent', intent).status, 'succeeded');
});

test('a refund is settled once', () => {
  for (const [first, outcome] of Object.entries(all)) {
    if (first === 'accepted') continue;
    for (const again of Object.values(all)) {
      const stage = new Stage();
      const { charge } = payByCard(stage);
      const [call] = stage.when('create_refund', { charge }).decision.networkCalls;
      stage.settle(call!, accepted).expect({ events: [], changes: ['network_call'] });
      stage.settle(call!, outcome);
      const after = stage.get('charge', charge);
      stage.settle(call!, again).expect({ events: [], changes: [] });
      assert.equal(stage.get('charge', charge), after);
    }
  }
});

test('two cash codes that are being issued at the same time differ', () => {
  const stage = new Stage();
  const [a, b] = [0, 1].map(() => createIntent(stage, { payment_method_types: ['cash'] }));
  for (const drawn of [1234567, 1234567, 7654321]) stage.world.draw(drawn, 10_000_000);
  const first = stage.calls('confirm_payment_intent', {}, a!);
  const second = stage.calls('confirm_payment_intent', {}, b!);
  assert.notEqual(first.cash_number, second.cash_number);
  stage.settle(second);
  stage.settle(first);
  const number = first.cash_number!;
  assert.equal(stage.given('pay_cash', { number, amount }).payment_intent, a);
});
