// Reviews: money that does not add up credits nothing, and an operator closes it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount, type SceneName, scenes } from './scenes.ts';
import { Stage, settings } from './stage.ts';

function pay(stage: Stage, charge: string, received: number) {
  const number = stage.get('charge', charge).cash_number!;
  return stage.when('pay_cash', { number, amount: received });
}

for (const received of [1, amount - 1, amount + 1]) {
  test(`cash for another amount: ${received}`, () => {
    const stage = new Stage();
    const scene = scenes.code(stage);
    const before = [stage.get('payment_intent', scene.intent), stage.get('charge', scene.charge)];
    pay(stage, scene.charge, received).expect({
      answer: { id: scene.charge, status: 'pending', paid: false },
      events: ['review.opened'],
      changes: ['review'],
    });
    const [review] = stage.read('list_reviews').data;
    assert.deepEqual(
      [review.reason, review.open, review.amount_expected, review.amount_received, review.closed_reason],
      ['amount_mismatch', true, amount, received, null],
    );
    const after = [stage.get('payment_intent', scene.intent), stage.get('charge', scene.charge)];
    assert.deepEqual(after, before, 'nothing is credited');
    pay(stage, scene.charge, amount);
    assert.equal(stage.get('payment_intent', scene.intent).status, 'succeeded', 'the code can still be paid');
  });
}

const ended: readonly (readonly [string, SceneName, (stage: Stage, charge: string) => void])[] = [
  ['that was paid already', 'paid_cash', () => {}],
  ['that has expired', 'code', (stage, charge) => stage.given('expire_charge', {}, charge)],
  [
    'whose payment was canceled',
    'code',
    (stage, charge) => stage.given('cancel_payment_intent', {}, stage.get('charge', charge).payment_intent),
  ],
];

for (const [what, from, end] of ended) {
  for (const received of [amount, amount + 5]) {
    test(`cash (${received}) for a code ${what}`, () => {
      const stage = new Stage();
      const scene = scenes[from](stage);
      end(stage, scene.charge);
      const before = stage.get('payment_intent', scene.intent);
      pay(stage, scene.charge, received).expect({ events: ['review.opened'], changes: ['review'] });
      const [review] = stage.read('list_reviews').data;
      assert.deepEqual([review.reason, review.amount_received], ['late_payment', received]);
      assert.equal(stage.get('payment_intent', scene.intent), before);
    });
  }
}

test('cash for a code whose time is up, before anybody has looked', () => {
  for (const received of [amount, 1]) {
    const stage = new Stage();
    const scene = scenes.code(stage);
    stage.advance(settings.cashCodeMs);
    pay(stage, scene.charge, received).expect({
      answer: { id: scene.charge, status: 'failed', paid: false },
      events: ['charge.failed', 'payment_intent.payment_failed', 'review.opened'],
      changes: ['charge failed', 'payment_intent requires_payment_method', 'review'],
    });
    const [review] = stage.read('list_reviews').data;
    assert.deepEqual([review.reason, review.amount_received], ['late_payment', received]);
  }
});

test('a helper that completes a card charge with another amount', () => {
  const stage = new Stage();
  const scene = scenes.open(stage);
  stage.when('complete_charge', { amount: 5 }, scene.charge).expect({
    answer: { status: 'pending' },
    events: ['review.opened'],
    changes: ['review'],
  });
  stage.given('complete_charge', { amount }, scene.charge);
  assert.equal(stage.get('payment_intent', scene.intent).status, 'succeeded');
});

test('a code is read as people write it, and belongs to one organization and mode', () => {
  const stage = new Stage();
  const scene = scenes.code(stage);
  const number = stage.get('charge', scene.charge).cash_number!;
  const written = number.replace(/(\d{4})(?=\d)/g, '$1 ');
  const refusal = ['resource_missing', 'number'] as const;
  for (const [of, asked, message] of [
    [stage.as({ org: 'org_other' }), number, 'resource_missing'],
    [stage.as({ livemode: true }), number, 'resource_missing.in_test'],
    [stage, '000000000000', 'resource_missing'],
  ] as const) {
    const { outcome } = of.when('pay_cash', { number: asked, amount }).expect({ refusal });
    assert.ok('refusal' in outcome);
    assert.equal(outcome.refusal.message, message, 'it says where the code is, to whom it belongs');
  }
  const { payment_method_details } = stage.given('pay_cash', { number: written, amount });
  assert.equal(payment_method_details.cash.number, number);
  assert.ok(payment_method_details.cash.agent);
});

for (const as of ['approved', 'refunded'] as const) {
  test(`closing as ${as}`, () => {
    const stage = new Stage();
    const scene = scenes.code(stage);
    pay(stage, scene.charge, 1);
    const [{ id }] = stage.read('list_reviews').data;
    const step = stage.when('close_review', { as }, id).expect({
      answer: { open: false, closed_reason: as },
      events: ['review.closed'],
      changes: ['review'],
    });
    assert.deepEqual(step.told, [stage.read('retrieve_review', {}, id)]);
    assert.equal(stage.get('payment_intent', scene.intent).amount_received, 0);
    stage.when('close_review', { as }, id).expect({ refusal: 'invalid_request' });
  });
}

test('closing one that is not there', () => {
  new Stage().when('close_review', { as: 'approved' }, 'prv_x').expect({ refusal: 'resource_missing' });
});
