// The two times of the service, from clocks that the test sets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { believedAfterMs, jumpMsMin, ServiceClock, type StoredClock } from '../../src/core/service-clock.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';

const startMs = Date.UTC(2026, 10, 2, 12);
const hourMs = 3_600_000;

function start(clock: ManualClock, stored: StoredClock | null = null, told: string[] = []): ServiceClock {
  return new ServiceClock(clock, stored, {
    jumped: (byMs) => told.push(`jumped ${byMs}`),
    followed: (byMs) => told.push(`followed ${byMs}`),
  });
}

/** What has passed since the start in service time, and what the date is from the start. */
function passed(service: ServiceClock): [serviceMs: number, wallMs: number] {
  const { serviceMs, nowMs } = service.read();
  return [serviceMs - startMs, nowMs - startMs];
}

test('a step of a few seconds is followed at once, by dates alone', () => {
  const clock = createManualClock(startMs);
  const told: string[] = [];
  const service = start(clock, null, told);
  clock.set(startMs + jumpMsMin);
  assert.deepEqual(passed(service), [0, jumpMsMin]);
  clock.set(startMs);
  assert.deepEqual([passed(service), told], [[0, 0], []]);
});

for (const byMs of [hourMs, -hourMs]) {
  test(`a step by ${byMs} ms is told once, and followed when it has stood`, () => {
    const clock = createManualClock(startMs);
    const told: string[] = [];
    const service = start(clock, null, told);
    clock.set(startMs + byMs);
    assert.deepEqual([passed(service), service.offMs], [[0, 0], byMs]);
    clock.advance(believedAfterMs - 1);
    assert.deepEqual(passed(service), [believedAfterMs - 1, believedAfterMs - 1]);
    assert.deepEqual(told, [`jumped ${byMs}`]);
    clock.advance(1);
    assert.deepEqual(passed(service), [believedAfterMs, believedAfterMs + byMs]);
    assert.deepEqual([told, service.offMs], [[`jumped ${byMs}`, `followed ${byMs}`], 0]);
  });
}

test('a step that is followed by another has to stand anew', () => {
  const clock = createManualClock(startMs);
  const service = start(clock);
  clock.set(startMs + hourMs);
  service.read();
  clock.advance(believedAfterMs - 1);
  clock.set(clock.now() + hourMs);
  service.read();
  clock.advance(1);
  assert.deepEqual(passed(service), [believedAfterMs, believedAfterMs]);
});

test('a downtime that a clock told which is corrected soon did not pass, as far as it is corrected', () => {
  const clock = createManualClock(startMs);
  const stored = start(clock).stored();
  clock.reboot(3 * hourMs);
  const service = start(clock, stored);
  assert.deepEqual(passed(service), [0, 3 * hourMs]);
  clock.set(startMs + hourMs);
  assert.deepEqual(passed(service), [0, hourMs]);
  clock.advance(believedAfterMs);
  assert.deepEqual(passed(service), [hourMs + believedAfterMs, hourMs + believedAfterMs]);
});

test('a machine whose clock starts in the past is no earlier than it was', () => {
  const clock = createManualClock(startMs);
  const stored = start(clock).stored();
  clock.reboot(-startMs);
  const service = start(clock, stored);
  assert.deepEqual(passed(service), [0, 0]);
  clock.advance(1_000);
  assert.deepEqual(passed(service), [1_000, 1_000]);
});

test('what the log tells of the time since the clock was stored passes once', () => {
  const clock = createManualClock(startMs);
  const before = start(clock);
  const stored = before.stored();
  clock.advance(20 * hourMs);
  const { serviceMs } = before.read();
  clock.reboot(hourMs);
  const service = start(clock, stored);
  service.notBefore(serviceMs);
  assert.deepEqual(passed(service), [20 * hourMs, 21 * hourMs]);
  clock.advance(believedAfterMs - 1);
  assert.equal(passed(service)[0], 20 * hourMs + believedAfterMs - 1, 'the rest is not believed at once');
  clock.advance(1);
  assert.equal(passed(service)[0], 21 * hourMs + believedAfterMs);
});

test('whatever the wall clock does: service time is what has passed, over restarts as well', () => {
  const move = fc.oneof(
    fc.record({ advance: fc.nat(2 * hourMs) }),
    fc.record({ step: fc.integer({ min: -50 * hourMs, max: 50 * hourMs }) }),
    fc.constant({ restart: true as const }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const clock = createManualClock(startMs);
      let service = start(clock);
      let passedMs = 0;
      for (const each of moves) {
        if ('advance' in each) {
          clock.advance(each.advance);
          passedMs += each.advance;
        } else if ('step' in each) clock.set(clock.now() + each.step);
        else service = start(clock, service.stored());
        assert.equal(service.read().serviceMs - startMs, passedMs);
      }
      // A clock that stands is followed in the end.
      clock.advance(believedAfterMs);
      service.read();
      clock.advance(believedAfterMs);
      assert.equal(service.read().nowMs, clock.now());
    }),
  );
});
