// What is kept of attempts: a result always, the answers of the last failed attempts of a delivery, and within the quota of
// the organization in a mode.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptsPerTrim } from '../../src/domain/attempts.ts';
import { recordsOf } from '../../src/domain/find.ts';
import { attemptIndex, attemptSerialIndex, scopeOf } from '../../src/domain/indexes.ts';
import { createIntent, nextSerial } from './scenes.ts';
import { checkpoint, Stage, settings } from './stage.ts';

/** A delivery to an endpoint that gets all events. */
function newDelivery(stage: Stage): string {
  createIntent(stage);
  return stage.world.log.at(-1)!.find(({ kind }) => kind === 'delivery')!.id;
}

function newStage(stage = new Stage()): Stage {
  stage.given('create_webhook_endpoint', { url: 'https://a.test', enabled_events: ['*'] });
  return stage;
}

/** Records the next attempt as the shard does. */
function attempt(stage: Stage, delivery: string, status: number, answer = `answer ${status}`) {
  const { attempt_count: number } = stage.get('delivery', delivery);
  const failure = status === 200 ? null : `answered ${status}`;
  const result = { at_ms: stage.nowMs, duration_ms: 12, status, failure, answer };
  const serial = nextSerial(stage);
  const step = stage.when('record_attempt', { delivery, number, serial, first: false, result });
  if (serial % attemptsPerTrim === 0) stage.given('trim_attempts', { serial }, delivery);
  return step;
}

const answers = (stage: Stage, delivery: string) =>
  [...recordsOf(stage.world.state, 'attempt', attemptIndex(delivery), { descending: false })].map(
    ({ status, answer }) => [status, answer],
  );

/** The attempts of the organization, and how many of their answers are kept. */
function kept(stage: Stage): { attempts: number; answers: number } {
  const { org, livemode } = stage.who;
  const index = attemptSerialIndex(scopeOf(org, livemode));
  const attempts = [...recordsOf(stage.world.state, 'attempt', index, { descending: false })];
  return { attempts: attempts.length, answers: attempts.filter(({ answer }) => answer !== null).length };
}

test('a first attempt that succeeds is told by its delivery, without a record and without the answer', () => {
  const stage = newStage();
  const delivery = newDelivery(stage);
  attempt(stage, delivery, 200).expect({ changes: ['delivery succeeded'] });
  const { first_at_ms, first_duration_ms, first_status } = stage.get('delivery', delivery);
  assert.deepEqual([first_at_ms, first_duration_ms, first_status], [stage.nowMs, 12, 200]);
  assert.deepEqual(kept(stage), { attempts: 0, answers: 0 });
});

test('answers are kept of the last two failed attempts of a delivery, and of none that succeeded', () => {
  const stage = newStage();
  const delivery = newDelivery(stage);
  for (const status of [500, 501, 502]) attempt(stage, delivery, status);
  assert.deepEqual(answers(stage, delivery), [
    [500, null],
    [501, 'answer 501'],
    [502, 'answer 502'],
  ]);
  checkpoint(stage.world);
  stage.given('resend_delivery', { delivery });
  attempt(stage, delivery, 503, '');
  attempt(stage, delivery, 200).expect({ changes: ['attempt 200', 'delivery pending'] });
  attempt(stage, delivery, 504);
  assert.deepEqual(answers(stage, delivery), [
    [500, null],
    [501, null],
    [502, 'answer 502'],
    [503, ''],
    [200, null],
    [504, 'answer 504'],
  ]);
});

test('beyond the quota of an organization in a mode the oldest answers go, and then the oldest attempts', () => {
  const stage = newStage();
  const { attemptsKeptMax, answersKeptMax } = settings;
  const other = newStage(stage.as({ org: 'org_other0000000000000000000' }));
  const theirs = newDelivery(other);
  attempt(other, theirs, 500);
  const deliveries: string[] = [];
  for (let i = 0; i < attemptsKeptMax + 2 * attemptsPerTrim; i++) {
    deliveries.push(newDelivery(stage));
    attempt(stage, deliveries.at(-1)!, 500);
    const { attempts, answers } = kept(stage);
    assert.ok(attempts < attemptsKeptMax + attemptsPerTrim && answers < answersKeptMax + attemptsPerTrim);
    if (i % 50 === 0) checkpoint(stage.world);
  }
  assert.deepEqual(kept(stage), { attempts: attemptsKeptMax, answers: answersKeptMax });
  assert.deepEqual(answers(stage, deliveries.at(-answersKeptMax)!), [[500, 'answer 500']]);
  assert.deepEqual(answers(stage, deliveries.at(-answersKeptMax - 1)!), [[500, null]]);
  assert.deepEqual(answers(stage, deliveries.at(-attemptsKeptMax)!), [[500, null]]);
  assert.deepEqual(answers(stage, deliveries.at(-attemptsKeptMax - 1)!), []);
  assert.equal(stage.get('delivery', deliveries[0]!).attempt_count, 1, 'that there was one is known');
  assert.deepEqual(answers(other, theirs), [[500, 'answer 500']], 'others keep theirs');
});
