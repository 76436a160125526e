// Given attempts at an endpoint, what is said of its last 24 hours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EndpointHealths } from '../../src/shard/endpoint-health.ts';

const hourMs = 3_600_000;
const startMs = 400_000 * hourMs;
const succeeded = { status: 200, failure: null, answer: '', duration_ms: 40 };
const failed = { status: 500, failure: 'answered 500', answer: 'no', duration_ms: 700 };

test('nothing is said of an endpoint without an attempt', () => {
  assert.equal(new EndpointHealths().of('we_1', startMs), null);
});

test('it fails from the first failure after a success, until the next success', () => {
  const health = new EndpointHealths();
  const add = (minutes: number, result: typeof succeeded | typeof failed) =>
    health.add('we_1', { ...result, at_ms: startMs + minutes * 60_000 });
  const now = () => health.of('we_1', startMs + hourMs - 1)!;
  add(0, succeeded);
  assert.deepEqual([now().failingSinceMs, now().lastStatus, now().lastFailure], [null, 200, null]);
  add(5, failed);
  add(10, { ...failed, status: null as never, failure: 'timed out after 10000 ms' });
  assert.equal(now().failingSinceMs, startMs + 5 * 60_000);
  assert.deepEqual([now().lastStatus, now().lastFailure], [null, 'timed out after 10000 ms']);
  assert.deepEqual([now().attempts, now().failed], [3, 2]);
  add(15, succeeded);
  assert.equal(now().failingSinceMs, null);
});

test('attempts count for 24 hours, by the hour, with what half of them took', () => {
  const health = new EndpointHealths();
  for (let hour = 0; hour < 30; hour++) {
    const atMs = startMs + hour * hourMs;
    health.add('we_1', { ...succeeded, at_ms: atMs });
    health.add('we_1', { ...succeeded, at_ms: atMs + 1, duration_ms: 45 });
    health.add('we_1', { ...failed, at_ms: atMs + 2, duration_ms: 60_000 });
  }
  const { hours, attempts, failed: bad, medianMs } = health.of('we_1', startMs + 29 * hourMs + 3)!;
  assert.deepEqual([hours.length, attempts, bad, medianMs], [24, 72, 24, 50]);
  assert.deepEqual(hours[0], { startMs: startMs + 6 * hourMs, attempts: 3, failed: 1 });
  const slow = new EndpointHealths();
  slow.add('we_1', { ...failed, at_ms: startMs, duration_ms: 60_000 });
  assert.equal(slow.of('we_1', startMs)!.medianMs, 10_000, 'more than the last bound is told as that');
  assert.equal(slow.of('we_1', startMs + 25 * hourMs)!.medianMs, null);
});

for (const [took, told] of [
  [25, 25],
  [26, 50],
  [99, 100],
  [101, 250],
  [251, 500],
  [1_000, 1_000],
  [1_001, 2_500],
  [5_000, 5_000],
  [5_001, 10_000],
] as const)
  test(`attempts that take ${took} ms are told as ${told}`, () => {
    const health = new EndpointHealths();
    health.add('we_1', { ...succeeded, at_ms: startMs, duration_ms: took });
    assert.equal(health.of('we_1', startMs)!.medianMs, told);
  });

test('each endpoint has its own; the one without an attempt for longest makes room', () => {
  const health = new EndpointHealths();
  for (let i = 0; i < 10_000; i++) health.add(`we_${i}`, { ...failed, at_ms: startMs });
  health.add('we_0', { ...succeeded, at_ms: startMs });
  health.add('we_new', { ...succeeded, at_ms: startMs });
  assert.deepEqual(
    ['we_0', 'we_1', 'we_2', 'we_new'].map((id) => health.of(id, startMs)?.attempts ?? null),
    [2, null, 1, 1],
  );
});
