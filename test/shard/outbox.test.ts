// The outbox on records in memory: which deliveries it leases, in which order, and how many.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dueFirstMs, pendingDeliveries } from '../../src/domain/deliveries.ts';
import { endpointDueIndex } from '../../src/domain/indexes.ts';
import type { Change, DeliveryRecord, EventRecord, WebhookEndpointRecord } from '../../src/domain/record.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import type { Peer } from '../../src/shard/commit-batch.ts';
import { freshMax, leasesMax, type Outbox, windowSize } from '../../src/shard/outbox.ts';
import { Outboxes, webhookThreadOf } from '../../src/shard/outboxes.ts';
import { Tasks } from '../../src/shard/tasks.ts';
import { RecordStore } from '../../src/store/record-store.ts';

const nowMs = 1_000_000;
const mib = 1024 * 1024;
const bytesMax = 64 * mib;
const common = { org: 'org_1', livemode: false, created: 1000 };

function endpoint(id: string, status: WebhookEndpointRecord['status'] = 'enabled'): WebhookEndpointRecord {
  return {
    ...common,
    kind: 'webhook_endpoint',
    id,
    url: `https://${id}.test/`,
    enabled_events: ['*'],
    status,
    draining: status === 'deleted',
    metadata: {},
    api_version: '2026-11-01',
    secrets: [{ sealed: 's', expires_at_ms: null }],
    by_hand: null,
    failed_resent_at_ms: null,
  };
}

const event: EventRecord = {
  ...common,
  kind: 'event',
  id: 'evt_1',
  type: 'charge.failed',
  api_version: '2026-11-01',
  object_json: '{}',
  request_id: null,
  idempotency_key: null,
  by: 'time',
  by_name: null,
  sample: false,
};

const peer: Peer = { post: () => assert.fail() };

function outboxesOf(
  records: RecordStore,
  onDamage: (reason: string) => void = assert.fail,
  threads = 1,
): Outboxes {
  return new Outboxes(records, new Tasks(records, onDamage), threads, bytesMax * threads);
}

class Bench {
  readonly state = new RecordStore();
  readonly damage: string[] = [];
  readonly outboxes: Outboxes;
  #number = 0;

  constructor(...changes: Change[]) {
    this.outboxes = outboxesOf(this.state, (reason) => void this.damage.push(reason), this.threads);
    this.apply(...changes);
  }

  /** How many webhook threads there are. */
  get threads(): number {
    return 1;
  }

  get outbox(): Outbox {
    return this.outboxes.ofThread(0);
  }

  apply(...changes: Change[]): void {
    for (const change of changes) {
      this.outboxes.observe(change);
      this.state.apply(change);
    }
  }

  /** New deliveries, each of an event of its own that there was before, unless `more` names one. */
  deliver(endpoint: string, count: number, more: Partial<DeliveryRecord> = {}): string[] {
    return Array.from({ length: count }, () => {
      const number = String(++this.#number).padStart(6, '0');
      const id = `whd_${number}`;
      const own = { ...event, id: `evt_${number}` };
      if (more.event === undefined) this.state.apply(own);
      this.apply({
        ...common,
        kind: 'delivery',
        id,
        endpoint,
        event: own.id,
        event_type: own.type,
        ...{ first_at_ms: null, first_duration_ms: null, first_status: null, answered: [] },
        status: 'pending',
        due_at_ms: nowMs,
        ended_at_ms: null,
        attempt_count: 0,
        tries: 0,
        ...more,
      });
      return id;
    });
  }

  /** What the next commit batch hands out. */
  takeOnce(atMs: number): ReturnType<Outbox['take']> {
    const taken = this.outbox.take(atMs);
    this.outboxes.endBatch();
    return taken;
  }

  /** What the next commit batches hand out, by id. */
  take(atMs = nowMs): string[] {
    const ids: string[] = [];
    do ids.push(...this.takeOnce(atMs).deliveries.map(({ id }) => id));
    while (this.outbox.isReady);
    return ids;
  }

  /** An attempt is reported and recorded. */
  record(id: string, after: Partial<DeliveryRecord>): void {
    const delivery = this.state.get('delivery', id)!;
    this.outbox.release(delivery.endpoint, id, delivery.attempt_count);
    this.apply({ ...delivery, attempt_count: delivery.attempt_count + 1, ...after });
  }
}

const done = { status: 'succeeded', due_at_ms: null } as const;

test('a window is out at a time, oldest first; reports bring more', () => {
  const bench = new Bench(endpoint('we_a'));
  const ids = bench.deliver('we_a', 100);
  assert.deepEqual(bench.take(), ids.slice(0, windowSize));
  assert.deepEqual(bench.take(), []);
  for (const id of ids.slice(0, 3)) bench.record(id, done);
  assert.deepEqual(bench.take(), ids.slice(windowSize, windowSize + 3));
  assert.equal(bench.outbox.depth(nowMs).waiting, 97);
});

test('endpoints take turns within what one turn leases', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  bench.deliver('we_a', 1000);
  const [first] = bench.deliver('we_b', 1);
  assert.ok(bench.take().indexOf(first!) <= windowSize / 2);
});

test('a retry is leased once its time has come, and not before', () => {
  const bench = new Bench(endpoint('we_a'));
  const [id] = bench.deliver('we_a', 1);
  bench.take();
  bench.record(id!, { due_at_ms: nowMs + 5000 });
  assert.deepEqual(bench.take(), []);
  bench.outbox.tick(nowMs + 4999);
  assert.deepEqual(bench.take(nowMs + 4999), []);
  bench.outbox.tick(nowMs + 5000);
  assert.deepEqual(bench.take(nowMs + 5000), [id]);
});

test('a delivery that is due before the leased ones is found: resent, or retried without a wait', () => {
  const bench = new Bench(endpoint('we_a'));
  const ids = bench.deliver('we_a', 40);
  bench.take();
  bench.record(ids[0]!, done);
  bench.take();
  bench.apply({ ...bench.state.get('delivery', ids[0]!)!, status: 'pending', tries: 0, due_at_ms: 0 });
  bench.record(ids[5]!, { due_at_ms: nowMs });
  const taken = bench.takeOnce(nowMs).deliveries;
  assert.deepEqual([taken[0]!.id, taken[0]!.first, taken[0]!.number], [ids[0], true, 1]);
  assert.equal(new Set(taken.map(({ id }) => id)).size, taken.length);
});

test('one that is resent, fails and is resent again is leased each time', () => {
  const bench = new Bench(endpoint('we_a'));
  const [id] = bench.deliver('we_a', 1);
  for (const number of [0, 1, 2]) {
    assert.deepEqual(
      bench.takeOnce(nowMs).deliveries.map((taken) => [taken.id, taken.number]),
      [[id, number]],
    );
    bench.record(id!, { due_at_ms: nowMs + 5000 });
    bench.apply({ ...bench.state.get('delivery', id!)!, tries: 0, due_at_ms: dueFirstMs });
  }
});

test('one that is resent while it is leased is leased again, first and once, though the window is full', () => {
  const bench = new Bench(endpoint('we_a'));
  const ids = bench.deliver('we_a', windowSize + 8);
  bench.take();
  const resend = (id: string) =>
    bench.apply({ ...bench.state.get('delivery', id)!, status: 'pending', tries: 0, due_at_ms: 0 });
  resend(ids[windowSize + 3]!);
  resend(ids[20]!);
  const { deliveries } = bench.takeOnce(nowMs);
  assert.deepEqual(
    deliveries.map(({ id, first, number }) => [id, first, number]),
    [[ids[20], true, 0]],
  );
  assert.deepEqual(bench.take(), []);
  resend(ids[3]!);
  bench.record(ids[3]!, done);
  assert.deepEqual(bench.take(), [ids[windowSize + 3]], 'one whose report came meanwhile is out no more');
  bench.record(ids[20]!, done);
  assert.deepEqual(bench.take(), [ids[windowSize]]);
});

test('nothing is leased twice, whatever is reported in which order', () => {
  const bench = new Bench(endpoint('we_a'));
  bench.deliver('we_a', 300);
  const out = new Set<string>();
  let leased = 0;
  for (let step = 0; step < 2000; step++) {
    for (const id of bench.take(nowMs + step)) {
      assert.ok(!out.has(id), 'it is out already');
      out.add(id);
      leased++;
    }
    assert.ok(out.size <= windowSize);
    const [id] = [...out].slice(step % 7);
    if (id === undefined) continue;
    out.delete(id);
    bench.record(id, step % 3 === 0 ? { due_at_ms: nowMs + step + (step % 5) } : done);
    bench.outbox.tick(nowMs + step);
  }
  assert.ok(leased > 300);
  assert.equal(bench.outbox.depth(nowMs).waiting, 0);
});

test('a disabled endpoint gets nothing until it is enabled', () => {
  const bench = new Bench(endpoint('we_a'));
  const ids = bench.deliver('we_a', 2);
  bench.apply(endpoint('we_a', 'disabled'));
  const { endpoints, deliveries } = bench.takeOnce(nowMs);
  assert.deepEqual(deliveries, []);
  assert.equal(endpoints[0]!.state!.enabled, false);
  bench.apply(endpoint('we_a'));
  assert.deepEqual(bench.take(), ids);
});

test('what is out to an endpoint ends when it is disabled, and what still waits is leased once it is enabled', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  const ids = bench.deliver('we_a', 4);
  const [reported, ended, resent, other] = ids;
  const get = (id = '') => bench.state.get('delivery', id)!;
  assert.deepEqual(bench.take(), ids);
  bench.apply({ ...get(resent), due_at_ms: dueFirstMs }, endpoint('we_a', 'disabled'));
  bench.record(reported!, done);
  bench.apply({ ...get(ended), status: 'ended', due_at_ms: null });
  bench.apply({ ...endpoint('we_a', 'disabled'), metadata: { note: 'still' } });
  assert.deepEqual(bench.take(), []);
  bench.apply(endpoint('we_a'));
  assert.deepEqual(bench.take(), [resent, other]);
});

test('a deleted endpoint is to be drained, and its deliveries are out no more', () => {
  const bench = new Bench(endpoint('we_a'));
  bench.deliver('we_a', 2);
  bench.apply(endpoint('we_a', 'deleted'));
  assert.deepEqual([...bench.outboxes.draining.keys()], ['we_a']);
  const { endpoints, deliveries } = bench.takeOnce(nowMs);
  assert.deepEqual([endpoints, deliveries], [[{ id: 'we_a', state: null }], []]);
  bench.apply({ ...endpoint('we_a', 'deleted'), draining: false });
  assert.equal(bench.outboxes.draining.size, 0);
});

test('a new webhook thread gets everything again, and so does a shard that starts again', () => {
  const bench = new Bench(endpoint('we_a'));
  const ids = bench.deliver('we_a', 3);
  assert.deepEqual(bench.take(), ids);
  assert.deepEqual(bench.take(), [], 'they are out');
  // Also of one that was resent, and that the thread before never heard of again.
  bench.apply({ ...bench.state.get('delivery', ids[1]!)!, due_at_ms: dueFirstMs });
  bench.outbox.open(peer);
  assert.deepEqual(bench.take(), [ids[1], ids[0], ids[2]]);
  assert.deepEqual(bench.take(), []);
  bench.apply({ ...bench.state.get('delivery', ids[1]!)!, due_at_ms: nowMs });
  const outboxes = outboxesOf(bench.state);
  outboxes.start();
  const again = outboxes.ofThread(0);
  again.open(peer);
  assert.deepEqual(again.depth(nowMs + 500), { waiting: 3, oldestMs: 0 }, 'since when is not known yet');
  assert.deepEqual(
    again.take(nowMs).deliveries.map(({ id }) => id),
    ids,
  );
  assert.deepEqual(again.depth(nowMs + 500), { waiting: 3, oldestMs: 500 });
});

test('only the first batch for a new webhook thread names every endpoint there is', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  const named = () => {
    const { endpoints, complete } = bench.takeOnce(nowMs);
    return { ids: endpoints.map(({ id }) => id), complete };
  };
  bench.outbox.open(peer);
  assert.equal(bench.outbox.isReady, true);
  assert.deepEqual(named(), { ids: ['we_a', 'we_b'], complete: true });
  bench.apply(endpoint('we_b', 'disabled'));
  assert.deepEqual(named(), { ids: ['we_b'], complete: false });
  const empty = outboxesOf(new RecordStore()).ofThread(0);
  empty.open(peer);
  assert.equal(empty.isReady, true);
  assert.equal(empty.take(nowMs).complete, true);
  assert.equal(empty.isReady, false);
});

test('a delivery whose event is damaged is told once and left out, also when it is resent, and the others are leased', () => {
  const bench = new Bench(endpoint('we_a'), { ...event, id: 'evt_2' });
  const [first] = bench.deliver('we_a', 1);
  const [damaged] = bench.deliver('we_a', 1, { event: 'evt_2' });
  const [last] = bench.deliver('we_a', 1);
  assert.deepEqual(bench.take(), [first, damaged, last]);
  const get = bench.state.get.bind(bench.state);
  bench.state.get = (kind, id) => {
    if (id === 'evt_2') throw new JournalDamaged('evt_2 is damaged');
    return get(kind, id);
  };
  bench.outbox.open(peer);
  assert.deepEqual(bench.take(), [first, last]);
  bench.outbox.open(peer);
  assert.deepEqual(bench.take(), [first, last]);
  assert.deepEqual(bench.damage, ['evt_2 is damaged']);
  bench.apply({ ...get('delivery', first!)!, event: 'evt_2', due_at_ms: dueFirstMs });
  assert.deepEqual(bench.take(), []);
  assert.equal(bench.damage.length, 2);
});

test('an endpoint that is damaged when its webhook thread is new is told once, and the others are served', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  bench.deliver('we_a', 2);
  const ids = bench.deliver('we_b', 2);
  bench.take();
  const get = bench.state.get.bind(bench.state);
  bench.state.get = (kind, id) => {
    if (id === 'we_a') throw new JournalDamaged('we_a is damaged');
    return get(kind, id);
  };
  for (let opened = 0; opened < 2; opened++) {
    bench.outbox.open(peer);
    const { endpoints, deliveries } = bench.takeOnce(nowMs);
    assert.deepEqual(
      endpoints.filter(({ state }) => state !== null).map(({ id }) => id),
      ['we_b'],
    );
    assert.deepEqual(
      deliveries.map(({ id }) => id),
      ids,
    );
  }
  assert.deepEqual(bench.damage, ['we_a is damaged']);
});

test('once many deliveries are out, an endpoint gets as many as can be in flight to it', () => {
  const full = Array.from({ length: leasesMax / windowSize }, (_, i) => `we_${i}`);
  const bench = new Bench(...full.map((id) => endpoint(id)), endpoint('we_late'));
  for (const id of full) bench.deliver(id, windowSize);
  assert.equal(bench.take().length, leasesMax);
  const late = bench.deliver('we_late', windowSize);
  assert.deepEqual(bench.take(), late.slice(0, 5));
  bench.record(late[0]!, done);
  assert.deepEqual(bench.take(), late.slice(5, 6));
  bench.apply(endpoint('we_0', 'disabled'));
  bench.outbox.tick(nowMs);
  assert.deepEqual(bench.take(), late.slice(6), 'there is room again');
  bench.outbox.open(peer);
  assert.ok(bench.take().length > leasesMax - windowSize, 'a new webhook thread has nothing yet');
});

test('large deliveries fill the windows too, and none is leased while those that are leased take too much', () => {
  const large: EventRecord = { ...event, id: 'evt_large', object_json: `"${'x'.repeat(mib)}"` };
  const endpoints = Array.from({ length: 20 }, (_, i) => `we_${i}`);
  const bench = new Bench(large, ...endpoints.map((id) => endpoint(id)));
  const ids = endpoints.map((id) => bench.deliver(id, windowSize, { event: large.id }));
  const out = bench.take();
  assert.ok(out.length >= 60 && out.length <= 64, `${out.length} MiB are out`);
  const perEndpoint = ids.map((each) => each.filter((id) => out.includes(id)).length);
  assert.ok(perEndpoint[0]! > 5, 'whole windows while there is room');
  assert.ok(perEndpoint.filter((count) => count > 0).length > 5, 'then small ones, for more endpoints');
  assert.equal(bench.outbox.isReady, false, 'full: there is nothing to do until a report comes');
  bench.record(out[0]!, done);
  assert.equal(bench.outbox.isReady, true);
  assert.equal(bench.take().length, 1);
  bench.apply(endpoint('we_0', 'deleted'));
  assert.equal(bench.take().length, perEndpoint[0]! - 1, 'what was out to a deleted endpoint takes no room');
  bench.apply(endpoint('we_1', 'disabled'));
  assert.equal(bench.take().length, perEndpoint[1], 'nor does what was out to a disabled one');
  bench.outbox.open(peer);
  assert.ok(bench.take().length >= 60, 'a new webhook thread holds nothing yet');
});

test('new deliveries are leased without a look at the index; their event says how many are pending', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'), endpoint('we_c'));
  bench.outbox.open(peer);
  bench.takeOnce(nowMs);
  let scans = 0;
  const scan = bench.state.scan.bind(bench.state);
  bench.state.scan = (...args) => {
    scans++;
    return scan(...args);
  };
  bench.apply({ ...event, id: 'evt_2' });
  const ids = ['we_a', 'we_b', 'we_c'].flatMap((id) => bench.deliver(id, 1, { event: 'evt_2' }));
  const { deliveries } = bench.takeOnce(nowMs);
  assert.deepEqual([deliveries.map(({ id }) => id), scans], [ids, 0]);
  for (const { body } of deliveries) assert.equal(JSON.parse(body).pending_webhooks, 3);

  bench.apply({ ...event, id: 'evt_3' });
  for (const id of ['we_a', 'we_b']) bench.deliver(id, 1, { event: 'evt_3' });
  bench.apply(endpoint('we_b', 'deleted'));
  const [left, ...others] = bench.takeOnce(nowMs).deliveries;
  assert.deepEqual([JSON.parse(left!.body).pending_webhooks, others], [1, []], 'one endpoint is gone');
});

test('a change of an endpoint discards no count of another organization, nor its own unless it is deleted', () => {
  const bench = new Bench(endpoint('we_a'), { ...endpoint('we_b'), org: 'org_2' });
  const looked: string[] = [];
  const scan = bench.state.scan.bind(bench.state);
  bench.state.scan = (index, ...rest) => {
    if (index.includes('evt_')) looked.push(index);
    return scan(index, ...rest);
  };
  bench.outbox.open(peer);
  bench.takeOnce(nowMs);
  bench.apply({ ...event, id: 'evt_a' }, { ...event, id: 'evt_b', org: 'org_2' });
  bench.deliver('we_a', 1, { event: 'evt_a' });
  bench.deliver('we_b', 1, { event: 'evt_b', org: 'org_2' });
  bench.apply(endpoint('we_a', 'disabled'), endpoint('we_a'));
  bench.apply({ ...endpoint('we_b', 'deleted'), org: 'org_2' });
  const { deliveries } = bench.takeOnce(nowMs);
  assert.deepEqual(
    deliveries.map(({ body }) => JSON.parse(body).pending_webhooks),
    [1],
  );
  assert.deepEqual(looked, []);
});

test('new deliveries wait for their lease without the index, and a body counts what is pending by then', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  bench.outbox.open(peer);
  bench.takeOnce(nowMs);
  bench.apply({ ...event, id: 'evt_2' });
  const late = bench.deliver('we_a', windowSize + 3, { event: 'evt_2' }).slice(windowSize);
  const [other] = bench.deliver('we_b', 1, { event: 'evt_2' });
  const window = bench.take();
  bench.state.scan = assert.fail;
  const retried = { status: 'pending', due_at_ms: nowMs + 60_000 } as const;
  for (const id of window.slice(0, 2)) bench.record(id, done);
  bench.record(window[2]!, retried);
  bench.record(other!, done);
  const { deliveries } = bench.takeOnce(nowMs);
  assert.deepEqual(
    deliveries.map(({ id }) => id),
    late,
  );
  for (const { body } of deliveries) assert.equal(JSON.parse(body).pending_webhooks, windowSize + 3 + 1 - 3);
});

test('more new deliveries than are kept for an endpoint are leased in their order', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  const ids = bench.deliver('we_a', freshMax + 100);
  const [other] = bench.deliver('we_b', 1);
  const seen = bench.take();
  assert.deepEqual(seen, [...ids.slice(0, 16), other, ...ids.slice(16, windowSize)]);
  const leased = ids.slice(0, windowSize);
  for (let at = 0; at < leased.length; at++) {
    bench.record(leased[at]!, done);
    if (at % 16 === 15) leased.push(...bench.take());
  }
  assert.deepEqual(leased, ids);
});

test('new deliveries that find no room, or are resent meanwhile, are leased from the index in their order', () => {
  const bench = new Bench(endpoint('we_a'));
  const window = bench.deliver('we_a', windowSize);
  assert.deepEqual(bench.take(), window);
  const [late, resent, last] = bench.deliver('we_a', 3);
  assert.deepEqual(bench.take(), []);
  bench.apply({ ...bench.state.get('delivery', resent!)!, due_at_ms: dueFirstMs });
  for (const id of window.slice(0, 3)) bench.record(id, done);
  assert.deepEqual(bench.take(), [resent, late, last]);
});

test('a new delivery that ends before it is leased is never out, and the one behind it is', () => {
  const bench = new Bench(endpoint('we_a'));
  const window = bench.deliver('we_a', windowSize);
  assert.deepEqual(bench.take(), window);
  const [ended, late] = bench.deliver('we_a', 2);
  const before = bench.state.get('delivery', ended!)!;
  bench.apply({ ...before, status: 'ended', due_at_ms: null, ended_at_ms: nowMs });
  for (const id of window.slice(0, 2)) bench.record(id, done);
  assert.deepEqual(bench.take(), [late]);
});

test('with several webhook threads each has its endpoints, and a body counts the deliveries of all', () => {
  const ids = Array.from({ length: 12 }, (_, i) => `we_${i}`);
  const bench = new (class extends Bench {
    override get threads(): number {
      return 3;
    }
  })();
  for (let thread = 0; thread < bench.threads; thread++) bench.outboxes.ofThread(thread).open(peer);
  bench.apply(...ids.map((id) => endpoint(id)), { ...event, id: 'evt_2' });
  for (const id of ids) bench.deliver(id, 1, { event: 'evt_2' });
  const taken = bench.outboxes.take(nowMs, false);
  for (const [thread, { endpoints, deliveries }] of taken.entries()) {
    assert.ok(deliveries.length > 0, 'twelve endpoints spread over three threads');
    assert.deepEqual(
      endpoints.map(({ id }) => id),
      deliveries.map((each) => each.endpoint),
    );
    for (const { id } of endpoints) assert.equal(webhookThreadOf(id, bench.threads), thread);
    for (const { body } of deliveries) assert.equal(JSON.parse(body).pending_webhooks, ids.length);
  }
  assert.equal(taken.flatMap(({ deliveries }) => deliveries).length, ids.length);
  // Of all threads together it is told how many wait, and since when the oldest does.
  bench.deliver(ids[0]!, 1, { due_at_ms: nowMs - 5_000 });
  assert.deepEqual(bench.outboxes.depth(nowMs), { waiting: ids.length + 1, oldestMs: 5_000 });
});

/** Counts how often deliveries are looked for in the index of an endpoint. */
function scansOf(bench: Bench): () => number {
  let scans = 0;
  const scan = bench.state.scan.bind(bench.state);
  const indexes = ['we_a', 'we_b', 'we_late'].map(endpointDueIndex);
  bench.state.scan = (...args) => {
    if (indexes.includes(args[0])) scans++;
    return scan(...args);
  };
  return () => scans;
}

test('all endpoints together keep few new deliveries; beyond, each keeps as many as can be in flight', () => {
  const ids = ['we_a', 'we_b', 'we_c', 'we_d', 'we_late'];
  const bench = new Bench(...ids.map((id) => endpoint(id)));
  for (const id of ids.slice(0, 4)) bench.deliver(id, freshMax);
  const late = bench.deliver('we_late', 6);
  const scans = scansOf(bench);
  for (const id of ids.slice(0, 4)) bench.apply(endpoint(id, 'disabled'));
  assert.deepEqual(
    bench.takeOnce(nowMs).deliveries.map(({ id }) => id),
    late,
  );
  assert.equal(scans(), 1, 'the sixth is due, and so the index is looked at');

  // Those of the disabled ones are left to the index, so there is room again.
  const more = bench.deliver('we_late', 100);
  assert.deepEqual(bench.take(), more);
  assert.equal(scans(), 1);
});

test('what is kept of an endpoint that is disabled, deleted or new to its thread leaves room to the others', () => {
  const leave: readonly ((bench: Bench) => void)[] = [
    (bench) => bench.apply(endpoint('we_a', 'disabled'), endpoint('we_a')),
    (bench) => bench.apply(endpoint('we_a', 'deleted'), endpoint('we_a')),
    (bench) => bench.outbox.open(peer),
  ];
  for (const leaves of leave) {
    const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
    for (let times = 0; times < 5; times++) {
      bench.deliver('we_a', freshMax);
      leaves(bench);
    }
    bench.take();
    const scans = scansOf(bench);
    const late = bench.deliver('we_b', windowSize);
    assert.deepEqual([bench.take(), scans()], [late, 0]);
  }
});

test('an endpoint has as much out as its window, however much is reported twice or too late', () => {
  const bench = new Bench(endpoint('we_a'));
  bench.deliver('we_a', 3 * windowSize);
  const out = bench.take();
  assert.equal(out.length, windowSize);
  for (const number of [1, 7]) bench.outbox.release('we_a', out[0]!, number);
  bench.outbox.release('we_a', 'whd_unknown', 0);
  bench.outbox.release('we_unknown', out[0]!, 0);
  assert.deepEqual(bench.take(), []);
  bench.outbox.release('we_a', out[0]!, 0);
  bench.outbox.release('we_a', out[0]!, 0);
  assert.equal(bench.take().length, 1);
});

test('what waits is counted, and since when, of enabled endpoints only', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  const depth = (atMs = nowMs + 1_000) => bench.outbox.depth(atMs);
  assert.deepEqual(depth(), { waiting: 0, oldestMs: 0 });
  const [first] = bench.deliver('we_a', 2);
  bench.deliver('we_b', 1, { due_at_ms: nowMs - 5_000 });
  assert.deepEqual(depth(), { waiting: 3, oldestMs: 6_000 });
  bench.apply(endpoint('we_b', 'disabled'));
  assert.deepEqual(depth(), { waiting: 3, oldestMs: 1_000 });
  bench.take();
  assert.deepEqual(depth(), { waiting: 3, oldestMs: 1_000 }, 'what is out waits, too');
  bench.record(first!, done);
  assert.deepEqual(depth(), { waiting: 2, oldestMs: 1_000 });
  bench.apply(endpoint('we_b', 'deleted'));
  assert.equal(depth().waiting, 1);
  assert.deepEqual(depth(nowMs - 60_000), { waiting: 1, oldestMs: 0 }, 'nothing is due yet');
  bench.apply(endpoint('we_c', 'disabled'));
  bench.deliver('we_c', 1, { due_at_ms: nowMs - 9_000 });
  assert.deepEqual(depth(), { waiting: 2, oldestMs: 1_000 }, 'it has never been enabled');
});

test('it wakes when the first retry of any endpoint is due, and never without one', () => {
  const bench = new Bench(endpoint('we_a'), endpoint('we_b'));
  const wakeMs = (atMs = nowMs) => {
    bench.outbox.tick(atMs);
    bench.take(atMs);
    return bench.outbox.wakeMs;
  };
  bench.take();
  bench.outbox.tick(nowMs);
  assert.equal(bench.outbox.isReady, false, 'who has nothing due does not keep the shard awake');
  assert.equal(wakeMs(), Infinity);
  const retried = { attempt_count: 1 };
  bench.deliver('we_a', 1, { ...retried, due_at_ms: nowMs + 3_000 });
  bench.deliver('we_b', 1, { ...retried, due_at_ms: nowMs + 2_000 });
  assert.equal(wakeMs(), nowMs + 2_000);
  assert.equal(wakeMs(nowMs + 1_999), nowMs + 2_000);
  assert.equal(wakeMs(nowMs + 2_000), nowMs + 3_000);
  assert.equal(wakeMs(nowMs + 3_000), Infinity);
});

test('whatever happens, each delivery is out once an attempt, a body counts what is pending, and nothing is left over', () => {
  const endpoints = ['we_a', 'we_b', 'we_c'];
  const one = fc.constantFrom(...endpoints);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ deliver: fc.array(one, { minLength: 1, maxLength: 4 }) }) },
    { weight: 6, arbitrary: fc.record({ report: fc.nat(), after: fc.constantFrom(0, 3, 'done' as const) }) },
    { weight: 1, arbitrary: fc.record({ resend: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ turn: one }) },
    { weight: 1, arbitrary: fc.record({ delete: one }) },
    { weight: 3, arbitrary: fc.constant({ take: true }) },
  );
  const play = (steps: readonly unknown[]) => {
    const bench = new Bench(...endpoints.map((id) => endpoint(id)));
    const out = new Map<string, number>();
    let atMs = nowMs;
    let events = 0;
    const record = (id: string) => bench.state.get('delivery', id)!;
    const isOn = (id: string) => bench.state.get('webhook_endpoint', id)?.status === 'enabled';
    const take = () => {
      const { deliveries } = bench.takeOnce(atMs);
      for (const { id, endpoint, number, first, body } of deliveries) {
        assert.ok(isOn(endpoint), 'only what is on gets anything');
        const { due_at_ms, attempt_count, status, event: of } = record(id);
        assert.deepEqual([status, attempt_count, due_at_ms === dueFirstMs], ['pending', number, first]);
        assert.ok(due_at_ms !== null && due_at_ms <= atMs, 'and when it is due');
        assert.ok(first || out.get(id) !== number, `attempt ${number} of ${id} is out already`);
        out.set(id, number);
        const pending = pendingDeliveries(bench.state, bench.state.get('event', of)!);
        assert.equal(JSON.parse(body).pending_webhooks, pending);
      }
      return deliveries.length;
    };
    const report = (id: string, after: 0 | 3 | 'done') => {
      const number = out.get(id)!;
      out.delete(id);
      bench.outbox.release(record(id).endpoint, id, number);
      if (record(id).status !== 'pending' || record(id).attempt_count !== number) return;
      const next = after === 'done' ? done : { due_at_ms: atMs + after };
      bench.apply({ ...record(id), attempt_count: number + 1, ...next });
    };
    const endLeases = (of: string) => {
      for (const id of out.keys()) if (record(id).endpoint === of) out.delete(id);
    };
    const ids: string[] = [];
    for (const each of steps as Record<string, never>[]) {
      atMs++;
      bench.outbox.tick(atMs);
      if ('deliver' in each) {
        const id = `evt_${events++}`;
        bench.apply({ ...event, id });
        for (const to of new Set<string>(each.deliver))
          if (isOn(to)) ids.push(...bench.deliver(to, 1, { event: id, due_at_ms: atMs }));
      } else if ('report' in each) {
        const id = [...out.keys()][Number(each.report) % out.size];
        if (id !== undefined) report(id, each.after ?? 0);
      } else if ('resend' in each) {
        const id = ids[Number(each.resend) % ids.length];
        if (id === undefined || !isOn(record(id).endpoint)) continue;
        bench.apply({ ...record(id), status: 'pending', tries: 0, due_at_ms: dueFirstMs });
      } else if ('turn' in each) {
        bench.apply(endpoint(each.turn, isOn(each.turn) ? 'disabled' : 'enabled'));
        endLeases(each.turn);
      } else if ('delete' in each) {
        bench.apply(endpoint(each.delete, 'deleted'));
        endLeases(each.delete);
        for (const id of ids)
          if (record(id).endpoint === each.delete && record(id).status === 'pending')
            bench.apply({ ...record(id), status: 'ended', due_at_ms: null });
        bench.apply(endpoint(each.delete));
      } else take();
    }
    atMs += 10;
    bench.apply(...endpoints.map((id) => endpoint(id)));
    bench.outbox.tick(atMs);
    while (take() > 0 || out.size > 0) for (const id of [...out.keys()]) report(id, 'done');
    assert.deepEqual(bench.outbox.depth(atMs), { waiting: 0, oldestMs: 0 });
    for (const id of ids) assert.notEqual(record(id).status, 'pending');
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 80 }), play), { numRuns: 60 });
});
