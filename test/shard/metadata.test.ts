// The clock that shards store each second, and the bounds that follow from a shard's memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack } from 'msgpackr';
import { idFloor, idTimeAfter, noLeads, timeOfId } from '../../src/core/ids.ts';
import { believedAfterMs, ServiceClock } from '../../src/core/service-clock.ts';
import { clientBounds } from '../../src/shard/memory.ts';
import {
  clockAfter,
  clockStateOf,
  isOfScope,
  latestClock,
  readClock,
  writeClock,
} from '../../src/shard/metadata.ts';
import { createManualClock } from '../manual-clock.ts';

const hourMs = 3_600_000;

const state = (serviceMs: number, lastMs: number, leadMs: number) => {
  const { clock } = clockStateOf(serviceMs);
  return { clock, ids: { lastMs, leadMs, episodes: [] } };
};

const entry = (timeMs: number, ids: readonly string[], created = 2) => {
  const changes = ids.map((id) => ({ id, created }));
  return { sequence: 1, timeMs, idempotency: null, cause: null, changes } as never;
};

test('a clock is stored as it is; none, or the one time of an early folder, is a clock, too', () => {
  const stored = { ...state(5, 7, 2), clock: { ...state(5, 7, 2).clock, boot: 'b' } };
  assert.deepEqual(readClock(writeClock(stored)), stored);
  assert.equal(readClock(undefined), null);
  assert.deepEqual(readClock(pack(9)), {
    clock: { serviceMs: 9, wallMs: 9, shownMs: 9, monotonicMs: 0, boot: null, jump: null, downtime: null },
    ids: { lastMs: 9, ...noLeads },
  });
});

test('of an earlier version the lead of ids is read as what it was the most of', () => {
  const { clock } = clockStateOf(5);
  for (const [leadMs, leads] of [
    [3, { leadMs: 3, episodes: [] }],
    [9_000, { leadMs: 0, episodes: [{ untilMs: 70_000, leadMs: 9_000 }] }],
  ] as const) {
    const read = readClock(pack({ clock, ids: { lastMs: 70_000, leadMs } }));
    assert.deepEqual(read, { clock, ids: { lastMs: 70_000, ...leads } });
  }
});

test('the clock of several shards is the latest, and their ids go on behind all of theirs', () => {
  assert.equal(latestClock([]), null);
  const [early, late] = [state(5, 90, 1), state(8, 70, 4)];
  for (const states of [
    [early, late],
    [late, early],
    [late, early, late],
  ])
    assert.deepEqual(latestClock(states), {
      clock: late.clock,
      ids: { lastMs: 90, leadMs: 4, episodes: [] },
    });
  assert.deepEqual(latestClock([early]), early);
});

const idAt = (ms: number) => idFloor('pi', ms).padEnd('pi_'.length + 25, '0');

test('an entry of the log may be newer than the clock, and so may the ids in it', () => {
  const base = state(1_000, 2_000, 3);
  assert.equal(timeOfId(idAt(2_500)), 2_500);
  assert.deepEqual(clockAfter(base, entry(500, [])), base);
  assert.deepEqual(clockAfter(base, entry(1_500, [])), {
    ...base,
    clock: { ...base.clock, serviceMs: 1_500, wallMs: 1_500, shownMs: 1_500, monotonicMs: 500 },
  });
  for (const [ids, lastMs] of [
    [[idAt(1_999), 'an_id_of_no_time'], 2_000],
    [[idAt(2_500), idAt(2_400)], 2_500],
  ] as const)
    assert.deepEqual(clockAfter(base, entry(500, ids)), {
      ...base,
      ids: { lastMs, leadMs: 3, episodes: [] },
    });
});

test('ids in the log that were made ahead of the clock count as such, by the seconds of their records', () => {
  const before = state(1_000, 60_000, 3);
  for (const [idMs, created, leads] of [
    [60_999, 60, { leadMs: 3, episodes: [] }],
    [61_002, 60, { leadMs: 3, episodes: [] }],
    [61_500, 60, { leadMs: 501, episodes: [] }],
    [70_000, 60, { leadMs: 3, episodes: [{ untilMs: 70_000, leadMs: 9_001 }] }],
  ] as const) {
    const { ids } = clockAfter(before, entry(500, [idAt(idMs)], created));
    assert.deepEqual(ids, { lastMs: idMs, ...leads });
    // What was made in that second comes before the bound.
    assert(idMs < idTimeAfter((created + 1) * 1_000, ids));
  }
});

test('metadata is of a scope when its name has a slash', () => {
  assert.deepEqual(['org_1/t', 'clock', 'org_1'].map(isOfScope), [true, false, false]);
});

test('edges share the bounds of a mailbox, rounded up so that each may send', () => {
  const mailbox = { requestsMax: 1_000, mibMax: 64, organizationPercent: 25 };
  const mib = 1 << 20;
  assert.deepEqual(clientBounds(mailbox, 1), {
    sentMax: 1_536,
    sentBytesMax: (64 * mib) / 12,
    queue: { requests: 1_000, bytes: 16 * mib, organizationShare: 0.25 },
  });
  assert.deepEqual(clientBounds(mailbox, 7), {
    sentMax: 220,
    sentBytesMax: (64 * mib) / 7 / 12,
    queue: { requests: 143, bytes: (16 * mib) / 7, organizationShare: 0.25 },
  });
});

for (const machine of ['the same boot', 'another machine']) {
  test(`a clock goes on where a restored log ends, on ${machine}`, () => {
    const startMs = Date.UTC(2026, 10, 2, 12);
    const clock = createManualClock(startMs);
    const observer = { jumped() {}, followed() {} };
    const backedUp = new ServiceClock(clock, null, observer).stored();
    clock.advance(20 * hourMs);
    const { ids } = clockStateOf(startMs);
    const restored = clockAfter({ clock: backedUp, ids }, entry(clock.now(), [])).clock;
    if (machine === 'another machine') clock.reboot(hourMs);
    else clock.advance(hourMs);
    const service = new ServiceClock(clock, restored, observer);
    clock.advance(believedAfterMs);
    assert.equal(service.read().serviceMs - startMs, 21 * hourMs + believedAfterMs);
  });
}
