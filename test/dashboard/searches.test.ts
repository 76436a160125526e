// Searches of the dashboard: how many an organization may make, in what order, and what a member is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Searcher, Searches } from '../../src/dashboard/pages/searches.ts';
import { createManualClock } from '../manual-clock.ts';
import { newMember, startDashboard } from './fixture.ts';
import { api, openPayment } from './shop.ts';

/** The defaults, but for searches where a limit is given. */
const limitsOf = (perMinute: number | null) => ({
  buckets: {
    all: null,
    writes: null,
    payment_creation: null,
    search: perMinute && { perMinute, source: 'custom', untilMs: null },
  },
  dailyRequests: null,
  dailyPaymentCreations: null,
});

const noEnd = new AbortController().signal;

interface Asked {
  readonly org?: string;
  readonly member?: string;
  readonly mode?: Searcher['mode'];
  readonly isCounted?: boolean;
  readonly gone?: AbortSignal;
  readonly perMinute?: number;
}

function setUp() {
  const clock = createManualClock(0);
  const searches = new Searches(() => 0, clock.monotonic);
  const run = <T>(
    search: () => Promise<T>,
    { org = 'org_1', member = 'mem_1', mode = 'test', isCounted = true, gone = noEnd, perMinute }: Asked = {},
  ) => {
    const limits = limitsOf(perMinute ?? null);
    const organization = { id: org, limits: { test: limits, live: limits } };
    const searcher = { organization, mode, member: { id: member } } as unknown as Searcher;
    return searches.run(searcher, isCounted, gone, search);
  };
  return { clock, run };
}

test('an organization has so many searches a minute in each mode, like those of the API', async () => {
  const { clock, run } = setUp();
  const search = async () => 'found';
  const tried = async (times: number, options: Asked = {}) => {
    const results = [];
    for (let i = 0; i < times; i++) results.push(await run(search, options));
    return results;
  };
  const results = await tried(40);
  assert.equal(results.filter((each) => each === 'found').length, 35);
  assert.deepEqual(results.at(-1), { waitSeconds: 2 });
  assert.deepEqual(await tried(1, { mode: 'live' }), ['found'], 'the other mode');
  assert.deepEqual(await tried(1, { org: 'org_2' }), ['found'], 'another organization');
  assert.deepEqual(await tried(1, { isCounted: false }), ['found']);
  clock.advance(2_000);
  assert.deepEqual(await tried(2), ['found', { waitSeconds: 2 }]);
  // The limit of its own takes effect with the next search.
  assert.equal((await tried(50, { perMinute: 60 })).filter((each) => each === 'found').length, 35);
});

test('the searches of an organization run one at a time, its members take turns, and one has only some waiting', async () => {
  const { run } = setUp();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const search = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.push(() => resolve(name)));
  };
  const crowd = Array.from({ length: 16 }, () => run(search('a'), { member: 'mem_a' }));
  const other = run(search('b'), { member: 'mem_b' });
  const beside = run(search('c'), { org: 'org_2' });
  const end = async () => {
    ends.shift()!();
    await new Promise(setImmediate);
  };
  await new Promise(setImmediate);
  assert.deepEqual(begun, ['a', 'c'], 'one for each organization');
  await end();
  await end();
  assert.equal(await beside, 'c');
  while (ends.length > 0) await end();
  assert.equal(await other, 'b');
  assert(begun.indexOf('b') <= 4, begun.join());
  const results = await Promise.all(crowd);
  assert.equal(results.filter((each) => each === 'a').length, 9);
  assert.deepEqual(results.at(-1), { waitSeconds: 5 });
});

test('a search whose client has left is not begun, and none of them is spent', async () => {
  const { run } = setUp();
  const gone = AbortSignal.abort();
  for (let i = 0; i < 100; i++)
    assert.deepEqual(await run(async () => assert.fail('it was begun'), { gone }), { waitSeconds: 5 });
  assert.equal(await run(async () => 'found'), 'found');
  await assert.rejects(
    run(async () => {
      throw new Error('the shard is away');
    }),
    /away/,
  );
  assert.equal(await run(async () => 'found'), 'found');
});

test('a member who searches too often is told when to try again, and spends nothing of the API', async () => {
  const dashboard = await startDashboard();
  const { org, service } = dashboard;
  const limit = { org, mode: 'test', bucket: 'search', perMinute: 1, source: 'custom', untilMs: null };
  await service.operate('limits.set', limit);
  const { id } = await openPayment(dashboard, { description: 'Carpet' });
  const viewer = await newMember(dashboard, 'viewer');
  const get = (path: string) =>
    viewer.get(new URL(dashboard.address(path)).pathname + path.slice(path.indexOf('?')));
  const first = await get('payments?q=carpet');
  assert.equal(first.status, 200);
  assert(first.body.includes(id));
  const second = await get('payments?q=lamp');
  assert.equal(second.status, 429);
  assert.match(second.body, /Too many searches.*Try again in \d+ seconds/s);
  const wait = Number(second.headers.get('retry-after'));
  assert(wait > 0 && wait <= 60, String(wait));
  // What an index finds is no search, and the API has its own limit.
  for (const path of ['payments?', 'payments?status=canceled', 'payments?from=2024-01-01', 'home?'])
    assert.equal((await get(path)).status, 200, path);
  assert.equal((await get(`payments?q=${id}`)).status, 303);
  await api(dashboard, '/v1/payment_intents?status=canceled');
  assert.equal((await get('payments?method=card')).status, 429);
  await dashboard.stop();
});
