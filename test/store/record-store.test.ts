// The layers of the record store together show the same records and lists as a plain map of
// everything that was applied, whichever layer a record is in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { objectBytes } from '../../src/core/heap-bytes.ts';
import { tagBytes } from '../../src/disk/identity.ts';
import {
  dueIndex,
  endedIndex,
  endpointDueIndex,
  fieldIndex,
  idsIn,
  kindIndex,
  scopeOf,
  timeKey,
} from '../../src/domain/indexes.ts';
import type { DeliveryRecord, PaymentIntentRecord, StoredRecord } from '../../src/domain/record.ts';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import { RecordStore } from '../../src/store/record-store.ts';
import { createIntent, openCharge } from '../domain/scenes.ts';
import { checkpoint, Stage } from '../domain/stage.ts';
import { MemoryColdStore, scanAll } from './memory-cold-store.ts';

const stage = new Stage();
const intent = stage.get('payment_intent', createIntent(stage));
const charge = stage.get('charge', openCharge(stage, createIntent(stage)));
const delivery: Omit<DeliveryRecord, 'id' | 'endpoint' | 'due_at_ms' | 'ended_at_ms'> = {
  kind: 'delivery',
  org: intent.org,
  livemode: false,
  created: intent.created,
  event: 'evt_1',
  event_type: 'refund.failed',
  status: 'pending',
  attempt_count: 0,
  tries: 0,
  ...{ first_at_ms: null, first_duration_ms: null, first_status: null, answered: [] },
};

const common = { org: intent.org, livemode: false, created: intent.created };
const event = stage.world.log.flat().find((change) => change.kind === 'event')!;
const attempt: StoredRecord = {
  ...{ ...common, kind: 'attempt', id: 'wha_01', delivery: 'whd_1', serial: 1 },
  ...{ at_ms: 0, duration_ms: 1, status: 500, failure: 'status', answer: 'x'.repeat(16 * 1024) },
};

function many(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [String(i).padStart(40, '-'), 'x'.repeat(500)]),
  );
}

const scope = scopeOf(intent.org, false);
const tag = Buffer.alloc(tagBytes);

/** A record out of a few ids, so that most changes meet a record that is there. */
const record: fc.Arbitrary<StoredRecord> = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom('succeeded', 'canceled', 'processing'))
    .map(([n, status]): PaymentIntentRecord => ({ ...intent, id: `pi_${n}`, status })),
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 20 }), fc.boolean())
    .map(([n, ms, open]) => ({
      ...charge,
      id: `ch_${n}`,
      due_at_ms: ms,
      status: open ? ('pending' as const) : ('failed' as const),
    })),
  fc
    .tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.integer({ min: 0, max: 20 })),
      fc.constantFrom('a', 'b'),
    )
    .map(
      ([n, due, endpoint]): DeliveryRecord => ({
        ...delivery,
        id: `whd_${n}`,
        endpoint,
        due_at_ms: due,
        ended_at_ms: due === null ? 10 + n : null,
      }),
    ),
);

const indexes = [
  kindIndex('payment_intent', scope),
  kindIndex('charge', scope),
  fieldIndex('payment_intent', scope, 'status', 'succeeded'),
  fieldIndex('payment_intent', scope, 'status', 'processing'),
  fieldIndex('delivery', scope, 'endpoint', 'a'),
  dueIndex,
  endpointDueIndex('a'),
  endedIndex,
];
const bounds = ['pi_0', 'pi_3', 'pi_9', 'ch_2', 'whd_2', timeKey(5), timeKey(15)];

type Action =
  | { readonly do: 'apply'; readonly record: StoredRecord }
  | { readonly do: 'begin_flush' | 'end_flush' | 'pack' }
  | { readonly do: 'write'; readonly count: number }
  | { readonly do: 'get' | 'keep'; readonly id: string }
  | {
      readonly do: 'scan';
      readonly index: string;
      readonly after: string | undefined;
      readonly before: string | undefined;
      readonly descending: boolean;
    };

const bound = fc.option(fc.constantFrom(...bounds), { nil: undefined });
const removed = fc.boolean().map((is) => (is ? { removed: true as const } : {}));
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('apply' as const),
      record: fc.tuple(record, removed).map(([each, gone]) => ({ ...each, ...gone })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('begin_flush' as const, 'end_flush' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pack' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('write' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('get' as const, 'keep' as const),
      id: record.map(({ id }) => id),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('scan' as const),
      index: fc.constantFrom(...indexes),
      after: bound,
      before: bound,
      descending: fc.boolean(),
    }),
  },
);

/** The store, the records that a flush has yet to write, and a map of what is expected. */
class Bench {
  readonly cold = new MemoryColdStore();
  readonly state: RecordStore;
  readonly expected = new Map<string, StoredRecord>();
  /** What was applied since the last turn was packed, and since a checkpoint began. */
  turn: StoredRecord[] = [];
  unwritten: StoredRecord[] = [];
  packedBytes = 0;
  flushing: StoredRecord[] | null = null;

  constructor(cacheBytesMax: number) {
    this.state = new RecordStore(this.cold, cacheBytesMax);
  }

  run(step: Action): void {
    switch (step.do) {
      case 'apply':
        this.state.apply(step.record);
        this.turn.push(step.record);
        this.unwritten.push(step.record);
        if (step.record.removed) this.expected.delete(step.record.id);
        else this.expected.set(step.record.id, step.record);
        return;
      case 'begin_flush':
        // A turn is packed before anything else happens.
        this.pack();
        if (this.flushing !== null) return;
        this.state.beginFlush();
        this.flushing = this.unwritten;
        this.unwritten = [];
        return;
      case 'pack':
        this.pack();
        return;
      case 'write':
        // A flush may be half done. The half in the cold store must not be visible.
        if (this.flushing !== null) this.cold.write(this.flushing.splice(0, step.count));
        return;
      case 'end_flush':
        if (this.flushing === null) return;
        this.cold.write(this.flushing);
        this.flushing = null;
        this.state.endFlush();
        return;
      case 'keep': {
        const newest = this.expected.get(step.id);
        if (newest !== undefined) this.state.keepAtHand(newest);
        return;
      }
      case 'get': {
        const { kind } = this.expected.get(step.id) ?? { kind: 'payment_intent' as const };
        assert.deepEqual(this.state.get(kind, step.id), this.expected.get(step.id));
        assert.equal(this.state.get('customer', step.id), undefined, 'of another kind');
        return;
      }
      case 'scan': {
        const keys = scanAll(this.expected.values(), step.index, step);
        const records = keys.map((key) => this.expected.get(idsIn(step.index)(key)));
        assert.deepEqual([...this.state.scan(step.index, step)], records);
        const first = this.state.scan(step.index, step)[Symbol.iterator]().next();
        assert.deepEqual(first.value, records[0], 'one at a time');
      }
    }
  }

  /** The log takes a turn; each change was an entry. */
  pack(): void {
    if (this.turn.length === 0) return;
    const entries = this.turn.map((record) => ({ changes: [record], idempotency: null, cause: null }));
    this.turn = [];
    const { changes } = encodeBatch({ firstSequence: 1, timeMs: 0, wallMs: 0, entries }, tag, 1);
    this.state.pack(entries, changes);
    this.packedBytes += changes.bytes;
  }
}

test('any order of changes, checkpoints and reads', (t) => {
  let steps = 0;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 * objectBytes(charge) }),
      fc.array(action, { minLength: 20, maxLength: 120, size: 'max' }),
      (cacheBytesMax, actions) => {
        const bench = new Bench(cacheBytesMax);
        for (const step of actions) bench.run(step);
        steps += actions.length;
        for (const limit of [cacheBytesMax, Math.floor(cacheBytesMax / 3)]) {
          bench.state.limitCache(limit);
          const { residentBytes, unwrittenBytes } = bench.state;
          // A cache of less than one record keeps the newest all the same.
          const bytesMax = Math.max(2 * objectBytes(charge), limit);
          assert.ok(residentBytes - unwrittenBytes <= bytesMax, 'memory is bounded');
        }
      },
    ),
    { numRuns: 300 },
  );
  t.diagnostic(`300 runs, ${steps} steps`);
});

/** Small and large: texts, metadata and an attempt's answer have no small bound. */
const sizes: readonly StoredRecord[] = [
  intent,
  charge,
  { ...intent, metadata: many(50) },
  { ...event, object_json: 'x'.repeat(30_000) },
  attempt,
];

for (const record of sizes) {
  const bytes = objectBytes(record);
  const numbered = (n: number) => ({ ...record, id: record.id.slice(0, -2) + (10 + n) });

  test(`a ${record.kind} of ${bytes} bytes counts with its size in every layer`, () => {
    const bench = new Bench(5 * bytes);
    const { state } = bench;
    for (let i = 0; i < 20; i++) bench.run({ do: 'apply', record: numbered(i) });
    bench.run({ do: 'pack' });
    const more = state.memtableBytes - bench.packedBytes;
    assert.ok(more > 20 * 100 && more < 20 * 1000, 'the commit batch, and what finds the records in it');
    const { memtableBytes } = state;
    bench.run({ do: 'apply', record: { ...numbered(0) } });
    assert.equal(state.memtableBytes, memtableBytes, 'rows that stay count once');
    bench.run({ do: 'begin_flush' });
    assert.equal(state.memtableBytes, 0);
    assert.ok(state.unwrittenBytes > memtableBytes, 'until the checkpoint has all of it');
    for (let i = 0; i < 20; i++) state.get(record.kind, numbered(i).id);
    assert.ok(state.residentBytes - state.unwrittenBytes > 3 * bytes, 'what was read is in the cache');
    bench.run({ do: 'end_flush' });
    assert.equal(state.unwrittenBytes, 0);
    assert.ok(state.residentCount >= 3 && state.residentCount <= 5, 'the cache is bounded');
    assert.equal(state.residentBytes, state.residentCount * bytes);
    for (let i = 1; i < 20; i++) state.get(record.kind, numbered(i % 3).id);
    assert.ok(state.residentBytes <= 5 * bytes);
  });

  test(`a ${record.kind} of ${bytes} bytes that was read from the log counts as an object`, () => {
    const { state } = new Bench(0);
    state.restore(record);
    const more = state.memtableBytes - bytes;
    assert.ok(more > 100 && more < 3000, 'and with its rows of indexes');
  });
}

test('a delivery that is kept at hand is not decoded, and its object goes when it has ended', () => {
  const bench = new Bench(100_000);
  const { state } = bench;
  const kept: DeliveryRecord = { ...delivery, id: 'whd_1', endpoint: 'a', due_at_ms: 5, ended_at_ms: null };
  bench.run({ do: 'apply', record: kept });
  bench.run({ do: 'pack' });
  for (let i = 0; i < 2; i++) state.keepAtHand(kept);
  assert.equal(state.get('delivery', kept.id), kept);
  assert.equal(state.residentCount, 2, 'its bytes and its object');
  const retried = { ...kept, due_at_ms: 20 };
  bench.run({ do: 'apply', record: retried });
  bench.run({ do: 'pack' });
  assert.equal(state.get('delivery', kept.id), retried);
  const ended = { ...kept, due_at_ms: null, ended_at_ms: 30 };
  bench.run({ do: 'apply', record: ended });
  bench.run({ do: 'pack' });
  assert.equal(state.residentCount, 1, 'its bytes');
  assert.deepEqual(state.get('delivery', kept.id), ended);
});

test('a flush at a time, and no end without a beginning', () => {
  const state = new RecordStore();
  assert.throws(() => state.endFlush(), /has begun/);
  state.beginFlush();
  assert.throws(() => state.beginFlush(), /after the one before/);
  state.endFlush();
  assert.equal(state.residentCount, 0);
});

test('an index row whose record is not there, or does not ask for it, is damage, and can be set aside', () => {
  const bench = new Stage();
  const id = createIntent(bench);
  checkpoint(bench.world);
  const record = bench.world.state.get('payment_intent', id)!;
  const lists = (keys: string[]) =>
    new RecordStore({
      get: (each) => (each === id ? record : undefined),
      scan: () => keys,
      strayRow: (index, key) => new Error(`stray row ${key} of ${index}`),
    });
  const all = { descending: false };
  const index = kindIndex('payment_intent', scopeOf(record.org, record.livemode));
  assert.deepEqual([...lists([id]).scan(index, all)], [record]);
  assert.throws(() => [...lists(['pi_1', id]).scan(index, all)], /stray row pi_1 of payment_intent/);
  for (const other of [
    kindIndex('payment_intent', scopeOf('org_another', record.livemode)),
    kindIndex('payment_intent', scopeOf(record.org, !record.livemode)),
    `${index}/status:succeeded`,
  ])
    assert.throws(() => [...lists([id]).scan(other, all)], /stray row pi_/, other);

  const aside: string[] = [];
  const setAside = {
    has: (_: string, key: string) => aside.includes(key),
    add: (_: string, key: string) => void aside.push(key),
  };
  const state = lists(['pi_1', id]);
  for (let again = 0; again < 2; again++) assert.deepEqual([...state.scan(index, all, setAside)], [record]);
  assert.deepEqual(aside, ['pi_1']);
});

test('what was checkpointed can be decided on', () => {
  const bench = new Stage();
  const id = createIntent(bench);
  checkpoint(bench.world);
  const paid = openCharge(bench, id);
  checkpoint(bench.world, () => bench.given('complete_charge', {}, paid));
  assert.equal(bench.get('payment_intent', id).status, 'succeeded');
  checkpoint(bench.world);
  assert.equal(bench.world.state.memtableBytes, 0);
  assert.equal(bench.given('create_refund', { payment_intent: id }).charge, paid);
});

test('records in memory are counted in each layer that has them, until they are in the checkpoint alone', () => {
  const { world } = new Stage();
  const { state } = world;
  const [first, second] = [createIntent(new Stage(world)), createIntent(new Stage(world))];
  // Each with its event.
  assert.equal(state.residentCount, 4);
  checkpoint(world, () => {
    assert.equal(state.residentCount, 4, 'they are being flushed');
    createIntent(new Stage(world));
    assert.equal(state.residentCount, 6);
    assert.ok(state.unwrittenBytes > 0 && state.residentBytes >= state.unwrittenBytes);
  });
  assert.equal(state.residentCount, 2);
  for (const id of [first, second]) assert.equal(state.get('payment_intent', id)?.id, id);
  assert.ok(state.residentCount <= 4);
});

test('a scan that is left closes what it reads of the checkpoint, whether or not it merges that with others', () => {
  let open = 0;
  const state = new RecordStore({
    get: () => undefined,
    *scan() {
      open++;
      try {
        yield* ['pi_1', 'pi_2', 'pi_3'];
      } finally {
        open--;
      }
    },
    strayRow: () => new Error('stray'),
  });
  const setAside = { has: () => true, add: assert.fail };
  const index = kindIndex('payment_intent', scopeOf(intent.org, intent.livemode));
  const leave = () => {
    assert.throws(() => [...state.scan(index, { descending: false })], /stray/);
    assert.equal(open, 0);
    assert.deepEqual([[...state.scan(index, { descending: false }, setAside)], open], [[], 0]);
  };
  leave();
  assert.equal(state.count(index), 3);
  state.apply({ ...intent, id: 'pi_9' });
  leave();
  assert.equal(state.count(index), 4);
  state.beginFlush();
  leave();
  assert.equal(state.count(index), 4);
});

test('of a record that was removed nothing is kept but its end', () => {
  const bench = new Bench(1_000_000);
  bench.run({ do: 'apply', record: { ...intent, removed: true } });
  bench.run({ do: 'pack' });
  const { residentCount } = bench.state;
  for (let times = 0; times < 2; times++)
    assert.equal(bench.state.get('payment_intent', intent.id), undefined);
  assert.equal(bench.state.residentCount, residentCount);
});
