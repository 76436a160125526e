import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createMoroccoCalendar,
  moroccoDayAt,
  moroccoDayBounds,
  moroccoMomentAt,
} from '../../src/core/morocco-day.ts';

const hourMs = 3_600_000;

// Morocco is an hour ahead of UTC, and at UTC in Ramadan: in 2026 from 15 February to 22 March.
const rows: [what: string, now: string, day: string, endsAt: string][] = [
  ['midday in winter', '2026-01-10T12:00:00Z', '2026-01-10', '2026-01-10T23:00:00Z'],
  ['just before midnight', '2026-01-10T22:59:59.999Z', '2026-01-10', '2026-01-10T23:00:00Z'],
  ['midnight', '2026-01-10T23:00:00Z', '2026-01-11', '2026-01-11T23:00:00Z'],
  [
    'an hour before midnight UTC is the next day',
    '2026-01-10T23:30:00Z',
    '2026-01-11',
    '2026-01-11T23:00:00Z',
  ],
  ['midnight UTC', '2026-01-11T00:00:00Z', '2026-01-11', '2026-01-11T23:00:00Z'],
  ['the day before Ramadan time', '2026-02-14T12:00:00Z', '2026-02-14', '2026-02-14T23:00:00Z'],
  ['25 hours: the clocks go back', '2026-02-14T23:00:00Z', '2026-02-15', '2026-02-16T00:00:00Z'],
  ['25 hours, last moment', '2026-02-15T23:59:59.999Z', '2026-02-15', '2026-02-16T00:00:00Z'],
  ['the day after', '2026-02-16T00:00:00Z', '2026-02-16', '2026-02-17T00:00:00Z'],
  ['in Ramadan, an hour before midnight UTC', '2026-03-10T23:30:00Z', '2026-03-10', '2026-03-11T00:00:00Z'],
  ['in Ramadan, midnight', '2026-03-11T00:00:00Z', '2026-03-11', '2026-03-12T00:00:00Z'],
  ['23 hours: the clocks go forward', '2026-03-22T00:00:00Z', '2026-03-22', '2026-03-22T23:00:00Z'],
  ['23 hours, after the change', '2026-03-22T22:59:59.999Z', '2026-03-22', '2026-03-22T23:00:00Z'],
  ['the day after Ramadan time', '2026-03-22T23:00:00Z', '2026-03-23', '2026-03-23T23:00:00Z'],
  ['the turn of the year', '2025-12-31T23:00:00Z', '2026-01-01', '2026-01-01T23:00:00Z'],
  ['a leap day', '2024-02-29T12:00:00Z', '2024-02-29', '2024-02-29T23:00:00Z'],
  ['25 hours, the year before', '2025-02-23T12:00:00Z', '2025-02-23', '2025-02-24T00:00:00Z'],
  ['23 hours, the year before', '2025-04-06T12:00:00Z', '2025-04-06', '2025-04-06T23:00:00Z'],
];

test('the day in Morocco and its end', () => {
  for (const [what, now, day, endsAt] of rows) {
    const expected = { day, endsAtMs: Date.parse(endsAt) };
    assert.deepEqual(createMoroccoCalendar().dayOf(Date.parse(now)), expected, what);
    assert.equal(moroccoDayAt(Date.parse(now)), day, what);
    assert.equal(moroccoDayBounds(day)!.toMs, Date.parse(endsAt), what);
    assert.equal(moroccoDayAt(moroccoDayBounds(day)!.fromMs), day, what);
    assert.notEqual(moroccoDayAt(moroccoDayBounds(day)!.fromMs - 1), day, what);
    assert.notEqual(moroccoDayAt(Date.parse(endsAt)), day, what);
    assert.equal(moroccoDayAt(Date.parse(endsAt) - 1), day, what);
  }
});

test('one calendar gives the same answers in any order', () => {
  const calendar = createMoroccoCalendar();
  for (const [what, now, day, endsAt] of [...rows, ...rows.toReversed()]) {
    assert.deepEqual(calendar.dayOf(Date.parse(now)), { day, endsAtMs: Date.parse(endsAt) }, what);
  }
});

test('the day is looked up once', () => {
  const calendar = createMoroccoCalendar();
  const morning = calendar.dayOf(Date.parse('2026-05-05T08:00:00Z'));
  assert.equal(calendar.dayOf(Date.parse('2026-05-05T22:59:59.999Z')), morning);
  assert.notEqual(calendar.dayOf(Date.parse('2026-05-05T23:00:00Z')), morning);
});

// What happens from autumn 2026 on was decided late and may be decided again: here the time-zone database is the
// judge, asked for every half hour, and not a table.
test('every half hour through both Ramadans agrees with the time-zone database', () => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Africa/Casablanca', dateStyle: 'short' });
  for (const [from, to] of [
    ['2026-02-01T00:00:00Z', '2026-04-01T00:00:00Z'],
    ['2026-09-15T00:00:00Z', '2026-09-25T00:00:00Z'],
    ['2027-01-25T00:00:00Z', '2027-03-25T00:00:00Z'],
  ] as const) {
    const calendar = createMoroccoCalendar();
    let previous = calendar.dayOf(Date.parse(from));
    for (let nowMs = Date.parse(from); nowMs < Date.parse(to); nowMs += hourMs / 2) {
      const today = calendar.dayOf(nowMs);
      assert.equal(today.day, format.format(nowMs), new Date(nowMs).toISOString());
      assert.ok(today.endsAtMs > nowMs && today.endsAtMs - nowMs <= 25 * hourMs);
      if (today.day !== previous.day) assert.equal(previous.endsAtMs, nowMs);
      previous = today;
    }
  }
});

test('what is no day has no bounds', () => {
  for (const text of [
    '',
    '2026-02-30',
    '2026-13-01',
    '26-01-01',
    '2026-1-1',
    'yesterday',
    '2026-01-01T00:00',
    '0000-01-01',
    '0999-01-01',
    '1900-01-01',
    '3000-01-01',
  ])
    assert.equal(moroccoDayBounds(text), null, text);
});

test('a time on Moroccan clocks is a moment, the first of two, and none while the clocks go forward', () => {
  for (const [local, moment] of [
    ['2026-01-10T09:05', '2026-01-10T08:05:00Z'],
    ['2026-03-10T09:05', '2026-03-10T09:05:00Z'],
    ['2026-01-11T00:00', '2026-01-10T23:00:00Z'],
    ['2026-02-15T02:30', '2026-02-15T01:30:00Z'],
    ['2024-02-29T23:59', '2024-02-29T22:59:00Z'],
  ] as const)
    assert.equal(moroccoMomentAt(local), Date.parse(moment), local);
  const none = ['2026-03-22T02:30', '2026-02-30T10:00', '2026-01-10T24:00', '2026-01-10', '', 'tomorrow'];
  for (const local of none) assert.equal(moroccoMomentAt(local), null, local);
});
