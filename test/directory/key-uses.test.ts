// When a key was used last: known at once, and on disk a minute later.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { unpack } from 'msgpackr';
import type { DirectoryStore } from '../../src/directory/directory-store.ts';
import { KeyUses } from '../../src/directory/key-uses.ts';

/** Uses on a store in memory whose writes may fail. */
function bench(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const written: Record<string, number>[] = [];
  let fails = false;
  const store = {
    values: () => [{ key: 'old', atMs: 5 }],
    async write(rows: () => ReadonlyMap<string, Uint8Array>) {
      if (fails) throw new Error('the disk is full');
      written.push(
        Object.fromEntries(
          [...rows().values()].map((row) => unpack(row)).map(({ key, atMs }) => [key, atMs]),
        ),
      );
    },
  } as unknown as DirectoryStore;
  const uses = new KeyUses(store);
  const pass = async (ms: number) => {
    context.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { uses, written, pass, fail: (is: boolean) => (fails = is) };
}

test('the latest use of each key is known at once, and what was stored before', (context) => {
  const { uses } = bench(context);
  assert.deepEqual([uses.lastMs('old'), uses.lastMs('a')], [5, null]);
  uses.note([
    { key: 'a', atMs: 7 },
    { key: 'a', atMs: 6 },
    { key: 'old', atMs: 4 },
  ]);
  assert.deepEqual([uses.lastMs('old'), uses.lastMs('a')], [5, 7]);
});

test('uses are written together a minute after the first, and again a minute after the next', async (context) => {
  const { uses, written, pass } = bench(context);
  uses.note([{ key: 'a', atMs: 7 }]);
  await pass(59_999);
  uses.note([{ key: 'b', atMs: 8 }]);
  assert.deepEqual(written, []);
  await pass(1);
  assert.deepEqual(written, [{ a: 7, b: 8 }]);
  await pass(600_000);
  assert.equal(written.length, 1, 'nothing was used since');
  uses.note([
    { key: 'a', atMs: 9 },
    { key: 'b', atMs: 8 },
  ]);
  await pass(60_000);
  assert.deepEqual(written.slice(1), [{ a: 9 }]);
});

test('what could not be written is written the next time', async (context) => {
  const { uses, written, pass, fail } = bench(context);
  fail(true);
  uses.note([{ key: 'a', atMs: 7 }]);
  await pass(60_000);
  assert.deepEqual(written, []);
  fail(false);
  uses.note([{ key: 'b', atMs: 8 }]);
  await pass(60_000);
  assert.deepEqual(written, [{ a: 7, b: 8 }]);
});
