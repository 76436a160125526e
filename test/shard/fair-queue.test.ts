// The fair queue: whose turn it is, what it refuses, and what makes room for whom.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairQueue, type NoRoom, type QueueBounds, turnBytes } from '../../src/shard/fair-queue.ts';

const kib = 1024;

function queueOf(bounds: Partial<QueueBounds> = {}) {
  const evicted: string[] = [];
  const queue = new FairQueue<string>(
    { requests: 100, bytes: 1_000 * kib, organizationShare: 1, ...bounds },
    (value) => evicted.push(value),
  );
  let ids = 0;
  const put = (owner: string, bytes = kib) => {
    const id = ++ids;
    return { id, refused: queue.put(id, owner, bytes, `${owner}${id}`) };
  };
  const takeAll = () => {
    const taken: string[] = [];
    for (let value = queue.take(); value !== undefined; value = queue.take()) taken.push(value);
    return taken;
  };
  return { queue, put, takeAll, evicted };
}

test('one organization gets its requests back in their order', () => {
  const { put, takeAll, queue } = queueOf();
  for (let i = 0; i < 30; i++) put('a');
  assert.deepEqual([queue.length, queue.bytes], [30, 30 * kib]);
  assert.deepEqual(
    takeAll(),
    Array.from({ length: 30 }, (_, i) => `a${i + 1}`),
  );
  assert.deepEqual([queue.length, queue.bytes], [0, 0]);
});

test('one with little to do comes after a few requests of one that has much', () => {
  const { put, queue } = queueOf();
  for (let i = 0; i < 90; i++) put('a');
  put('b');
  const taken: string[] = [];
  while (!taken.includes('b91')) taken.push(queue.take()!);
  assert.ok(taken.length <= 9, `after ${taken.length}`);
});

test('organizations take turns by bytes, so one with large requests gets no more than others', () => {
  const { put, queue } = queueOf();
  for (let i = 0; i < 20; i++) put('large', 40 * kib);
  for (let i = 0; i < 80; i++) put('small');
  const taken = Array.from({ length: 40 }, () => queue.take()!);
  const ofLarge = taken.filter((value) => value.startsWith('large')).length;
  assert.ok(ofLarge >= 1 && ofLarge <= 2, `${ofLarge} large ones among 40`);
});

test('an organization may use all that is free', () => {
  const { put } = queueOf();
  for (let i = 0; i < 100; i++) assert.equal(put('a').refused, null);
  assert.equal(put('a').refused, 'full');
});

test('when the queue is full, the newest of the largest user makes room for others, and then they are refused, too', () => {
  const { put, evicted, queue } = queueOf();
  for (let i = 0; i < 60; i++) put('a');
  for (let i = 0; i < 40; i++) put('b');
  for (let i = 0; i < 10; i++) assert.equal(put('b').refused, null);
  assert.deepEqual(
    evicted,
    Array.from({ length: 10 }, (_, i) => `a${60 - i}`),
  );
  assert.deepEqual([put('b').refused, put('a').refused], ['full', 'full'], 'both use the same');
  assert.equal(put('c').refused, null);
  assert.equal(queue.length, 100);
});

test('bytes are bounded like requests', () => {
  const { put, evicted, queue } = queueOf({ bytes: 100 * kib });
  for (let i = 0; i < 4; i++) put('a', 25 * kib);
  assert.equal(put('a', kib).refused, 'full');
  assert.equal(put('b', 60 * kib).refused, 'full', 'it would be the largest user itself');
  assert.deepEqual(evicted, []);
  assert.equal(put('b', 20 * kib).refused, null);
  assert.deepEqual(evicted, ['a4']);
  assert.equal(put('b', 28 * kib).refused, null);
  assert.deepEqual(evicted, ['a4', 'a3']);
  assert.ok(queue.bytes <= 100 * kib);
});

test('the part of one organization can be less than all', () => {
  const { put } = queueOf({ organizationShare: 0.5 });
  for (let i = 0; i < 50; i++) assert.equal(put('a').refused, null);
  assert.equal(put('a').refused, 'organization');
  assert.equal(put('b').refused, null);
});

interface Putting {
  readonly bounds: Partial<QueueBounds>;
  /** What is in the queue already: bytes by organization, in their order. */
  readonly held: readonly (readonly [owner: string, ...bytes: number[]])[];
  readonly put: readonly [owner: string, bytes: number];
  readonly refused?: NoRoom;
  /** What `noRoomFor` says, where that is less than `refused`. */
  readonly told?: NoRoom | null;
  readonly evicted?: readonly string[];
}

const puttings: Record<string, Putting> = {
  'a new organization may use its whole part by requests': {
    bounds: { requests: 2, organizationShare: 0.5 },
    held: [],
    put: ['a', 1],
  },
  'a new organization may use its whole part by bytes, and no byte more': {
    bounds: { bytes: 100, organizationShare: 0.5 },
    held: [],
    put: ['a', 51],
    refused: 'organization',
  },
  'a known organization may use its whole part by bytes': {
    bounds: { bytes: 100, organizationShare: 0.5 },
    held: [['a', 25]],
    put: ['a', 25],
  },
  'beyond its part by bytes an organization is refused': {
    bounds: { bytes: 100, organizationShare: 0.5 },
    held: [['a', 25]],
    put: ['a', 26],
    refused: 'organization',
  },
  'where all is one part, one that would use all is told that it is full': {
    bounds: { bytes: 100 },
    held: [['a', 100]],
    put: ['a', 1],
    refused: 'full',
  },
  'who would use as much as the largest is told that it is full': {
    bounds: { requests: 4 },
    held: [
      ['a', 1, 1],
      ['b', 1],
      ['c', 1],
    ],
    put: ['b', 1],
    refused: 'full',
  },
  'several go, the newest first, when one has not the bytes': {
    bounds: { bytes: 100 },
    held: [['a', 25, 25, 25, 25]],
    put: ['b', 45],
    evicted: ['a4', 'a3'],
  },
  'no more go than must, to the byte': {
    bounds: { bytes: 100 },
    held: [['a', 50, 50]],
    put: ['b', 50],
    evicted: ['a2'],
  },
  'none goes when what may go is a byte too little': {
    bounds: { bytes: 100 },
    held: [['a', 50, 50]],
    put: ['b', 51],
    refused: 'full',
    told: null,
  },
  'nobody gives way to one who would then use as much': {
    bounds: { bytes: 100 },
    held: [['a', 25, 50, 25]],
    put: ['b', 75],
    refused: 'full',
    told: null,
  },
  'what has gone from the largest by requests counts for it no longer': {
    bounds: { requests: 10, bytes: 1_000 },
    held: [['a', ...Array.from({ length: 10 }, () => 10)]],
    put: ['b', 930],
    refused: 'full',
    told: null,
  },
  'the largest is the one with most requests where these are scarcer': {
    bounds: { requests: 10, bytes: 1_000 },
    held: [
      ['a', 300],
      ['b', ...Array.from({ length: 9 }, () => 1)],
    ],
    put: ['c', 1],
    evicted: ['b10'],
  },
  'the largest is the one with most bytes where these are scarcer': {
    bounds: { requests: 100, bytes: 100 },
    held: [
      ['a', 90],
      ['b', ...Array.from({ length: 10 }, () => 1)],
    ],
    put: ['c', 1],
    evicted: ['a1'],
  },
};

for (const [name, { bounds, held, put, refused = null, told = refused, evicted = [] }] of Object.entries(
  puttings,
))
  test(name, () => {
    const bench = queueOf(bounds);
    for (const [owner, ...all] of held)
      for (const bytes of all) assert.equal(bench.put(owner, bytes).refused, null);
    assert.equal(bench.queue.noRoomFor(...put), told);
    assert.equal(bench.put(...put).refused, refused);
    assert.deepEqual(bench.evicted, evicted);
  });

test('an organization takes no byte more in a round than others may', () => {
  const firstOf = (a: number, b: number) => {
    const { put, queue } = queueOf();
    put('a', a);
    put('b', b);
    return queue.take();
  };
  assert.equal(firstOf(turnBytes, turnBytes), 'a1');
  assert.equal(firstOf(turnBytes + 1, turnBytes), 'b2');
});

test('who may not have a turn now is passed over, and keeps its requests in their order', () => {
  const { put, queue, takeAll } = queueOf();
  for (const owner of ['a', 'a', 'b', 'c', 'b']) put(owner);
  put('d', 100 * kib);
  const taken: string[] = [];
  const mayTake = (owner: string) => owner === 'b' || owner === 'd';
  for (let next = queue.take(mayTake); next !== undefined; next = queue.take(mayTake)) taken.push(next);
  assert.deepEqual(taken, ['b3', 'b5', 'd6'], 'a large one too, after some rounds');
  assert.deepEqual(
    ['a', 'b', 'c', 'e'].map((owner) => queue.has(owner)),
    [true, false, true, false],
  );
  assert.equal(
    queue.take(() => false),
    undefined,
  );
  assert.deepEqual(takeAll().sort(), ['a1', 'a2', 'c4']);
});

test('an organization comes back after its turn has passed without a request of its own', () => {
  const { put, queue, takeAll } = queueOf();
  put('a');
  assert.equal(queue.take(), 'a1');
  put('b');
  assert.equal(queue.take(), 'b2', 'the turn of the first is over');
  put('a');
  put('b');
  assert.deepEqual(takeAll().sort(), ['a3', 'b4']);
});

test('who has used much and no longer does has its part again, and the largest is the one of now', () => {
  const { put, queue, takeAll } = queueOf({ bytes: 100, organizationShare: 0.9 });
  for (let times = 0; times < 3; times++) {
    assert.equal(put('a', 90).refused, null);
    takeAll();
  }
  put('b', 60);
  put('c', 40);
  assert.equal(put('d', 10).refused, null, 'the first goes for it');
  assert.equal(put('b', 60).refused, 'full', 'which would be the largest again');
  put('b', 50);
  assert.equal(queue.noRoomFor('b', 10), 'full');
});

test('new bounds hold for what comes, and what goes beyond them stays until its turn', () => {
  const { put, queue } = queueOf({ requests: 4 });
  for (let i = 0; i < 4; i++) put('a');
  queue.bounds = { requests: 2, bytes: 1_000 * kib, organizationShare: 1 };
  assert.deepEqual([queue.length, put('a').refused, put('b').refused], [4, 'full', null]);
  const left: string[] = [];
  queue.clear((value) => left.push(value));
  assert.deepEqual([left, queue.length], [['a1', 'b6'], 0]);
  assert.equal(put('b', 1_500 * kib).refused, 'full', 'beyond all bounds there is no room, and nobody to go');
  assert.deepEqual([put('a').refused, put('a').refused, put('a').refused], [null, null, 'full']);
});

test('what is removed is not taken, wherever it is, and makes room', () => {
  const { put, queue, takeAll } = queueOf({ requests: 5 });
  const ids = Array.from({ length: 5 }, () => put('a').id);
  for (const i of [0, 2, 4]) assert.equal(queue.remove(ids[i]!), true);
  assert.equal(queue.remove(ids[0]!), false);
  assert.equal(put('a').refused, null);
  assert.deepEqual(takeAll(), ['a2', 'a4', 'a6']);
});

test('whatever comes and goes, bounds hold, sums are right, and each organization keeps its order', () => {
  const step = fc.oneof(
    fc.record({ put: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 1, max: 30 * kib }) }),
    fc.record({ remove: fc.integer({ min: 1, max: 60 }) }),
    fc.constant({ take: true }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const held = new Map<number, { owner: string; bytes: number }>();
      const bounds = { requests: 20, bytes: 100 * kib, organizationShare: 0.8 };
      const queue = new FairQueue<number>(bounds, (id) => held.delete(id));
      let ids = 0;
      for (const each of steps) {
        if ('put' in each) {
          const id = ++ids;
          const told = queue.noRoomFor(each.put, each.bytes);
          const refused = queue.put(id, each.put, each.bytes, id);
          if (told !== null) assert.equal(refused, told);
          if (refused === null) held.set(id, { owner: each.put, bytes: each.bytes });
          // One that would use more than the largest after making room is refused by `put` alone.
          else assert.ok([null, refused].includes(queue.noRoomFor(each.put, each.bytes)), refused);
        } else if ('remove' in each) {
          assert.equal(queue.remove(each.remove), held.delete(each.remove));
        } else {
          const id = queue.take();
          assert.equal(id === undefined, held.size === 0);
          if (id === undefined) continue;
          const { owner } = held.get(id)!;
          const oldest = [...held].find(([, other]) => other.owner === owner)![0];
          assert.equal(id, oldest);
          held.delete(id);
        }
        const bytes = [...held.values()].reduce((sum, one) => sum + one.bytes, 0);
        assert.deepEqual([queue.length, queue.bytes], [held.size, bytes]);
        assert.ok(held.size <= bounds.requests && bytes <= bounds.bytes);
      }
    }),
  );
});
