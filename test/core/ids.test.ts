// Identifiers: their layout, their order while the clock steps, and their randomness.

import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { test } from 'node:test';
import {
  createIdFactory,
  createRandomText,
  decodeBase62,
  encodeBase62,
  idFloor,
  idTimeAfter,
  leadsOfAll,
  noLeads,
  slotOfId,
  timeOfId,
  withLead,
} from '../../src/core/ids.ts';
import { slotCount } from '../../src/core/slot.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const nowMs = Date.UTC(2026, 10, 2, 12);
const realText = createRandomText((bytes) => void randomFillSync(bytes));
/** A fixed text in place of the random one, so that the rest of an id can be read. */
const dots = (length: number) => '.'.repeat(length);

const base62: readonly (readonly [value: number, width: number, text: string])[] = [
  [0, 2, '00'],
  [9, 2, '09'],
  [10, 2, '0A'],
  [35, 2, '0Z'],
  [36, 2, '0a'],
  [61, 2, '0z'],
  [62, 2, '10'],
  [3843, 2, 'zz'],
  [3844, 2, '00'],
  [nowMs, 8, '0VZog5Vw'],
  [62 ** 8 - 1, 8, 'zzzzzzzz'],
];
for (const [value, width, text] of base62) {
  test(`${value} in ${width} base-62 characters is ${text}`, () => {
    assert.equal(encodeBase62(value, width), text);
    assert.equal(decodeBase62(text), value % 62 ** width);
  });
}

for (const text of ['-', '0_', 'é', '0 ', '.']) {
  test(`"${text}" is no base-62 number`, () => assert.equal(decodeBase62(text), -1));
}

test('an id is its prefix, the time, the slot, a counter and 13 random characters', () => {
  const { next } = createIdFactory(dots);
  assert.equal(next('pi', 100, nowMs), 'pi_0VZog5Vw1c00.............');
  assert.equal(next('evt', 1023, nowMs), 'evt_0VZog5VwGV01.............');
  assert.equal(next('pi', 0, nowMs + 1), 'pi_0VZog5Vx0000.............');
});

test('an id tells the slot it was made for', () => {
  const { next } = createIdFactory(realText);
  for (const slot of [0, 1, 61, 62, 500, slotCount - 1])
    assert.equal(slotOfId(next('cs', slot, nowMs)), slot);
});

const foreign: readonly string[] = [
  '',
  'pi_',
  'pi_short',
  'org_csTT06x0Z9H5BwvjNOLkfAE1',
  `pi_${'0'.repeat(24)}`,
  `pi_${'0'.repeat(26)}`,
  `pi_${'0'.repeat(8)}é0${'0'.repeat(15)}`,
];
for (const id of foreign) test(`"${id}" has no slot`, () => assert.equal(slotOfId(id), -1));

test('ids ascend: over times, within a millisecond, past 3,844 in one, with the clock set back', () => {
  const { next } = createIdFactory(realText);
  const times = [nowMs, nowMs, nowMs + 1, nowMs - 86_400_000, nowMs, 0, nowMs + 2];
  let last = '';
  for (const time of times) {
    for (let i = 0; i < 5_000; i++) {
      const id = next('pi', i % slotCount, time);
      // Ids of one organization, and of different ones a millisecond apart, must ascend.
      const order = id.slice(3, 11) + id.slice(13, 15);
      assert.ok(order > last, `${order} after ${last}`);
      last = order;
    }
  }
});

test('with the clock set back, ids go on from where they were and follow the clock again later', () => {
  const { next } = createIdFactory(dots);
  const timeOf = (id: string) => decodeBase62(id.slice(3, 11));
  assert.equal(timeOf(next('pi', 0, nowMs)), nowMs);
  assert.equal(timeOf(next('pi', 0, nowMs - 60_000)), nowMs);
  assert.equal(timeOf(next('pi', 0, nowMs + 60_000)), nowMs + 60_000);
});

test('a factory tells the time of its newest id, ahead of the clock as it may be', () => {
  const factory = createIdFactory(dots, nowMs - 1);
  assert.equal(factory.lastMs, nowMs - 1);
  for (let i = 0; i < 3_845; i++) factory.next('pi', 0, nowMs);
  assert.equal(factory.lastMs, nowMs + 1);
});

test('the first ids of a factory come after every id made until its start', () => {
  const before = createIdFactory(realText);
  const made = Array.from({ length: 4_000 }, () => before.next('pi', 7, nowMs)).sort();
  const startMs = nowMs + 1;
  const { next } = createIdFactory(realText, startMs);
  assert.ok(next('pi', 7, nowMs - 5_000) > made.at(-1)!);
});

test('a bound stands before every id of its time and after every earlier one', () => {
  const { next } = createIdFactory(realText);
  const earlier = next('pi', 1023, nowMs - 1);
  const later = next('pi', 0, nowMs);
  const floor = idFloor('pi', nowMs);
  assert.ok(earlier < floor && floor < later);
});

const floors: readonly (readonly [ms: number, floor: string])[] = [
  [-1, 'pi_00000000'],
  [0, 'pi_00000000'],
  [99_999_999_999_000, 'pi_SOYTYzuK'],
  [62 ** 8, 'pi_zzzzzzzz'],
];
for (const [ms, floor] of floors) {
  test(`the bound of ${ms} is ${floor}`, () => assert.equal(idFloor('pi', ms), floor));
}

test('half a millisecond has no bound', () => {
  assert.throws(() => idFloor('pi', 0.5), /whole milliseconds/);
});

test('random text takes every character of the alphabet equally often, whatever is drawn at a time', () => {
  const counts = new Map<string, number>();
  const perCharacter = 2_000;
  let left = perCharacter * alphabet.length;
  for (let length = 1; left > 0; length = (length % 100) + 1) {
    const text = realText(Math.min(length, left));
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    left -= text.length;
  }
  assert.equal([...counts.keys()].sort().join(''), alphabet);
  const chiSquared = [...counts.values()].reduce(
    (sum, count) => sum + (count - perCharacter) ** 2 / perCharacter,
    0,
  );
  // 61 degrees of freedom: fair text exceeds 150 once in more than ten million runs.
  assert.ok(chiSquared < 150, `chi-squared ${chiSquared}`);
});

test('random bytes are drawn afresh when the pool is empty, and none is used twice', () => {
  let fills = 0;
  const text = createRandomText((bytes) => {
    fills++;
    bytes.forEach((_, i) => {
      bytes[i] = i === 0 ? fills : i === 1 ? 0 : 255;
    });
  });
  // One usable number a pool: 1, 2, 3, each two characters. What one text can't take begins the next.
  assert.equal(text(5), '01020');
  assert.equal(fills, 3);
  assert.equal(text(1), '3');
  assert.equal(fills, 3);
});

const hourMs = 3_600_000;

for (const { what, steps, exactFrom, episodes } of [
  { what: 'that is never set back', steps: [], exactFrom: nowMs, episodes: 0 },
  { what: 'that is set back by a second', steps: [-1_000], exactFrom: null, episodes: 0 },
  { what: 'that is set back by an hour', steps: [-hourMs], exactFrom: nowMs + hourMs, episodes: 1 },
  {
    what: 'that is set back twice in an hour',
    steps: [-hourMs, -hourMs],
    exactFrom: nowMs + hourMs,
    episodes: 1,
  },
  {
    what: 'that is set back ten times, each time a while after it has caught up',
    steps: Array.from({ length: 10 }, (_, i) => -hourMs - i).flatMap((back) => [back, 2 * hourMs]),
    exactFrom: nowMs + 21 * hourMs,
    episodes: 8,
  },
]) {
  test(`a time bounds all ids that a clock ${what} has made before it, and soon no others`, () => {
    const factory = createIdFactory(dots);
    const made: { readonly clockMs: number; readonly idMs: number }[] = [];
    let leads = noLeads;
    let clockMs = nowMs;
    const make = () => {
      const idMs = timeOfId(factory.next('pi', 1, clockMs));
      leads = withLead(leads, idMs, idMs - clockMs);
      made.push({ clockMs, idMs });
    };
    for (const step of [0, ...steps]) {
      clockMs += step;
      for (let i = 0; i < 20; i++, clockMs += 500) make();
    }
    assert.equal(leads.episodes.length, episodes);
    // Those of another shard, whose clock was right, change nothing.
    const all = leadsOfAll([noLeads, leads]);
    assert.deepEqual(all, leads);
    for (const { clockMs: untilMs } of made) {
      const bound = idTimeAfter(untilMs, all);
      for (const each of made) assert.ok(each.clockMs >= untilMs || each.idMs < bound);
    }
    if (exactFrom !== null) assert.equal(idTimeAfter(exactFrom, all), exactFrom);
  });
}
