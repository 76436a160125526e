// Scopes: a request counts in all of its buckets or in none; which bucket the headers describe; the
// daily cap and midnight in Morocco; limits of an organization's own, and buckets whose limit
// changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refusal } from '../../src/contract/errors/table.ts';
import { buckets } from '../../src/contract/limits.ts';
import { type Operation, routeTable } from '../../src/contract/routes/table.ts';
import { modeOf } from '../../src/contract/vocabulary.ts';
import { createMoroccoCalendar } from '../../src/core/morocco-day.ts';
import type { BucketOverride, LimitsOverrides } from '../../src/domain/active-limits.ts';
import type { ShardAccount } from '../../src/shard/account.ts';
import { readCounts, writeCounts } from '../../src/shard/metadata.ts';
import { Scope, type ScopeCounts } from '../../src/shard/scope.ts';
import { at } from '../manual-clock.ts';

// Noon in Morocco, which is an hour ahead in January.
const noonMs = Date.UTC(2026, 0, 12, 11);
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const none: LimitsOverrides = {
  buckets: { all: null, writes: null, payment_creation: null, search: null },
  dailyRequests: null,
  dailyPaymentCreations: null,
};
const custom = (perMinute: number, untilMs: number | null = null): BucketOverride => ({
  perMinute,
  source: 'custom',
  untilMs,
});

interface Setting {
  readonly livemode?: boolean;
  /** Limits of the organization's own, in the scope's mode. */
  readonly limits?: Partial<LimitsOverrides['buckets']>;
  readonly daily?: { readonly requests?: number; readonly creations?: number };
  readonly methods?: ShardAccount['methods'];
}

const on = { card: true, cash: true };

function accountOf({ limits = {}, daily = {}, methods }: Setting): ShardAccount {
  const overrides: LimitsOverrides = {
    buckets: { ...none.buckets, ...limits },
    dailyRequests: daily.requests ?? null,
    dailyPaymentCreations: daily.creations ?? null,
  };
  return {
    id: 'org_000000000000000000000001',
    name: 'Shop',
    branding: { colour: null, logoUrl: null },
    created: 0,
    apiVersion: '2026-11-01',
    methods: methods ?? { test: on, live: on },
    limits: { test: overrides, live: overrides },
  };
}

function scopeOf(setting: Setting = {}, nowMs = noonMs, counts: ScopeCounts | null = null): Scope {
  const { livemode = false } = setting;
  const available = { test: on, live: { card: true, cash: false } };
  const account = accountOf(setting);
  return new Scope({
    livemode,
    account,
    availability: (_, mode) => ({ ...available[mode], cardPage: 'own', agents: null }),
    calendar: createMoroccoCalendar(),
    now: at(nowMs),
    counts,
  });
}

const routeOf = (operation: Operation) => routeTable.find((route) => route.operation === operation)!;

/** Sends one request, which runs if it is let in; null then. */
function send(scope: Scope, operation: Operation, nowMs = noonMs, filtered = false): Refusal | null {
  const route = routeOf(operation);
  const refusal = scope.admit(route, scope.bucketsOf(route, filtered), at(nowMs), 'en');
  if (refusal === null && route.spends === 'payment_creation') scope.countCreation();
  return refusal;
}

/** How many requests are let in before the first refusal. */
function sendUntilRefused(scope: Scope, operation: Operation, nowMs = noonMs): number {
  for (let sent = 0; ; sent++) if (send(scope, operation, nowMs) !== null) return sent;
}

const headersOf = (scope: Scope, operation: Operation, nowMs = noonMs, filtered = false) =>
  scope.headers(scope.bucketsOf(routeOf(operation), filtered), at(nowMs));

/** Whole requests left, by bucket. */
function left(scope: Scope, nowMs = noonMs): Record<string, number> {
  const { all, writes, payment_creation, search } = Object.fromEntries(
    buckets.map((each, i) => {
      const { units, updatedAtMs, perMinute } = scope.counts().buckets[i]!;
      const capacity = (perMinute + Math.round(perMinute / 6)) * 60_000;
      return [each, Math.floor(Math.min(capacity, units + (nowMs - updatedAtMs) * perMinute) / 60_000)];
    }),
  );
  return { all: all!, writes: writes!, payment_creation: payment_creation!, search: search! };
}

const full = { all: 700, writes: 175, payment_creation: 70, search: 35 };

const spending: readonly (readonly [operation: Operation, filtered: boolean, spent: Partial<typeof full>])[] =
  [
    ['create_payment_intent', false, { all: 699, writes: 174, payment_creation: 69 }],
    ['create_checkout_session', false, { all: 699, writes: 174, payment_creation: 69 }],
    ['confirm_payment_intent', false, { all: 699, writes: 174 }],
    ['create_refund', false, { all: 699, writes: 174 }],
    ['delete_customer', false, { all: 699, writes: 174 }],
    ['complete_charge', false, { all: 699, writes: 174 }],
    ['retrieve_account', false, { all: 699 }],
    ['retrieve_payment_intent', true, { all: 699 }],
    ['list_payment_intents', false, { all: 699 }],
    ['list_payment_intents', true, { all: 699, search: 34 }],
    ['list_events', true, { all: 699, search: 34 }],
    ['export_charges', false, { all: 699, search: 34 }],
  ];
for (const [operation, filtered, spent] of spending) {
  test(`${operation}${filtered ? ', filtered,' : ''} spends ${Object.keys(spent).join(', ')}`, () => {
    const scope = scopeOf();
    assert.equal(send(scope, operation, noonMs, filtered), null);
    assert.deepEqual(left(scope), { ...full, ...spent });
  });
}

const capacities: readonly (readonly [livemode: boolean, operation: Operation, capacity: number])[] = [
  [false, 'retrieve_account', 700],
  [false, 'create_customer', 175],
  [false, 'create_payment_intent', 70],
  [false, 'export_refunds', 35],
  [true, 'retrieve_account', 1400],
  [true, 'create_customer', 350],
  [true, 'create_payment_intent', 140],
  [true, 'export_refunds', 35],
];
for (const [livemode, operation, capacity] of capacities) {
  test(`${modeOf(livemode)} mode lets ${capacity} ${operation} through at once`, () => {
    assert.equal(sendUntilRefused(scopeOf({ livemode }), operation), capacity);
  });
}

test('a request that one bucket refuses spends nothing in the others, nor of the day', () => {
  const scope = scopeOf({ limits: { payment_creation: custom(6) } });
  assert.equal(sendUntilRefused(scope, 'create_payment_intent'), 7);
  const before = scope.counts();
  const refusal = send(scope, 'create_payment_intent');
  assert.equal(refusal?.code, 'rate_limit_exceeded');
  assert.deepEqual(scope.counts(), before);
});

const refusals: readonly (readonly [what: string, setting: Setting, operation: Operation, values: object])[] =
  [
    [
      'all',
      { limits: { all: custom(1) } },
      'retrieve_account',
      { bucket: 'all requests', limit: 1, wait: 60 },
    ],
    [
      'writes',
      { limits: { writes: custom(60) } },
      'create_customer',
      { bucket: 'writes', limit: 60, wait: 1 },
    ],
    [
      'payment creation',
      { limits: { payment_creation: custom(2) } },
      'create_checkout_session',
      { bucket: 'payment creation', limit: 2, wait: 30 },
    ],
    [
      'search',
      { limits: { search: custom(20) } },
      'export_charges',
      { bucket: 'search and exports', limit: 20, wait: 3 },
    ],
  ];
for (const [what, setting, operation, values] of refusals) {
  test(`a refusal names the bucket, its limit and the wait: ${what}`, () => {
    const scope = scopeOf(setting);
    sendUntilRefused(scope, operation);
    const refusal = send(scope, operation)!;
    assert.equal(refusal.code, 'rate_limit_exceeded');
    assert.deepEqual(refusal.values, values);
    assert.equal(refusal.retryAfterSeconds, refusal.values!.wait);
  });
}

test('after the wait that a refusal names, the request gets through; a millisecond earlier it does not', () => {
  const scope = scopeOf({ limits: { writes: custom(20) } });
  sendUntilRefused(scope, 'create_customer');
  const { retryAfterSeconds } = send(scope, 'create_customer')!;
  assert.equal(retryAfterSeconds, 3);
  const readyMs = noonMs + retryAfterSeconds! * secondMs;
  assert.notEqual(send(scope, 'create_customer', readyMs - 1), null);
  assert.equal(send(scope, 'create_customer', readyMs), null);
});

test('the headers are about the bucket with the fewest requests left; of equals, the one with the smaller limit', () => {
  const scope = scopeOf();
  send(scope, 'create_payment_intent');
  assert.deepEqual(headersOf(scope, 'create_payment_intent'), { limit: 60, remaining: 69, resetSeconds: 1 });
  assert.deepEqual(headersOf(scope, 'create_customer'), { limit: 150, remaining: 174, resetSeconds: 1 });
  assert.deepEqual(headersOf(scope, 'retrieve_account'), { limit: 600, remaining: 699, resetSeconds: 1 });
  assert.deepEqual(headersOf(scope, 'list_events', noonMs, true), {
    limit: 30,
    remaining: 35,
    resetSeconds: 0,
  });

  const tied = scopeOf({ limits: { all: custom(60), writes: custom(30) } });
  for (let i = 0; i < 35; i++) send(tied, 'retrieve_account');
  // 70 − 35 of all requests and 35 of writes are left.
  assert.deepEqual(headersOf(tied, 'create_customer'), { limit: 30, remaining: 35, resetSeconds: 0 });
  send(tied, 'retrieve_account');
  assert.equal(headersOf(tied, 'create_customer').limit, 60);
});

test('a refusal carries headers about the bucket that refused', () => {
  const scope = scopeOf({ limits: { writes: custom(6) } });
  sendUntilRefused(scope, 'create_customer');
  assert.deepEqual(headersOf(scope, 'create_customer'), { limit: 6, remaining: 0, resetSeconds: 70 });
});

// The day's caps.

test('test mode takes 10,000 requests and 1,000 payment creations a day', () => {
  const limits = { all: custom(100_000), writes: custom(100_000), payment_creation: custom(100_000) };
  const scope = scopeOf({ limits });
  assert.equal(sendUntilRefused(scope, 'create_payment_intent'), 1_000);
  const refusal = send(scope, 'create_payment_intent')!;
  assert.equal(refusal.code, 'test_daily_cap_reached');
  assert.deepEqual(refusal.values, { cap: 1_000 });
  assert.equal(sendUntilRefused(scope, 'retrieve_account'), 9_000);
  assert.deepEqual(send(scope, 'retrieve_account')!.values, { cap: 10_000 });
});

test('live mode has no daily cap', () => {
  const limits = { all: custom(100_000) };
  const scope = scopeOf({ livemode: true, limits, daily: { requests: 5, creations: 5 } });
  assert.equal(sendUntilRefused(scope, 'retrieve_account'), 116_667);
});

const midnights: readonly (readonly [what: string, nowMs: number, midnightMs: number])[] = [
  ['in winter, one hour ahead', Date.UTC(2026, 0, 12, 11), Date.UTC(2026, 0, 12, 23)],
  ['just after midnight in Morocco', Date.UTC(2026, 0, 12, 23), Date.UTC(2026, 0, 13, 23)],
  ['just before it', Date.UTC(2026, 0, 12, 22, 59, 59), Date.UTC(2026, 0, 12, 23)],
  // From 15 February to 22 March 2026.
  ['in Ramadan, at Greenwich time', Date.UTC(2026, 1, 25, 12), Date.UTC(2026, 1, 26)],
];
for (const [what, nowMs, midnightMs] of midnights) {
  test(`the cap holds until midnight, Morocco time: ${what}`, () => {
    const scope = scopeOf({ daily: { requests: 3 } }, nowMs);
    assert.equal(sendUntilRefused(scope, 'retrieve_account', nowMs), 3);
    const refusal = send(scope, 'retrieve_account', nowMs)!;
    assert.equal(refusal.code, 'test_daily_cap_reached');
    assert.equal(refusal.retryAfterSeconds, (midnightMs - nowMs) / 1_000);
    assert.notEqual(send(scope, 'retrieve_account', midnightMs - 1), null);
    assert.equal(sendUntilRefused(scope, 'retrieve_account', midnightMs), 3);
    const creating = scopeOf({ daily: { creations: 2 } }, nowMs);
    assert.equal(sendUntilRefused(creating, 'create_payment_intent', nowMs), 2);
    assert.equal(sendUntilRefused(creating, 'create_payment_intent', midnightMs), 2);
  });
}

test('a wait of less than a second until midnight is one second', () => {
  const nowMs = Date.UTC(2026, 0, 12, 23) - 1;
  const scope = scopeOf({ daily: { requests: 1 } }, nowMs);
  send(scope, 'retrieve_account', nowMs);
  assert.equal(send(scope, 'retrieve_account', nowMs)!.retryAfterSeconds, 1);
});

test('the cap counts what is let in: a request that a bucket refuses does not count', () => {
  const scope = scopeOf({ limits: { writes: custom(6) }, daily: { requests: 10, creations: 9 } });
  assert.equal(sendUntilRefused(scope, 'create_payment_intent'), 7);
  for (let i = 0; i < 20; i++) send(scope, 'create_payment_intent');
  assert.equal(sendUntilRefused(scope, 'retrieve_account'), 3);
});

test('a request that the cap refuses spends nothing in the buckets', () => {
  const scope = scopeOf({ daily: { requests: 2 } });
  for (let i = 0; i < 50; i++) send(scope, 'create_payment_intent');
  assert.deepEqual(left(scope), { ...full, all: 698, writes: 173, payment_creation: 68 });
});

test('the levels tell what is left of each bucket, and what the day has counted', () => {
  const scope = scopeOf({ limits: { search: custom(60) } });
  send(scope, 'create_payment_intent');
  send(scope, 'list_payment_intents', noonMs, true);
  const { buckets, today } = scope.levels(at(noonMs));
  assert.deepEqual(buckets.all, { remaining: 698, capacity: 700 });
  assert.deepEqual(buckets.payment_creation, { remaining: 69, capacity: 70 });
  assert.deepEqual(buckets.search, { remaining: 69, capacity: 70 });
  assert.deepEqual(today, { requests: 2, creations: 1 });
  const tomorrow = scope.levels(at(noonMs + 24 * hourMs));
  assert.deepEqual(tomorrow.today, { requests: 0, creations: 0 });
  assert.equal(tomorrow.buckets.all.remaining, 700);
  assert.equal(scopeOf({ livemode: true }).levels(at(noonMs)).today, null);
});

test('a raised cap lets more in on the same day; a lowered one refuses at once', () => {
  const scope = scopeOf({ daily: { requests: 3 } });
  assert.equal(sendUntilRefused(scope, 'retrieve_account'), 3);
  scope.change(accountOf({ daily: { requests: 5 } }), at(noonMs));
  assert.equal(sendUntilRefused(scope, 'retrieve_account'), 2);
  scope.change(accountOf({ daily: { requests: 4 } }), at(noonMs));
  assert.deepEqual(send(scope, 'retrieve_account')!.values, { cap: 4 });
});

// Limits of the organization's own.

test('a raised limit lets the difference in at once; what was spent stays spent', () => {
  const scope = scopeOf();
  assert.equal(sendUntilRefused(scope, 'create_payment_intent'), 70);
  scope.change(accountOf({ limits: { payment_creation: custom(120) } }), at(noonMs));
  assert.equal(left(scope).payment_creation, 70);
  assert.equal(headersOf(scope, 'create_payment_intent').limit, 120);
});

test('a lowered limit leaves no more than its capacity', () => {
  const scope = scopeOf();
  scope.change(accountOf({ limits: { payment_creation: custom(6) } }), at(noonMs));
  assert.equal(sendUntilRefused(scope, 'create_payment_intent'), 7);
});

test('a change of something else leaves the counts as they are', () => {
  const scope = scopeOf();
  sendUntilRefused(scope, 'create_payment_intent');
  const before = left(scope);
  scope.change({ ...accountOf({}), name: 'Another name' }, at(noonMs));
  assert.deepEqual(left(scope), before);
});

test('a limit with an end gives way to the default at that time, without a change of the directory', () => {
  const untilMs = noonMs + 10 * minuteMs;
  const scope = scopeOf({ limits: { payment_creation: custom(6_000, untilMs) } });
  assert.equal(scope.account(at(noonMs)).limits.payment_creation.perMinute, 6_000);
  assert.equal(left(scope, untilMs - 1).payment_creation, 7_000);
  assert.equal(scope.account(at(untilMs - 1)).limits.payment_creation.source, 'custom');
  const after = scope.account(at(untilMs)).limits.payment_creation;
  assert.deepEqual([after.perMinute, after.source], [60, 'default']);
  assert.equal(left(scope, untilMs).payment_creation, 70);
});

test('a limit that ends is gone for the first request after its end, too', () => {
  const untilMs = noonMs + minuteMs;
  const scope = scopeOf({ limits: { writes: custom(6_000, untilMs), all: custom(6_000) } });
  assert.equal(sendUntilRefused(scope, 'create_customer', untilMs), 175);
});

test('of several ends each holds by itself', () => {
  const scope = scopeOf({
    limits: { writes: custom(1, noonMs + minuteMs), search: custom(1, noonMs + hourMs) },
  });
  const limitsAt = (ms: number) => {
    const { limits } = scope.account(at(ms));
    return [limits.writes.perMinute, limits.search.perMinute];
  };
  assert.deepEqual(limitsAt(noonMs), [1, 1]);
  assert.deepEqual(limitsAt(noonMs + minuteMs), [150, 1]);
  assert.deepEqual(limitsAt(noonMs + hourMs - 1), [150, 1]);
  assert.deepEqual(limitsAt(noonMs + hourMs), [150, 30]);
});

test('a method is there when it is switched on and has a network', () => {
  const off = { card: false, cash: true };
  assert.deepEqual(scopeOf().account(at(noonMs)).methods, on);
  assert.deepEqual(scopeOf({ livemode: true }).account(at(noonMs)).methods, { card: true, cash: false });
  const methods = { test: off, live: off };
  assert.deepEqual(scopeOf({ methods }).account(at(noonMs)).methods, { card: false, cash: true });
  assert.deepEqual(scopeOf({ methods, livemode: true }).account(at(noonMs)).methods, {
    card: false,
    cash: false,
  });
});

// ScopeCounts over a restart.

test('counts come back as they were written, refilled by the time between', () => {
  const scope = scopeOf({ daily: { requests: 100 } });
  for (let i = 0; i < 70; i++) send(scope, 'create_payment_intent');
  const counts = readCounts(writeCounts(scope.counts()));
  const laterMs = noonMs + 10 * secondMs;
  const restored = scopeOf({ daily: { requests: 100 } }, laterMs, counts);
  assert.deepEqual(left(restored, laterMs), { all: 700, writes: 130, payment_creation: 10, search: 35 });
  assert.equal(sendUntilRefused(restored, 'retrieve_account', laterMs), 30);
});

test("yesterday's counts are forgotten after a restart", () => {
  const scope = scopeOf({ daily: { requests: 3 } });
  sendUntilRefused(scope, 'retrieve_account');
  const tomorrowMs = noonMs + 24 * hourMs;
  const restored = scopeOf({ daily: { requests: 3 } }, tomorrowMs, readCounts(writeCounts(scope.counts())));
  assert.equal(sendUntilRefused(restored, 'retrieve_account', tomorrowMs), 3);
});

test('a limit that was changed while the shard was down is in force when it is back', () => {
  const scope = scopeOf();
  sendUntilRefused(scope, 'create_payment_intent');
  const counts = readCounts(writeCounts(scope.counts()));
  const raised = scopeOf({ limits: { payment_creation: custom(120) } }, noonMs, counts);
  assert.equal(sendUntilRefused(raised, 'create_payment_intent'), 70);
  const lowered = scopeOf({ limits: { all: custom(6) } }, noonMs, counts);
  assert.equal(sendUntilRefused(lowered, 'retrieve_account'), 7);
});
