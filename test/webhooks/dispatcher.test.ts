// The dispatcher, with attempts that end when the test says so and a clock that the test sets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptResult } from '../../src/domain/record.ts';
import type { DueDelivery, EndpointChange, OutboxBatch, OutboxMessage } from '../../src/shard/protocol.ts';
import type { SealedAttempt } from '../../src/webhooks/attempt.ts';
import { Dispatcher, reportMs, reportsAtOnce } from '../../src/webhooks/dispatcher.ts';
import { createManualClock } from '../manual-clock.ts';

const success: AttemptResult = { at_ms: 0, duration_ms: 1, status: 200, failure: null, answer: '' };
const enabledOf = (org: string, id: string): EndpointChange => ({
  id,
  state: {
    org,
    url: `https://${id}.test/`,
    secrets: [{ sealed: `s-${id}`, expires_at_ms: null }],
    enabled: true,
  },
});

const enabled = (id: string) => enabledOf(`org of ${id}`, id);

interface UnderWay {
  readonly endpoint: string;
  readonly delivery: string;
  readonly input: SealedAttempt;
  end(result?: AttemptResult): Promise<void>;
  fail(): Promise<void>;
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

class Bench {
  readonly clock = createManualClock(1_000_000);
  readonly underWay: UnderWay[] = [];
  readonly sent: { shard: number; message: Omit<OutboxMessage, 'thread'> }[] = [];
  /** What runs later, but for the reports: those leave at the end of the tick unless `holdsReports` is set. */
  readonly waiting: (() => void)[] = [];
  holdsReports = false;
  readonly hungUp: string[] = [];
  troubles = 0;
  /** The shards whose partition somebody else owns. */
  readonly lost = new Set<number>();
  readonly dispatcher: Dispatcher;

  constructor(concurrency = 100, starts = true) {
    this.dispatcher = new Dispatcher({
      concurrency,
      clock: this.clock.now,
      monotonic: this.clock.monotonic,
      isHeld: (shard) => !this.lost.has(shard),
      attempt: (input) => this.#attempt(input),
      hangUp: (endpoint) => this.hungUp.push(endpoint),
      send: (shard, message) => this.sent.push({ shard, message }),
      onAttempted: () => {},
      onTrouble: () => this.troubles++,
      later: (run, ms) => {
        if (ms === reportMs && !this.holdsReports) setImmediate(run);
        else this.waiting.push(run);
      },
    });
    if (starts) this.dispatcher.start();
  }

  #attempt(input: SealedAttempt): Promise<AttemptResult> {
    const { promise, resolve, reject } = Promise.withResolvers<AttemptResult>();
    const [endpoint, delivery] = input.body.split(' ') as [string, string];
    const over = async (settle: () => void) => {
      this.underWay.splice(this.underWay.indexOf(attempt), 1);
      settle();
      await tick();
      await tick();
    };
    const attempt: UnderWay = {
      endpoint,
      delivery,
      input,
      end: (result = success) => over(() => resolve(result)),
      fail: () => over(() => reject(new Error('the worker died'))),
    };
    this.underWay.push(attempt);
    return promise;
  }

  take(batch: Partial<OutboxBatch>, shard = 0): void {
    this.dispatcher.take(shard, { endpoints: [], complete: false, deliveries: [], recorded: [], ...batch });
  }

  /** Leases `count` deliveries of an endpoint. */
  hand(endpoint: string, count: number, more: Partial<DueDelivery> = {}, from = 0, shard = 0): void {
    const deliveries = Array.from({ length: count }, (_, i) => {
      const id = `${endpoint}${from + i}`;
      return { id, endpoint, number: 0, first: false, body: `${endpoint} ${id}`, ...more };
    });
    this.take({ deliveries }, shard);
  }

  of(endpoint: string): UnderWay[] {
    return this.underWay.filter((each) => each.endpoint === endpoint);
  }

  get reports() {
    return this.sent.flatMap(({ message }) => message.reports.map(({ delivery }) => delivery));
  }
}

test('five in flight to an endpoint, in order, and a new one for each that ends', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 32);
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    ['a0', 'a1', 'a2', 'a3', 'a4'],
  );
  await bench.underWay[2]!.end();
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    ['a0', 'a1', 'a3', 'a4', 'a5'],
  );
  assert.deepEqual(bench.reports, ['a2']);
});

test('endpoints take turns: one that has much waiting leaves slots to the others', async () => {
  const bench = new Bench(4);
  bench.take({ endpoints: ['a', 'b', 'c'].map(enabled) });
  bench.hand('a', 32);
  bench.hand('b', 1);
  bench.hand('c', 1);
  const order: string[] = [];
  for (let i = 0; i < 8; i++) {
    order.push(bench.underWay[0]!.delivery);
    await bench.underWay[0]!.end();
  }
  assert.ok(order.indexOf('b0') <= 4 && order.indexOf('c0') <= 4, order.join());
});

test('tar pits past half of the slots get one each, so others find a free slot at once', async () => {
  const bench = new Bench(40);
  const pits = Array.from({ length: 20 }, (_, i) => `pit${i}-`);
  bench.take({ endpoints: [...pits, 'healthy'].map(enabled) });
  for (const pit of pits) bench.hand(pit, 32);
  assert.equal(bench.underWay.length < 40, true);
  assert.ok(
    pits.every((pit) => bench.of(pit).length >= 1),
    'each has its turn',
  );
  bench.hand('healthy', 5);
  for (let i = 0; i < 5; i++) {
    const [attempt] = bench.of('healthy');
    assert.equal(attempt?.delivery, `healthy${i}`, 'started without waiting for any pit');
    await attempt!.end();
  }
  // Once the pits' attempts time out below half, they may have five again.
  while (bench.underWay.length > 15) await bench.underWay[0]!.end();
  assert.ok(pits.some((pit) => bench.of(pit).length > 1));
});

test('tar pits of one organization, deleted and made again, leave slots to others', async () => {
  const bench = new Bench(40);
  const pits = Array.from({ length: 100 }, (_, i) => `pit${i}-`);
  for (const pit of pits) {
    bench.take({ endpoints: [enabledOf('hostile', pit)] });
    bench.hand(pit, 32);
    if (bench.of(pit).length > 0) bench.take({ endpoints: [{ id: pit, state: null }] });
  }
  assert.equal(bench.underWay.length, 20, 'half of all');
  bench.take({ endpoints: [enabledOf('other', 'healthy')] });
  bench.hand('healthy', 5);
  for (let i = 0; i < 5; i++) {
    const [attempt] = bench.of('healthy');
    assert.equal(attempt?.delivery, `healthy${i}`, 'started without waiting for any pit');
    await attempt!.end();
  }
});

test('endpoints of an organization that has its share of the slots go on as its attempts end', async () => {
  const bench = new Bench(40);
  const handEach = (org: string, count: number) => {
    for (let i = 0; i < count; i++) {
      bench.take({ endpoints: [enabledOf(org, `${org}${i}-`)] });
      bench.hand(`${org}${i}-`, 1);
    }
  };
  const inFlight = (org: string) => bench.underWay.filter(({ endpoint }) => endpoint.startsWith(org)).length;
  handEach('a', 24);
  handEach('b', 12);
  handEach('c', 12);
  assert.deepEqual(['a', 'b', 'c'].map(inFlight), [20, 10, 10]);
  while (inFlight('a') > 10) await bench.underWay[0]!.end();
  assert.equal(bench.dispatcher.counts().queued, 8, 'it has its share still');
  for (const queued of [7, 6, 5, 4]) {
    await bench.underWay[0]!.end();
    assert.equal(bench.dispatcher.counts().queued, queued, 'the next one has its turn');
  }
});

test('an endpoint that waited when its shard was lost, and is there anew, goes on', () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.lost.add(0);
  bench.hand('a', 1);
  bench.dispatcher.disconnected(0);
  bench.lost.clear();
  bench.dispatcher.connected(0);
  bench.take({ endpoints: [enabled('a')], complete: true });
  bench.dispatcher.tick();
  bench.hand('a', 1);
  assert.equal(bench.of('a').length, 1);
});

test('a healthy endpoint beside a tar pit with as much waiting as can be: every delivery starts at once', async () => {
  const bench = new Bench(2048);
  bench.take({ endpoints: [enabled('tar'), enabled('healthy')] });
  bench.hand('tar', 32);
  for (let i = 0; i < 1000; i++) {
    bench.hand('healthy', 1, {}, i);
    const [attempt, ...more] = bench.of('healthy');
    assert.equal(attempt?.delivery, `healthy${i}`);
    assert.equal(more.length, 0);
    await attempt!.end();
  }
  assert.equal(bench.of('tar').length, 5);
});

test('a disabled or deleted endpoint drops what waits, and an enabled one takes it again', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 8);
  const { state } = enabled('a');
  bench.take({ endpoints: [{ id: 'a', state: { ...state!, enabled: false } }] });
  for (const attempt of [...bench.underWay]) await attempt.end();
  assert.equal(bench.underWay.length, 0);
  assert.equal(bench.dispatcher.counts().queued, 0);
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 3, {}, 5);
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    ['a5', 'a6', 'a7'],
  );
  bench.hand('a', 10, {}, 10);
  bench.take({ endpoints: [{ id: 'a', state: null }] });
  for (const attempt of [...bench.underWay]) await attempt.end();
  assert.equal(bench.underWay.length, 0, 'nothing new starts');
  assert.equal(bench.reports.length, 10, 'what was in flight is reported');
  assert.deepEqual(bench.dispatcher.counts(), { inFlight: 0, queued: 0, failing: 0 });
});

test('an endpoint that is deleted while it waits for a slot leaves its turn to the next one', async () => {
  const bench = new Bench(1);
  bench.take({ endpoints: ['a', 'b', 'c'].map(enabled) });
  for (const endpoint of ['a', 'b', 'c']) bench.hand(endpoint, 1);
  bench.take({ endpoints: [{ id: 'b', state: null }] });
  await bench.underWay[0]!.end();
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    ['c0'],
  );
  assert.equal(bench.troubles, 0);
});

test('an enabled endpoint whose last attempt failed is failing', async () => {
  const bench = new Bench();
  const { state } = enabled('a');
  const failing = () => bench.dispatcher.counts().failing;
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 2);
  assert.equal(failing(), 0);
  await bench.underWay[0]!.end({ ...success, status: 500, failure: 'answered 500' });
  assert.equal(failing(), 1);
  bench.take({ endpoints: [{ id: 'a', state: { ...state!, enabled: false } }] });
  assert.equal(failing(), 0);
  bench.take({ endpoints: [enabled('a')] });
  assert.equal(failing(), 1);
  await bench.underWay[0]!.end();
  assert.equal(failing(), 0);
});

test('address and secrets are those that are active when the attempt starts', async () => {
  const bench = new Bench();
  const secrets = [
    { sealed: 'new', expires_at_ms: null },
    { sealed: 'old', expires_at_ms: bench.clock.now() + 1000 },
  ];
  bench.take({
    endpoints: [{ id: 'a', state: { org: 'org_1', url: 'https://one.test/', secrets, enabled: true } }],
  });
  bench.hand('a', 6);
  assert.deepEqual(bench.underWay[0]!.input.sealed, ['new', 'old']);
  bench.clock.advance(1000);
  bench.take({
    endpoints: [{ id: 'a', state: { org: 'org_1', url: 'https://two.test/', secrets, enabled: true } }],
  });
  await bench.underWay[0]!.end();
  const { url, sealed: used, nowSeconds } = bench.underWay.at(-1)!.input;
  assert.deepEqual([url, used, nowSeconds], ['https://two.test/', ['new'], bench.clock.now() / 1_000]);
});

test('an endpoint that is deleted, disabled or moved leaves its connections, those in use after their attempt', async () => {
  const { state } = enabled('a');
  const ends: EndpointChange['state'][] = [
    null,
    { ...state!, enabled: false },
    { ...state!, url: 'https://moved.test/' },
  ];
  for (const end of ends) {
    const bench = new Bench();
    bench.take({ endpoints: [enabled('a'), enabled('b')] });
    bench.hand('a', 1);
    bench.hand('b', 1);
    bench.take({ endpoints: [{ id: 'a', state: { ...state!, secrets: [] } }] });
    assert.deepEqual(bench.hungUp, [], 'new secrets go to the same address');
    bench.take({ endpoints: [{ id: 'a', state: end }] });
    assert.deepEqual(bench.hungUp, ['a']);
    for (const attempt of [...bench.underWay]) await attempt.end();
    assert.deepEqual(bench.hungUp, ['a', 'a']);
  }
});

test('a resent delivery goes before those that wait', () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 10);
  bench.hand('a', 1, { first: true }, 50);
  void bench.underWay[0]!.end();
  return tick().then(() => assert.equal(bench.underWay.at(-1)!.delivery, 'a50'));
});

test('a delivery that waits and is sent again moves to the front; one in flight is not started twice', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 10);
  bench.hand('a', 1, { first: true }, 8);
  bench.hand('a', 1, { first: true }, 2);
  assert.equal(bench.dispatcher.counts().queued, 5);
  const started = bench.underWay.map(({ delivery }) => delivery);
  for (let i = 0; i < 5; i++) {
    await bench.underWay[0]!.end();
    started.push(bench.underWay.at(-1)!.delivery);
  }
  assert.deepEqual(started, ['a0', 'a1', 'a2', 'a3', 'a4', 'a8', 'a5', 'a6', 'a7', 'a9']);
});

test('a report is repeated until it is recorded; meanwhile its delivery is not taken again', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1);
  await bench.underWay[0]!.end();
  bench.hand('a', 1);
  assert.equal(bench.underWay.length, 0, 'it is held');
  bench.dispatcher.tick();
  assert.deepEqual(bench.reports, ['a0'], 'not yet');
  bench.clock.advance(5_000);
  bench.dispatcher.tick();
  assert.deepEqual(bench.reports, ['a0', 'a0']);
  assert.equal(bench.dispatcher.isIdle, false);
  bench.take({ recorded: [{ endpoint: 'a', delivery: 'a0', number: 0 }] });
  assert.equal(bench.dispatcher.isIdle, true);
  bench.hand('a', 1, { number: 1 });
  assert.equal(bench.underWay.length, 1, 'another attempt of the same delivery');
});

test('reports that gathered come in portions, the next when those before are recorded', async () => {
  const bench = new Bench(2048);
  const endpoints = Array.from({ length: 120 }, (_, i) => `e${i}-`);
  bench.take({ endpoints: endpoints.map(enabled) });
  for (const id of endpoints) bench.hand(id, 5);
  await Promise.all([...bench.underWay].map((attempt) => attempt.end()));
  const first = bench.reports;
  assert.equal(first.length, 256);
  /** What was sent since it was last asked: how many reports in each message, and of which deliveries. */
  const portions = () => {
    const sizes = bench.sent.map(({ message }) => message.reports.length);
    const { reports } = bench;
    bench.sent.length = 0;
    return { sizes, reports };
  };
  portions();
  for (let i = 0; i < 2; i++) {
    bench.clock.advance(5_000);
    bench.dispatcher.tick();
    assert.deepEqual(portions().reports, first, 'while nothing is recorded these alone come again');
  }
  bench.dispatcher.connected(0);
  assert.deepEqual(portions().sizes, [256]);
  let recorded = first;
  for (const count of [256, 88, 0]) {
    const [endpoint] = endpoints;
    bench.take({ recorded: recorded.map((delivery) => ({ endpoint: endpoint!, delivery, number: 0 })) });
    await tick();
    const { sizes, reports } = portions();
    assert.deepEqual(sizes, count === 0 ? [] : [count]);
    recorded = reports;
  }
  assert.equal(bench.dispatcher.isIdle, true);
});

test('one report more than a portion comes when the portion is recorded', async () => {
  const bench = new Bench(2048);
  const endpoints = Array.from({ length: 257 }, (_, i) => `e${i}-`);
  bench.take({ endpoints: endpoints.map(enabled) });
  for (const id of endpoints) bench.hand(id, 1);
  await Promise.all([...bench.underWay].map((attempt) => attempt.end()));
  const first = bench.reports;
  assert.equal(first.length, 256);
  bench.take({ recorded: first.map((delivery) => ({ endpoint: 'e0-', delivery, number: 0 })) });
  await tick();
  assert.equal(bench.reports.length, 257);
});

test('a shard that is there anew hears what it has not recorded; what is in flight is not started twice', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 7);
  await bench.underWay[0]!.end();
  bench.dispatcher.connected(0);
  const { message } = bench.sent.at(-1)!;
  assert.equal(message.open, true);
  assert.deepEqual(
    message.reports.map(({ delivery }) => delivery),
    ['a0'],
  );
  bench.take({ endpoints: [enabled('a')], recorded: [{ endpoint: 'a', delivery: 'a0', number: 0 }] });
  bench.hand('a', 6, {}, 1);
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    ['a1', 'a2', 'a3', 'a4', 'a5'],
  );
});

test('a shard that is there anew and no longer names an endpoint has deleted it: what waits is dropped', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a'), enabled('b')] });
  bench.take({ endpoints: [enabled('other')] }, 1);
  bench.hand('a', 7);
  bench.hand('b', 6);
  bench.hand('other', 6);
  bench.dispatcher.connected(0);
  bench.take({ endpoints: [enabled('b')], complete: true });
  assert.equal(bench.dispatcher.counts().queued, 2, 'one of b, one of the other shard');
  for (const attempt of [...bench.underWay]) await attempt.end();
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    ['b5', 'other5'],
  );
});

test('reports wait for each other, but not once many have gathered', async () => {
  const bench = new Bench();
  bench.holdsReports = true;
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 2 * reportsAtOnce);
  await bench.underWay[0]!.end();
  await bench.underWay[0]!.end();
  assert.deepEqual([bench.sent.length, bench.waiting.length], [0, 1], 'one timer for both');
  bench.waiting.shift()!();
  assert.deepEqual(
    bench.sent.map(({ message }) => message.reports.map(({ delivery }) => delivery)),
    [['a0', 'a1']],
  );
  for (let i = 0; i < reportsAtOnce; i++) await bench.underWay[0]!.end();
  assert.deepEqual(
    bench.sent.map(({ message }) => message.reports.length),
    [2, reportsAtOnce],
  );
  for (const run of bench.waiting.splice(0)) run();
  assert.equal(bench.sent.length, 2, 'nothing is left to send');
});

test('an attempt that could not be made is made later, and is no attempt of the delivery', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1);
  await bench.underWay[0]!.fail();
  assert.deepEqual([bench.troubles, bench.reports, bench.underWay.length], [1, [], 0]);
  for (const run of bench.waiting) run();
  await bench.underWay[0]!.end();
  assert.deepEqual(bench.reports, ['a0']);
});

test('attempts that could not be made leave their places, and the deliveries keep their order', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 7);
  for (const attempt of [...bench.underWay]) await attempt.fail();
  assert.deepEqual(
    bench.underWay.map(({ delivery }) => delivery),
    [],
    'each waits for a while',
  );
  assert.equal(bench.dispatcher.counts().inFlight, 5);
  for (const run of bench.waiting.splice(0)) run();
  assert.equal(bench.dispatcher.counts().inFlight, 5);
  assert.deepEqual(bench.underWay.map(({ delivery }) => delivery).sort(), ['a0', 'a1', 'a2', 'a3', 'a4']);
});

test('those that had to be content with one attempt have five again once half of the slots are free', async () => {
  const bench = new Bench(10);
  bench.take({ endpoints: ['a', 'b'].map(enabled) });
  bench.hand('a', 5);
  bench.hand('b', 8);
  assert.deepEqual([bench.of('a').length, bench.of('b').length], [5, 1]);
  await bench.of('a')[0]!.end();
  assert.deepEqual([bench.of('a').length, bench.of('b').length], [4, 1], 'half of them are not free yet');
  await bench.of('a')[0]!.end();
  assert.ok(bench.of('b').length > 1);
  while (bench.of('a').length > 0) await bench.of('a')[0]!.end();
  assert.equal(bench.of('b').length, 5);
});

test('an attempt that is ended with the thread is no trouble', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1);
  bench.dispatcher.pause();
  await bench.underWay[0]!.fail();
  assert.deepEqual([bench.troubles, bench.reports], [0, []]);
});

test('paused, it starts nothing', () => {
  const bench = new Bench();
  bench.dispatcher.pause();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 3);
  assert.equal(bench.underWay.length, 0);
  bench.dispatcher.start();
  assert.equal(bench.underWay.length, 3);
});

test('nothing more is delivered for a shard whose partition is lost, until it is held again', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 8);
  assert.equal(bench.underWay.length, 5);
  bench.lost.add(0);
  await bench.underWay[0]!.end();
  bench.hand('a', 1, {}, 8);
  assert.equal(bench.underWay.length, 4);
  bench.lost.clear();
  bench.hand('a', 1, {}, 9);
  assert.equal(bench.underWay.length, 5);
});

test('a report that is sent again is no greeting, and what was not told yet waits for its turn', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1);
  await bench.underWay[0]!.end();
  bench.clock.advance(5_000);
  bench.dispatcher.tick();
  assert.deepEqual(
    bench.sent.map(({ message }) => message.open),
    [false, false],
  );
});

test('half of the slots are for endpoints that have five, no more', () => {
  const bench = new Bench(10);
  bench.take({ endpoints: ['a', 'b'].map(enabled) });
  bench.hand('a', 5);
  bench.hand('b', 5);
  assert.deepEqual([bench.of('a').length, bench.of('b').length], [5, 1]);
});

test('an endpoint that is gone is forgotten when its last attempt is recorded, and what is new of it is not taken', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 2);
  bench.take({ endpoints: [{ id: 'a', state: null }] });
  assert.deepEqual(bench.dispatcher.counts(), { inFlight: 2, queued: 0, failing: 0 });
  bench.hand('a', 1, {}, 5);
  await bench.underWay[0]!.fail();
  for (const run of bench.waiting.splice(0)) run();
  await bench.underWay[0]!.end();
  const [delivery] = bench.reports;
  bench.take({ recorded: [{ endpoint: 'a', delivery: delivery!, number: 0 }] });
  assert.equal(bench.dispatcher.isIdle, true);
  // Were it still known, it would refuse the same delivery now.
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 2);
  assert.equal(bench.of('a').length, 2);
});

test('what waits is delivered when its partition is held again, although nothing new comes', async () => {
  const bench = new Bench();
  bench.lost.add(0);
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 2);
  bench.dispatcher.tick();
  assert.equal(bench.underWay.length, 0);
  bench.lost.clear();
  bench.dispatcher.tick();
  assert.equal(bench.underWay.length, 2);
});

test('what waits of a shard that has ended is leased anew, and its attempts in flight are counted on', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.take({ endpoints: [enabled('b')] }, 1);
  bench.hand('a', 8);
  bench.hand('b', 8, {}, 0, 1);
  bench.dispatcher.disconnected(0);
  await bench.of('a')[0]!.end();
  await bench.of('b')[0]!.end();
  // Another process may deliver it by now; what waits of the other shard goes on.
  assert.deepEqual([bench.of('a').length, bench.of('b').length], [4, 5]);
  bench.dispatcher.connected(0);
  bench.take({ endpoints: [enabled('a')], complete: true });
  bench.hand('a', 8);
  assert.deepEqual(
    bench.of('a').map(({ delivery }) => delivery),
    ['a1', 'a2', 'a3', 'a4', 'a5'],
  );
});

test('nothing starts before it is told to start', () => {
  const bench = new Bench(100, false);
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1);
  assert.equal(bench.underWay.length, 0);
  bench.dispatcher.start();
  assert.equal(bench.underWay.length, 1);
});

test('there are no more attempts than slots, however many endpoints wait', async () => {
  const bench = new Bench(3);
  const endpoints = ['a', 'b', 'c', 'd', 'e'];
  bench.take({ endpoints: endpoints.map(enabled) });
  for (const id of endpoints) bench.hand(id, 2);
  for (let left = 10; left > 0; left--) {
    assert.equal(bench.underWay.length, Math.min(3, left));
    await bench.underWay[0]!.end();
  }
});

test('an endpoint has one place in the line, however often it is given something', async () => {
  const bench = new Bench(1);
  bench.take({ endpoints: ['a', 'b'].map(enabled) });
  for (let i = 0; i < 6; i++) bench.hand('a', 1, {}, i);
  bench.hand('b', 1);
  const started: string[] = [];
  for (let i = 0; i < 4; i++) {
    started.push(bench.underWay[0]!.delivery);
    await bench.underWay[0]!.end();
  }
  assert.deepEqual(started, ['a0', 'a1', 'b0', 'a2']);
});

test('it is idle when nothing is in flight and no shard has a report to record', async () => {
  const bench = new Bench();
  const isIdle = () => bench.dispatcher.isIdle;
  assert.equal(isIdle(), true);
  bench.take({ endpoints: [enabled('a')] });
  bench.take({ endpoints: [enabled('b')] }, 1);
  bench.hand('a', 1);
  assert.equal(isIdle(), false, 'an attempt is in flight');
  await bench.underWay[0]!.end();
  bench.take({ deliveries: [{ id: 'b0', endpoint: 'b', number: 0, first: false, body: 'b b0' }] }, 1);
  await bench.underWay[0]!.end();
  bench.take({ recorded: [{ endpoint: 'b', delivery: 'b0', number: 0 }] }, 1);
  assert.equal(isIdle(), false, 'the other shard has not recorded its report');
  bench.take({ recorded: [{ endpoint: 'a', delivery: 'a0', number: 0 }] });
  assert.equal(isIdle(), true);
});

test('what is recorded is one attempt of one delivery: no other acknowledges its report', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1, { number: 3 });
  await bench.underWay[0]!.end();
  for (const [delivery, number] of [
    ['a0', 2],
    ['a0', 4],
    ['a1', 3],
  ] as const)
    bench.take({ recorded: [{ endpoint: 'a', delivery, number }] });
  bench.hand('a', 1, { number: 4 });
  assert.deepEqual([bench.underWay.length, bench.dispatcher.isIdle], [0, false]);
  bench.take({ recorded: [{ endpoint: 'a', delivery: 'a0', number: 3 }] });
  bench.hand('a', 1, { number: 4 });
  assert.equal(bench.underWay.length, 1);
});

test('a shard is sent no message when there is no report for it', async () => {
  const bench = new Bench();
  bench.take({ endpoints: [enabled('a')] });
  bench.hand('a', 1);
  await bench.underWay[0]!.end();
  bench.take({ recorded: [{ endpoint: 'a', delivery: 'a0', number: 0 }] });
  bench.sent.length = 0;
  bench.clock.advance(60_000);
  bench.dispatcher.tick();
  await tick();
  assert.deepEqual(bench.sent, []);
});
