// How often one payment can be tried: which charges count as a tried card, and what is refused at the limit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardsPerPaymentMax, chargesPerPaymentMax } from '../../src/contract/limits.ts';
import { methodsLeft } from '../../src/domain/charge-limits.ts';
import { createIntent, createSession, openCharge, typedCard } from './scenes.ts';
import { minuteMs, Stage } from './stage.ts';

const both = ['card', 'cash'];

function left(stage: Stage, intent: string): readonly string[] {
  return methodsLeft(stage.world.state, stage.get('payment_intent', intent));
}

/** The ways to end an open charge, and whether each counts as a tried card. */
const ends: Readonly<
  Record<string, readonly [end: (stage: Stage, charge: string) => void, counts: boolean]>
> = {
  'declined by the helper': [(stage, charge) => stage.given('fail_charge', {}, charge), true],
  'declined by the bank': [
    (stage, charge) => {
      const call = stage.calls('submit_card', typedCard, charge);
      stage.settle(call, { result: 'declined', decline_code: 'lost_card' });
    },
    true,
  ],
  'its challenge failed': [
    (stage, charge) => {
      stage.given('submit_card', { ...typedCard, challenge: true }, charge);
      stage.given('answer_challenge', { passed: false }, charge);
    },
    true,
  ],
  'left at its challenge': [
    (stage, charge) => {
      stage.given('submit_card', { ...typedCard, challenge: true }, charge);
      stage.given('abandon_charge', {}, charge);
    },
    true,
  ],
  'left without a card': [(stage, charge) => stage.given('abandon_charge', {}, charge), false],
  'expired without a card': [
    (stage, charge) => {
      stage.advance(30 * minuteMs);
      stage.given('expire_due', {}, charge);
    },
    false,
  ],
};

for (const [how, [end, counts]] of Object.entries(ends)) {
  test(`charges that were ${how} ${counts ? 'count' : 'do not count'} as cards`, () => {
    const stage = new Stage();
    const { intent, session } = createSession(stage);
    for (let tried = 0; tried < cardsPerPaymentMax; tried++) {
      assert.deepEqual(left(stage, intent), both);
      end(stage, openCharge(stage, intent));
    }
    assert.deepEqual(left(stage, intent), counts ? ['cash'] : both);
    const byCard = { payment_method_type: 'card' };
    const again = stage.when('confirm_payment_intent', byCard, intent);
    if (counts) again.expect({ refusal: ['payment_intent_unexpected_state', 'payment_method_type'] });
    else assert.equal(again.code, 'waits');
    if (!counts) return;
    stage
      .when('choose_method', { method: 'card' }, session)
      .expect({ refusal: 'payment_intent_unexpected_state' });
    const cash = openCharge(stage, intent, 'cash');
    stage.given('complete_charge', {}, cash);
    assert.equal(stage.get('payment_intent', intent).status, 'succeeded');
  });
}

test('the last card that may be tried can pay, and another payment has its own count', () => {
  const stage = new Stage();
  const [intent, other] = [createIntent(stage), createIntent(stage)];
  for (let tried = 1; tried < cardsPerPaymentMax; tried++) {
    stage.given('fail_charge', {}, openCharge(stage, intent));
  }
  const last = openCharge(stage, intent);
  assert.deepEqual(left(stage, other), ['card']);
  stage.settle(stage.calls('submit_card', typedCard, last));
  assert.equal(stage.get('payment_intent', intent).status, 'succeeded');
});

test('charges of every kind have a limit, too', () => {
  const stage = new Stage();
  const { intent } = createSession(stage);
  for (let made = 0; made < chargesPerPaymentMax; made++) {
    assert.deepEqual(left(stage, intent), both);
    stage.given('abandon_charge', {}, openCharge(stage, intent, made % 2 === 0 ? 'cash' : 'card'));
  }
  assert.deepEqual(left(stage, intent), []);
  for (const method of both) {
    const params = { payment_method_type: method };
    stage
      .when('confirm_payment_intent', params, intent)
      .expect({ refusal: 'payment_intent_unexpected_state' });
  }
  stage.given('cancel_payment_intent', {}, intent);
});
