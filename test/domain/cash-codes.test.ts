// Cash codes: what happens when chance finds none that is free, and when one can be issued again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkUnavailable } from '../../src/contract/errors/table.ts';
import { faultsOf } from '../../src/domain/invariants.ts';
import type { NetworkCallRecord } from '../../src/domain/record.ts';
import { amount, createIntent, openCharge } from './scenes.ts';
import { hourMs, Stage, settings } from './stage.ts';

const drawn = 1234567;
const triesMax = 100;
const dayMs = 24 * hourMs;
const money = { agent: null, card: null, isHeld: false, currency: 'mad', reference: 'A-1' };

function draw(stage: Stage, times: number): void {
  for (let i = 0; i < times; i++) stage.world.draw(drawn, 10 ** 7);
}

function cashIntent(stage: Stage): string {
  return createIntent(stage, { payment_method_types: ['cash'] });
}

/** A charge that has the code which the next draws give. */
function chargeWithCode(stage: Stage): string {
  draw(stage, 1);
  return openCharge(stage, cashIntent(stage), 'cash');
}

test('a request is told to try again when chance finds no free code, and another time it has one', () => {
  const stage = new Stage();
  chargeWithCode(stage);
  const intent = cashIntent(stage);
  draw(stage, triesMax);
  const { outcome } = stage.when('confirm_payment_intent', {}, intent);
  assert.deepEqual(outcome, { refusal: networkUnavailable });
  draw(stage, triesMax - 1);
  assert.equal(stage.when('confirm_payment_intent', {}, intent).code, 'waits');
});

/** What becomes of the code's first charge, and whether its code is issued again. */
const rows: readonly (readonly [name: string, isIssued: boolean, run: (stage: Stage, id: string) => void])[] =
  [
    ['expired unpaid a month ago', true, (stage, id) => end(stage, id, 30 * dayMs)],
    ['expired unpaid less than a month ago', false, (stage, id) => end(stage, id, 30 * dayMs - 1)],
    ['is pending', false, () => {}],
    [
      'was paid long ago',
      false,
      (stage, id) => {
        stage.given('complete_charge', {}, id);
        stage.advance(400 * dayMs);
      },
    ],
    [
      'had money reported after its end, long ago',
      false,
      (stage, id) => {
        end(stage, id, 0);
        stage.given('receive_money', { ...money, amount }, id);
        stage.advance(400 * dayMs);
      },
    ],
  ];

function end(stage: Stage, charge: string, passedMs: number): void {
  stage.advance(settings.cashCodeMs);
  stage.given('expire_due', {}, charge);
  stage.advance(passedMs);
}

for (const [name, isIssued, run] of rows) {
  test(`the code of a charge that ${name} is ${isIssued ? '' : 'not '}issued again`, () => {
    const stage = new Stage();
    const first = chargeWithCode(stage);
    run(stage, first);
    const { cash_number: number } = stage.get('charge', first);
    const intent = cashIntent(stage);
    draw(stage, 1);
    const call: NetworkCallRecord = stage.calls('confirm_payment_intent', {}, intent);
    assert.equal(call.cash_number === number, isIssued);
  });
}

test('money that comes for a code that was issued again is that of its newer charge', () => {
  const stage = new Stage();
  const older = chargeWithCode(stage);
  end(stage, older, 30 * dayMs);
  const newer = chargeWithCode(stage);
  const { cash_number: number } = stage.get('charge', newer);
  assert.equal(stage.get('charge', older).cash_number, number);
  assert.equal(stage.given('pay_cash', { number, amount }).id, newer);
  assert.equal(stage.get('charge', newer).status, 'succeeded');
  for (const id of [older, newer]) assert.deepEqual(faultsOf(stage.get('charge', id), stage.world.state), []);
});

test('a code that is not issued yet can not be paid, and is not said to be one of the other mode', () => {
  const stage = new Stage();
  const { cash_number: number }: NetworkCallRecord = stage.calls(
    'confirm_payment_intent',
    {},
    cashIntent(stage),
  );
  const { outcome } = stage
    .when('pay_cash', { number, amount })
    .expect({ refusal: ['resource_missing', 'number'] });
  assert.ok('refusal' in outcome);
  assert.equal(outcome.refusal.message, 'resource_missing');
});

test('a code of test mode is issued again in live mode', () => {
  const stage = new Stage();
  end(stage, chargeWithCode(stage), 30 * dayMs);
  const live = stage.as({ livemode: true });
  const { cash_number: number } = live.get('charge', chargeWithCode(live));
  stage.when('pay_cash', { number, amount }).expect({ refusal: ['resource_missing', 'number'] });
});
