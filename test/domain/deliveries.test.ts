// Deliveries: the schedule of attempts, what ends it, resending, and retention.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idFloor } from '../../src/core/ids.ts';
import { firstSuccess } from '../../src/domain/attempts.ts';
import { dueFirstMs, resendFailedAtMs } from '../../src/domain/deliveries.ts';
import { recordsOf } from '../../src/domain/find.ts';
import { attemptIndex, endedIndex, timeKey } from '../../src/domain/indexes.ts';
import type { AttemptResult, DeliveryRecord } from '../../src/domain/record.ts';
import { createIntent, deliver, nextSerial } from './scenes.ts';
import { checkpoint, hourMs, minuteMs, Stage, settings } from './stage.ts';

const result = (stage: Stage, status: number | null): AttemptResult => ({
  at_ms: stage.nowMs,
  duration_ms: 12,
  status,
  failure: status === 200 ? null : `status ${status}`,
  answer: 'ok',
});

/** Records the next attempt, which is leased with the delivery as it is now unless told otherwise. Returns the delivery. */
function attempt(
  stage: Stage,
  delivery: string,
  status: number | null,
  first = stage.get('delivery', delivery).due_at_ms === dueFirstMs,
): DeliveryRecord {
  const number = stage.get('delivery', delivery).attempt_count;
  stage.when('record_attempt', {
    ...{ delivery, number, first, serial: nextSerial(stage) },
    result: result(stage, status),
  });
  return stage.get('delivery', delivery);
}

/** The attempts of a delivery that are listed, oldest first. */
function attemptsOf(stage: Stage, delivery: string): AttemptResult[] {
  const first = firstSuccess(stage.get('delivery', delivery));
  const written = recordsOf(stage.world.state, 'attempt', attemptIndex(delivery), { descending: false });
  return [...(first === null ? [] : [first]), ...written];
}

/** The statuses that the attempts of a delivery got, oldest first. */
const statuses = (stage: Stage, delivery: string) => attemptsOf(stage, delivery).map(({ status }) => status);

const pending = (stage: Stage): number => stage.read('list_events', { limit: 1 }).data[0].pending_webhooks;

test('a success ends it', () => {
  const stage = new Stage();
  const { delivery } = deliver(stage);
  assert.equal(pending(stage), 1);
  const { status, due_at_ms, tries } = attempt(stage, delivery, 200);
  assert.deepEqual([status, due_at_ms, tries], ['succeeded', null, 1]);
  assert.deepEqual(attemptsOf(stage, delivery), [{ ...result(stage, 200), answer: null }]);
  assert.equal(pending(stage), 0);
});

/** The smallest, middle and largest random number, and the factor of the wait that follows from it. */
const jitters = [
  [0, 0.9],
  [1000, 1],
  [2000, 1.1],
] as const;

for (const [drawn, factor] of jitters) {
  test(`failures follow the schedule, times ${factor}, then it has failed`, () => {
    const stage = new Stage();
    const { delivery } = deliver(stage);
    for (const [i, waitMs] of settings.webhookRetryMs.entries()) {
      stage.world.draw(drawn, 2001);
      const { status, due_at_ms, tries } = attempt(stage, delivery, i === 0 ? null : 500);
      assert.deepEqual([status, tries], ['pending', i + 1]);
      assert.equal(due_at_ms, Math.round(stage.nowMs + waitMs * factor));
      stage.advance(due_at_ms! - stage.nowMs);
    }
    const last = attempt(stage, delivery, 301);
    assert.deepEqual([last.status, last.due_at_ms, last.attempt_count], ['failed', null, 4]);
    assert.deepEqual(statuses(stage, delivery), [null, 500, 500, 301]);
    assert.equal(pending(stage), 0);
  });
}

test('the result of an attempt that was under way when the delivery ended is only listed', () => {
  const stage = new Stage();
  const { delivery, endpoint } = deliver(stage);
  stage.given('delete_webhook_endpoint', {}, endpoint);
  stage.given('drain_endpoint', {}, endpoint);
  const { status, due_at_ms } = attempt(stage, delivery, 200);
  assert.deepEqual([status, due_at_ms, statuses(stage, delivery)], ['ended', null, [200]]);
});

test('an attempt that fails once its endpoint is deleted is the last one', () => {
  const stage = new Stage();
  const { delivery, endpoint } = deliver(stage);
  stage.given('delete_webhook_endpoint', {}, endpoint);
  const { status, due_at_ms } = attempt(stage, delivery, 500);
  assert.deepEqual([status, due_at_ms], ['ended', null]);
});

test('a report that comes twice, or out of turn, is recorded once', () => {
  const stage = new Stage();
  const { delivery } = deliver(stage);
  const report = (number: number) =>
    stage.when('record_attempt', { delivery, number, serial: 1, first: false, result: result(stage, 500) });
  report(1).expect({ changes: [] });
  report(0).expect({ changes: ['attempt 500', 'delivery pending'] });
  const after = stage.get('delivery', delivery);
  report(0).expect({ changes: [] });
  assert.equal(stage.get('delivery', delivery), after);
});

test('first successes are recorded together, each as it would be alone', () => {
  const stage = new Stage();
  const { delivery } = deliver(stage);
  const created = stage.when('create_payment_intent', { amount: 100, currency: 'mad' }).decision.changes;
  const second = created.find(({ kind }) => kind === 'delivery')!.id;
  const successOf = (id: string) => ({ delivery: id, number: 0, first: false, result: result(stage, 200) });
  const reports = [delivery, second, delivery, 'whd_x'].map(successOf);
  const step = stage.when('record_successes', { reports });
  step.expect({ changes: ['delivery succeeded', 'delivery succeeded'] });
  assert.deepEqual(step.decision.outcome, { result: ['succeeded', 'succeeded', null, null] });
  for (const id of [delivery, second])
    assert.deepEqual(attemptsOf(stage, id), [{ ...result(stage, 200), answer: null }]);
  stage.when('record_successes', { reports }).expect({ changes: [] });
  const failed = { ...successOf(second), result: result(stage, 500) };
  assert.throws(() => stage.when('record_successes', { reports: [failed] }), /none of them becomes a record/);
});

test('the result for a delivery that is gone', () => {
  const stage = new Stage();
  const params = { delivery: 'whd_x', number: 0, serial: 1, first: false, result: result(stage, 200) };
  stage.when('record_attempt', params).expect({ changes: [] });
});

for (const status of [200, 500]) {
  test(`sent again after ${status}: due before all others, from the start of the schedule`, () => {
    const stage = new Stage();
    const { delivery } = deliver(stage);
    for (let i = 0; i < 4; i++) attempt(stage, delivery, status);
    stage.advance(hourMs);
    stage
      .when('resend_delivery', { delivery })
      .expect({ changes: ['webhook_endpoint enabled', 'delivery pending'] });
    const { due_at_ms, tries, attempt_count } = stage.get('delivery', delivery);
    assert.deepEqual([due_at_ms, tries, attempt_count], [0, 0, 4]);
    assert.equal(attempt(stage, delivery, 500).status, 'pending');
    assert.equal(attempt(stage, delivery, 200).status, 'succeeded');
  });
}

for (const status of [200, 500]) {
  test(`sent again during an attempt: it leaves again, whatever comes of that one (${status})`, () => {
    const stage = new Stage();
    const { delivery } = deliver(stage);
    stage.given('resend_delivery', { delivery });
    const during = attempt(stage, delivery, status, false);
    assert.deepEqual([during.status, during.due_at_ms, during.tries], ['pending', 0, 0]);
    assert.equal(attempt(stage, delivery, 200).status, 'succeeded');
    assert.deepEqual(statuses(stage, delivery), [status, 200]);
  });
}

test('sending again is refused while the endpoint is disabled or gone, and says which', () => {
  const stage = new Stage();
  const { delivery, endpoint } = deliver(stage);
  const resend = () => {
    const { outcome } = stage.when('resend_delivery', { delivery }).expect({ refusal: 'invalid_request' });
    return 'refusal' in outcome && outcome.refusal.values!.status;
  };
  stage.given('update_webhook_endpoint', { disabled: true }, endpoint);
  assert.equal(resend(), 'disabled');
  assert.equal(stage.get('delivery', delivery).status, 'pending', 'it waits');
  stage.given('update_webhook_endpoint', { disabled: false }, endpoint);
  stage.given('resend_delivery', { delivery });
  stage.given('delete_webhook_endpoint', {}, endpoint);
  assert.equal(resend(), 'deleted');
  stage.when('resend_delivery', { delivery: 'whd_x' }).expect({ refusal: 'resource_missing' });
});

test('the failed deliveries of an endpoint are sent again, a hundred at a time, behind those that are due', () => {
  const stage = new Stage();
  const { endpoint, delivery: waiting } = deliver(stage);
  const failed: string[] = [];
  for (let i = 0; i < 102; i++) {
    createIntent(stage);
    const { id } = stage.world.log.at(-1)!.find(({ kind }) => kind === 'delivery')!;
    for (let i = 0; i < 4; i++) attempt(stage, id, 500);
    failed.push(id);
  }
  const { endpoint: other } = deliver(stage);
  stage.given('delete_webhook_endpoint', {}, other);
  createIntent(stage);
  const later = stage.world.log.at(-1)!.find(({ kind }) => kind === 'delivery')!.id;
  const due = stage.get('delivery', waiting).due_at_ms!;
  stage.advance(hourMs);
  const resend = (after?: string) => stage.when('resend_failed', { after }, endpoint).answer;
  const first = resend();
  assert.deepEqual(first, { resent: 100, after: failed[99] });
  const { status, due_at_ms, tries, attempt_count } = stage.get('delivery', failed[0]!);
  assert.deepEqual([status, due_at_ms, tries, attempt_count], ['pending', stage.nowMs, 0, 4]);
  assert.equal(stage.get('delivery', waiting).due_at_ms, due);
  assert.equal(stage.get('delivery', failed[100]!).status, 'failed');
  stage.advance(1000);
  for (let i = 0; i < 4; i++) attempt(stage, later, 500);
  assert.deepEqual(resend(first.after), { resent: 2, after: null }, 'what had failed by then');
  assert.equal(stage.get('delivery', later).status, 'failed');
});

test('all that failed is sent again once an hour, also after a restart, and no more than what failed since', () => {
  const stage = new Stage();
  const { endpoint, delivery } = deliver(stage);
  const press = () => stage.when('resend_failed', {}, endpoint);
  assert.deepEqual(press().answer, { resent: 0, after: null });
  for (let i = 0; i < 4; i++) attempt(stage, delivery, 500);
  assert.deepEqual(press().answer, { resent: 1, after: null }, 'one that had nothing to send does not count');
  for (let i = 0; i < 4; i++) attempt(stage, delivery, 500);
  stage.advance(20 * minuteMs + 1);
  checkpoint(stage.world);
  const { outcome } = press().expect({ refusal: 'rate_limit_exceeded' });
  assert.ok('refusal' in outcome);
  assert.deepEqual(outcome.refusal.values, { every: 60, wait: 40 });
  assert.equal(outcome.refusal.retryAfterSeconds, 40 * 60);
  stage.advance(40 * minuteMs - 1);
  createIntent(stage);
  assert.deepEqual(press().answer, { resent: 1, after: null });
  press().expect({ refusal: 'rate_limit_exceeded' });
});

test('of those that failed, the next hundred follow although the first have no event any more', () => {
  const stage = new Stage();
  const { endpoint, delivery } = deliver(stage);
  assert.equal(resendFailedAtMs(stage.get('webhook_endpoint', endpoint)), 0);
  const failed = [delivery];
  for (let i = 0; i < 100; i++) {
    if (failed.length === 100) stage.advance(1000);
    createIntent(stage);
    failed.push(stage.world.log.at(-1)!.find(({ kind }) => kind === 'delivery')!.id);
  }
  for (const id of failed) for (let i = 0; i < 4; i++) attempt(stage, id, 500);
  stage.given('prune_events', { before: idFloor('evt', stage.nowMs) });
  const resend = (after?: string) => stage.when('resend_failed', { after }, endpoint).answer;
  assert.deepEqual(resend(), { resent: 0, after: failed[99] });
  assert(
    resendFailedAtMs(stage.get('webhook_endpoint', endpoint)) > stage.nowMs,
    'what follows may send them again',
  );
  assert.deepEqual(resend(failed[99]), { resent: 1, after: null });
  assert.equal(stage.get('delivery', failed[100]!).status, 'pending');
});

test('one delivery is resent 35 times at once and then every two seconds; samples count as well', () => {
  const stage = new Stage();
  const { endpoint, delivery } = deliver(stage);
  const another = stage.as({ org: 'org_other0000000000000000000' });
  const { delivery: ofAnother } = deliver(another);
  const resend = () => stage.when('resend_delivery', { delivery });
  const sample = () => stage.when('send_sample', { type: 'charge.failed' }, endpoint);
  for (let i = 0; i < 34; i++) resend().expect({ changes: ['delivery pending', 'webhook_endpoint enabled'] });
  sample();
  for (const send of [resend, sample]) {
    const { outcome, decision } = send().expect({ refusal: 'rate_limit_exceeded' });
    assert.deepEqual('refusal' in outcome && outcome.refusal.values, { limit: 30, wait: 2 });
    assert.deepEqual(decision.changes, []);
  }
  stage.advance(1999);
  resend().expect({ refusal: 'rate_limit_exceeded' });
  stage.advance(1);
  resend();
  another.given('resend_delivery', { delivery: ofAnother });
});

test('no failed delivery is sent again to an endpoint that is disabled or missing, nor one whose event is gone', () => {
  const stage = new Stage();
  const { endpoint, delivery } = deliver(stage);
  for (let i = 0; i < 4; i++) attempt(stage, delivery, 500);
  stage.given('update_webhook_endpoint', { disabled: true }, endpoint);
  stage.when('resend_failed', {}, endpoint).expect({ refusal: 'invalid_request' });
  stage.given('update_webhook_endpoint', { disabled: false }, endpoint);
  stage.advance(hourMs);
  stage.given('prune_events', { before: idFloor('evt', stage.nowMs) });
  assert.deepEqual(stage.when('resend_failed', {}, endpoint).answer, { resent: 0, after: null });
  assert.equal(stage.get('delivery', delivery).status, 'failed');
  stage.when('resend_failed', {}, 'we_x').expect({ refusal: 'resource_missing' });
});

/** The deliveries that ended before a moment, oldest first. */
const endedBefore = (stage: Stage, ms: number) =>
  [...stage.world.state.scan(endedIndex, { before: timeKey(ms), descending: false })].map(({ id }) => id);

test('retention removes deliveries with their attempts, so many records at a time', () => {
  const stage = new Stage();
  const ids = [200, 500, 200].map((status) => {
    const { delivery } = deliver(stage);
    attempt(stage, delivery, status);
    if (status === 500) for (let i = 0; i < 3; i++) attempt(stage, delivery, status);
    return delivery;
  });
  const prune = (deliveries: readonly string[], limit: number) =>
    stage.when('prune_deliveries', { deliveries, limit });
  const [first, tried, last] = ids as [string, string, string];
  assert.deepEqual(prune(ids, 4).changes, [...Array(3).fill('attempt removed'), 'delivery removed']);
  assert.deepEqual(attemptsOf(stage, tried).length, 1, 'the newest one');
  assert.equal(stage.world.state.get('delivery', first), undefined);
  const step = prune([tried, last], 2);
  assert.deepEqual([step.changes, step.answer], [['attempt removed', 'delivery removed'], { removed: 2 }]);
  assert.deepEqual(prune([last], 2).answer, { removed: 1 });
  for (const id of ids) assert.equal(stage.world.state.get('delivery', id), undefined);
});

test('retention counts from when a delivery was over last: one that was sent again keeps its attempts as long', () => {
  const stage = new Stage();
  const { delivery, endpoint } = deliver(stage);
  const endedAtMs = () => stage.get('delivery', delivery).ended_at_ms;
  const old = () => endedBefore(stage, stage.nowMs - hourMs);
  assert.equal(endedAtMs(), null);
  attempt(stage, delivery, 200);
  assert.equal(endedAtMs(), stage.nowMs);
  stage.advance(hourMs);
  assert.deepEqual(old(), []);
  stage.given('resend_delivery', { delivery });
  assert.equal(endedAtMs(), null);
  stage.advance(1000);
  assert.deepEqual(old(), []);
  for (let i = 0; i < 4; i++) attempt(stage, delivery, 500);
  assert.equal(endedAtMs(), stage.nowMs);
  stage.advance(hourMs);
  assert.deepEqual(old(), []);
  stage.given('resend_delivery', { delivery });
  stage.given('delete_webhook_endpoint', {}, endpoint);
  stage.given('drain_endpoint', {}, endpoint);
  assert.deepEqual([stage.get('delivery', delivery).status, endedAtMs()], ['ended', stage.nowMs]);
  stage.advance(hourMs + 1);
  assert.deepEqual(old(), [delivery]);
});

test('retention removes old events, some at a time, and ends the deliveries that still wait with them', () => {
  const stage = new Stage();
  const { delivery, endpoint } = deliver(stage);
  stage.given('update_webhook_endpoint', { disabled: true }, endpoint);
  for (let i = 0; i < 128; i++) createIntent(stage);
  const events = () => stage.read('list_events', { limit: 100 }).data.map(({ id }: { id: string }) => id);
  const [newest] = events();
  const other = stage.as({ org: 'org_other0000000000000000000' });
  createIntent(other);
  stage.advance(hourMs);
  createIntent(stage);
  const [kept] = events();
  const before = idFloor('evt', stage.nowMs);
  const prune = (after?: string) => stage.when('prune_events', { after, before });
  const step = prune();
  const { after } = step.answer;
  assert.equal(after, step.decision.changes.findLast(({ kind }) => kind === 'event')?.id);
  assert.deepEqual([step.changes, step.decision.changes.length], [['delivery ended'], 128]);
  assert.ok(step.decision.changes.every((change) => change.kind !== 'event' || change.object_json === ''));
  assert.deepEqual(prune(after).answer, { after: null });
  prune().expect({ changes: [] });
  assert.deepEqual(events(), [kept]);
  assert.equal(stage.read('retrieve_event', {}, newest).code, 'resource_missing');
  assert.equal(other.read('list_events').data.length, 1);
  assert.equal(stage.get('delivery', delivery).status, 'ended');
  stage.given('update_webhook_endpoint', { disabled: false }, endpoint);
  stage.when('resend_delivery', { delivery }).expect({ refusal: 'resource_missing' });
});
