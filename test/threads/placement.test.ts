// Where partitions are to run, as nodes come, go and fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackOff } from '../../src/threads/back-off.ts';
import { Placement } from '../../src/threads/placement.ts';

interface Told {
  readonly drained?: boolean;
  readonly leaving?: boolean;
  readonly wanted?: readonly number[];
  readonly damaged?: readonly number[];
  readonly behind?: number;
}

/** Four partitions of node `a`. Each node has one process, which is called like it unless told otherwise. */
function bench() {
  let nowMs = 0;
  const placement = new Placement('a', 4, () => nowMs);
  return {
    placement,
    pass(ms: number) {
      nowMs += ms;
    },
    know: (nodes: Readonly<Record<string, Told>>) =>
      placement.know(
        Object.entries({ a: {}, ...nodes }).map(([process, told]) => ({
          process,
          drained: false,
          leaving: false,
          wanted: [],
          damaged: [],
          behind: 0,
          ...told,
        })),
      ),
    link: (process: string, node = process) => placement.linked(process, { node, linkNumber: 1, edges: 0 }),
    /** Spreads the partitions and moves all that can be moved. Returns who runs each. */
    settle() {
      placement.spread();
      for (let number = placement.misplaced(0); number !== null; number = placement.misplaced(number + 1))
        placement.start(number);
      return [0, 1, 2, 3].map((number) => placement.ranAt(number)).join('');
    },
  };
}

/** Node `b` runs two partitions. */
function lent() {
  const made = bench();
  made.link('b');
  assert.equal(made.know({ b: {} }), 'soon');
  assert.equal(made.settle(), 'aabb');
  assert.equal(made.know({ b: {} }), null, 'nothing has changed');
  return made;
}

test('a node that is there and not linked, or linked and not there, is given nothing', () => {
  const { know, link, settle } = bench();
  assert.equal(know({ b: {} }), null);
  assert.equal(settle(), 'aaaa');
  link('c');
  assert.equal(settle(), 'aaaa');
});

test('a node whose link was lost is lent to again after two seconds, and later each time', () => {
  const { placement, pass, know, link, settle } = lent();
  for (const waitMs of [2_000, 4_000, 8_000]) {
    placement.unlinked('b');
    assert.equal(know({ b: {} }), 'now', 'others have to run what it ran');
    link('b');
    placement.spread();
    // Whoever supervises the shards of a lost node starts them.
    for (const number of [0, 1, 2, 3]) placement.start(number);
    assert.equal(settle(), 'aaaa');
    pass(waitMs - 1);
    assert.equal(know({ b: {} }), null);
    assert.equal(settle(), 'aaaa');
    pass(1);
    assert.equal(know({ b: {} }), 'soon');
    assert.equal(settle(), 'aabb');
  }
});

test('a node that has crashed is not given more because it is another process', () => {
  const { placement, pass, know, link, settle } = lent();
  // It could not run what it was given, and ended of it.
  placement.failed('b');
  placement.unlinked('b');
  placement.spread();
  for (const number of [0, 1, 2, 3]) placement.start(number);
  link('c', 'b');
  pass(3_999);
  assert.equal(know({ c: {} }), null);
  assert.equal(settle(), 'aaaa');
  pass(1);
  assert.equal(know({ c: {} }), 'soon');
  assert.equal(settle(), 'aacc');
});

test('a partition that could not be moved is still to be moved, and one of a lost node is not', () => {
  const { placement, know, link } = bench();
  link('b');
  know({ b: {} });
  placement.spread();
  assert.equal(placement.misplaced(0), 2);
  // Nothing has come of it.
  assert.equal(placement.misplaced(3), 3);
  assert.equal(placement.misplaced(0), 2, 'it is tried again');
  assert.deepEqual(placement.start(2), { process: 'b', before: 'a' });
  assert.deepEqual(placement.start(3), { process: 'b', before: 'a' });
  assert.equal(placement.misplaced(0), null);
  placement.unlinked('b');
  placement.spread();
  assert.equal(placement.misplaced(0), null);
  assert.deepEqual(placement.start(2), { process: 'a', before: 'b' });
});

test('a drained node gives back what it runs, and a wish for it counts no more', () => {
  const { know, settle } = lent();
  assert.equal(know({ b: { wanted: [0] } }), 'now');
  assert.equal(settle(), 'baba');
  assert.equal(know({ b: { drained: true, wanted: [0] } }), 'now');
  assert.equal(settle(), 'aaaa');
});

test('a node that leaves gives back what it runs, and goes on to run edges', () => {
  const { placement, know, settle } = lent();
  assert.equal(know({ b: { leaving: true } }), 'now');
  assert.equal(settle(), 'aaaa');
  assert.equal(placement.edgeTakers.length, 1);
});

test('a partition goes to a node that has its files whole, and the others are spread evenly around it', () => {
  const { placement, know, link, settle } = bench();
  placement.damaged('a', 0);
  assert.equal(placement.isRunnable(0), false, 'nobody else is there');
  placement.damaged('a', 1);
  link('b');
  know({ b: {} });
  assert.equal(settle(), 'bbaa');
  assert.deepEqual(
    [placement.isRunnable(0), placement.isWhole(0), placement.isWhole(2)],
    [true, false, true],
  );
  link('c');
  know({ b: {}, c: {} });
  assert.match(settle(), /^bb(ac|ca)$/, 'it stays where it runs');
  assert.equal(know({ a: { wanted: [0] }, b: {}, c: { wanted: [1] } }), 'now');
  assert.match(settle(), /^bc/, 'operators want what can be had');
});

test('a node that has found damage while it stood by is given the other partitions', () => {
  const { know, link, settle } = bench();
  link('b');
  assert.equal(know({ b: { damaged: [0, 2, 3] } }), 'soon');
  assert.equal(settle(), 'abaa');
});

test('one that no node has whole waits here for the next', () => {
  const { placement, know, link, settle } = lent();
  placement.damaged('b', 2);
  assert.equal(settle(), 'abab');
  placement.damaged('a', 2);
  placement.spread();
  assert.equal(placement.isRunnable(2), false);
  link('c');
  know({ b: {}, c: {} });
  placement.spread();
  assert.deepEqual([placement.isRunnable(2), placement.start(2).process], [true, 'c']);
});

test('another link may be with a node whose files are others', () => {
  const { placement, know, link, pass, settle } = lent();
  for (const number of [0, 1, 2, 3]) placement.damaged('b', number);
  assert.equal(settle(), 'aaaa');
  placement.unlinked('b');
  know({ b: {} });
  placement.spread();
  link('b');
  pass(2_000);
  know({ b: {} });
  assert.equal(settle(), 'aabb');
});

test('a wish for this node keeps a partition here', () => {
  const { know, settle } = lent();
  assert.equal(know({ a: { wanted: [3] }, b: {} }), 'now');
  assert.equal(settle(), 'abba');
});

test('who fails is left alone twice as long each time, up to a bound, and anew after a good while', () => {
  let nowMs = 0;
  const backOff = new BackOff({ minMs: 10, maxMs: 35 }, () => nowMs);
  assert.equal(backOff.isOver('b'), true);
  for (const ms of [10, 20, 35, 35]) {
    backOff.failed('b');
    nowMs += ms - 1;
    assert.equal(backOff.isOver('b'), false);
    assert.equal(backOff.isOver('c'), true);
    nowMs += 1;
    assert.equal(backOff.isOver('b'), true);
  }
  backOff.forget('b');
  backOff.failed('b');
  nowMs += 10;
  assert.equal(backOff.isOver('b'), true, 'it had succeeded');
  nowMs += 35;
  backOff.failed('b');
  nowMs += 10;
  assert.equal(backOff.isOver('b'), true, 'it had not failed for long');
});

test('a node runs edges from its link on until it is drained or its link is lost, whatever PostgreSQL has heard', () => {
  const { placement, know, link } = bench();
  const takers = () => placement.edgeTakers.map(([process]) => process).join('');
  assert.equal(takers(), '');
  link('b');
  link('c');
  assert.equal(takers(), 'bc');
  know({ b: {}, c: {} });
  know({ c: {} });
  assert.equal(takers(), 'bc');
  know({ b: { drained: true }, c: {} });
  assert.equal(takers(), 'c');
  know({ c: {} });
  assert.equal(takers(), 'c');
  know({ b: {}, c: {} });
  assert.equal(takers(), 'bc');
  placement.unlinked('c');
  assert.equal(takers(), 'b');
  assert.deepEqual(placement.hosts, [['b', { node: 'b', linkNumber: 1, edges: 0 }]]);
  assert.equal(placement.links, 1);
  assert.equal(placement.linkedNode('b')?.node, 'b');
  assert.equal(placement.linkedNode('c'), null);
});

test('a node is given partitions once it has nearly all of every one', () => {
  const { placement, know, link, settle } = bench();
  link('b');
  assert.equal(know({ b: { behind: 10_001 } }), null);
  assert.equal(settle(), 'aaaa');
  assert.equal(know({ b: { behind: 10_000 } }), 'soon');
  assert.equal(settle(), 'aabb');
  // What it has let go is behind until it is followed again.
  assert.equal(know({ b: { behind: 50_000 } }), null);
  assert.equal(settle(), 'aabb');
  // Another link may be with a node whose folder is another one.
  placement.unlinked('b');
  link('b');
  assert.equal(know({ b: { behind: 50_000 } }), 'now');
  assert.equal(settle(), 'aaaa');
});

test('partitions whose files are damaged here are shared among the nodes that can run them', () => {
  const { placement, know, link, settle } = bench();
  for (const process of ['b', 'c']) link(process);
  for (const number of [0, 1, 2, 3]) placement.damaged('a', number);
  know({ b: {}, c: {} });
  assert.equal(settle(), 'bcbc');
});
