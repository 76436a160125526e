// A charge or session whose time is up counts as expired, although the service has not expired it yet.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyCommand } from '../../src/domain/command.ts';
import { openCharge, type Scene, type SceneName, scenes, typedCard } from './scenes.ts';
import { minuteMs, Stage } from './stage.ts';

const state = 'payment_intent_unexpected_state';
const charge = 'charge_unexpected_state';

const rows: readonly (readonly [SceneName, AnyCommand, object, keyof Scene, code: string])[] = [
  ['open', 'submit_card', typedCard, 'charge', state],
  ['open', 'submit_card', { ...typedCard, challenge: true }, 'charge', state],
  ['challenge', 'answer_challenge', { passed: true }, 'charge', state],
  ['challenge', 'answer_challenge', { passed: false }, 'charge', state],
  ['challenge', 'abandon_charge', {}, 'charge', state],
  ['code', 'abandon_charge', {}, 'charge', state],
  ['open', 'complete_charge', {}, 'charge', charge],
  ['open', 'complete_charge', { amount: 5 }, 'charge', charge],
  ['accepted', 'complete_charge', {}, 'charge', charge],
  ['authorizing', 'complete_charge', {}, 'charge', 'payment_intent_busy'],
  ['open', 'fail_charge', {}, 'charge', charge],
  ['code', 'expire_charge', {}, 'charge', charge],
  ['fresh', 'choose_method', { method: 'card' }, 'session', 'invalid_request'],
];

for (const [from, command, params, of, code] of rows) {
  test(`${from}, past its time and not ended yet: ${command} comes to ${code}`, () => {
    const stage = new Stage();
    const scene = scenes[from](stage) as Scene;
    const ends =
      of === 'session' ? stage.get('checkout_session', scene.session) : stage.get('charge', scene.charge);
    stage.advance(ends.expires_at_ms - stage.nowMs);
    assert.equal(stage.when(command, params, scene[of] as string).code, code);
  });
}

test('a charge within a session that is past its end can not be paid', () => {
  const stage = new Stage();
  const scene = scenes.fresh(stage);
  stage.advance(24 * 60 * minuteMs - minuteMs);
  const late = openCharge(stage, scene.intent);
  stage.advance(minuteMs);
  stage.when('submit_card', typedCard, late).expect({ refusal: state });
  stage.when('complete_charge', {}, late).expect({ refusal: charge });
});
