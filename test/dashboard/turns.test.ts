// Work that few may do at a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns, type Waiter } from '../../src/dashboard/people/turns.ts';

const noEnd = new AbortController().signal;

function setUp(options: Partial<ConstructorParameters<typeof Turns>[0]> = {}) {
  const turns = new Turns({ atOnceMax: 1, waitingMax: 4, shareOfOne: 0.5, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  /** Work by the name of who does it. */
  const take = (who: string, { kind = 'stranger', gone = noEnd }: Partial<Waiter> = {}) =>
    turns.take({ kind, who, gone }, async () => {
      begun.push(who);
      await new Promise<void>((resolve) => ends.set(who, resolve));
      return who;
    });
  /** Ends work, and lets what waits for that go on. */
  const end = async (who: string) => {
    ends.get(who)!();
    await new Promise(setImmediate);
  };
  return { take, end, begun };
}

test('those who wait take turns, and one has a share only', async () => {
  const { take, end, begun } = setUp();
  void take('first');
  const [a1, a2, a3] = [take('a'), take('a'), take('a')];
  assert.equal(await a3, null, 'the share of one is two');
  const b = take('b');
  await end('first');
  await end('a');
  await end('b');
  await end('a');
  assert.deepEqual(begun, ['first', 'a', 'b', 'a']);
  assert.deepEqual([await a1, await a2, await b], ['a', 'a', 'b']);
});

test('when too many wait, the next is refused at once, or whoever has most', async () => {
  const { take } = setUp();
  void take('first');
  const waiting = ['a', 'a', 'b', 'c'].map((who) => take(who));
  void take('d');
  assert.equal(await waiting[1], null, 'd has none yet, so one of the two of a goes');
  assert.equal(await take('e'), null, 'everybody has one');
});

test('who has left gets no turn', async () => {
  const { take, end, begun } = setUp();
  void take('first');
  const leaves = new AbortController();
  const gone = take('a', { gone: leaves.signal });
  void take('b');
  leaves.abort();
  assert.equal(await gone, null);
  assert.equal(await take('c', { gone: AbortSignal.abort() }), null);
  await end('first');
  assert.deepEqual(begun, ['first', 'b']);
});

test('a crowd of strangers keeps a member waiting for one of them only, and members keep no stranger out', async () => {
  const { take, end, begun } = setUp();
  void take('first');
  for (const who of ['s1', 's2', 's3', 's4']) void take(who);
  for (const who of ['m1', 'm2', 'm3']) void take(who, { kind: 'member' });
  for (const who of ['first', 'm1', 's1', 'm2', 's2', 'm3', 's3']) await end(who);
  assert.deepEqual(begun, ['first', 'm1', 's1', 'm2', 's2', 'm3', 's3', 's4']);
});

test('work that fails gives its turn to the next', async () => {
  const turns = new Turns({ atOnceMax: 1, waitingMax: 4, shareOfOne: 1 });
  const waiter: Waiter = { kind: 'member', who: 'm', gone: noEnd };
  const failed = turns.take(waiter, async () => {
    throw new Error('out of memory');
  });
  const next = turns.take(waiter, async () => 'done');
  await assert.rejects(failed, /out of memory/);
  assert.equal(await next, 'done');
});
