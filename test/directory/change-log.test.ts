// The directory's log of changes: what a backup and an archive make of it is the directory again, as of a moment.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { unpack } from 'msgpackr';
import {
  changesAfter,
  directoryBlocks,
  expiredChanges,
  filedChanges,
  restoreDirectory,
} from '../../src/directory/change-log.ts';
import { Directory, isForeignRow } from '../../src/directory/directory.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { logFilesIn, writeLogFile } from '../../src/journal/log-files.ts';
import { createManualClock } from '../manual-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { directoryIn, folderOfDirectory, part } from './directories.ts';

const startMs = 1_793_491_200_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const other = { ...part, folder: 'f'.repeat(32) };

function folderFor(context: TestContext): string {
  return join(temporaryFolder(context), 'directory');
}

/** A directory in which an organization is made every minute. */
async function grown(context: TestContext, count: number) {
  const folder = await folderOfDirectory();
  const clock = createManualClock(startMs);
  const directory = directoryIn(folder, clock.now);
  for (let n = 1; n <= count; n++) {
    await directory.createOrganization(`Souk ${n}`, ['test']);
    clock.advance(minuteMs);
  }
  await directory.closeStore();
  const store = new RowStore(folder, part);
  context.after(() => store.close());
  return store;
}

const namesIn = async (folder: string, of: typeof part) => {
  const directory = new Directory({ folder, part: of, now: () => startMs });
  const found = directory
    .organizations()
    .map(({ name }) => name)
    .sort();
  await directory.closeStore();
  return found;
};

const revisions = (store: RowStore, after: number) =>
  [...changesAfter(store, after)].map(({ firstSequence, lastSequence, timeMs }) => [
    firstSequence,
    lastSequence,
    timeMs - startMs,
  ]);

test('changes are read from a revision on, with their times', async (context) => {
  const store = await grown(context, 3);
  const each = [
    [1, 1, 0],
    [2, 2, minuteMs],
    [3, 3, 2 * minuteMs],
  ];
  assert.deepEqual(revisions(store, 0), each);
  assert.deepEqual(revisions(store, 1), each.slice(1));
  assert.deepEqual(revisions(store, 3), []);
});

test('changes of more than thirty days that the archive has go, some at once', async (context) => {
  const store = await grown(context, 14);
  const gone = (afterMs: number, archived: number) => {
    const expired = expiredChanges(store, startMs + 30 * dayMs + afterMs, archived);
    assert.ok(expired.every(([, content]) => content === null));
    return expired.map(([row]) => Number(row.slice('change/'.length)));
  };
  assert.deepEqual(gone(-1, 99), []);
  assert.deepEqual(gone(0, 99), [1]);
  assert.deepEqual(gone(2 * minuteMs, 99), [1, 2, 3]);
  assert.deepEqual(gone(2 * minuteMs, 2), [1, 2]);
  assert.deepEqual(gone(dayMs, 99), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a directory is made again from its rows and the changes that followed, up to a moment', async (context) => {
  const store = await grown(context, 4);
  const archive = folderFor(context);
  mkdirSync(archive);
  const options = { type: 'rows', recipients: [], pace: async () => {} } as const;
  async function* changes(after: number) {
    yield* changesAfter(store, after);
  }
  await writeLogFile(archive, part, changes(0), options);
  const files = { files: logFilesIn(archive), part, identities: [] };
  const filed = async (revision: number) => {
    const found: number[] = [];
    for await (const change of filedChanges(files, revision)) found.push(change.revision);
    return found;
  };
  assert.deepEqual([await filed(0), await filed(2), await filed(4)], [[1, 2, 3, 4], [3, 4], []]);

  const empty = await grown(context, 0);
  for (const [toMinute, names, left] of [
    [9, ['Souk 1', 'Souk 2', 'Souk 3', 'Souk 4'], []],
    [2, ['Souk 1', 'Souk 2', 'Souk 3'], [4]],
    [1, ['Souk 1', 'Souk 2'], [3, 4]],
    [-1, [], [1, 2, 3, 4]],
  ] as const) {
    const folder = folderFor(context);
    const target = { folder, part: other, isForeign: isForeignRow, toMs: startMs + toMinute * minuteMs };
    async function* blocks() {
      yield* directoryBlocks(empty);
    }
    const { leftOut } = await restoreDirectory(target, blocks(), files, 0);
    assert.deepEqual(
      leftOut.map(({ revision }) => revision),
      left,
    );
    assert.deepEqual(await namesIn(folder, other), names);
  }
});

test('a moment before what is missing in the middle of the changes can be restored', async (context) => {
  const store = await grown(context, 4);
  const archive = folderFor(context);
  mkdirSync(archive);
  async function* one(after: number) {
    yield* [...changesAfter(store, after)].slice(0, 1);
  }
  for (const after of [0, 1, 2, 3])
    await writeLogFile(archive, part, one(after), { type: 'rows', recipients: [], pace: async () => {} });
  rmSync(logFilesIn(archive)[2]!.path);
  const files = { files: logFilesIn(archive), part, identities: [] };
  const empty = await grown(context, 0);
  const restoredTo = (minute: number) => {
    const folder = folderFor(context);
    const target = { folder, part: other, isForeign: isForeignRow, toMs: startMs + minute * minuteMs };
    async function* blocks() {
      yield* directoryBlocks(empty);
    }
    return restoreDirectory(target, blocks(), files, 0);
  };
  const { leftOut, gap } = await restoredTo(0);
  assert.deepEqual(
    leftOut.map(({ revision }) => revision),
    [2],
  );
  assert.match(String(gap), /goes on at sequence 4: 3 to 3 are in no file$/);
  // Nobody knows when the missing one was made.
  await assert.rejects(
    restoredTo(1),
    /3 to 3 are in no file\. Add the file that holds them, or restore up to/,
  );
});

test('all rows of a directory go into blocks but for its log, so many to a block', async (context) => {
  const store = await grown(context, 0);
  await store.write(new Map(Array.from({ length: 1_200 }, (_, n) => [`row/${n}`, Buffer.from([n % 256])])));
  await store.write(new Map([['change/1', Buffer.from([1])]]));
  const blocks = [...directoryBlocks(store)];
  assert.deepEqual(
    blocks.map(({ bytes }) => unpack(bytes).length),
    [500, 500, [...store.rowsFrom('', '')].filter(([row]) => !row.startsWith('change/')).length - 1_000],
  );
  assert.ok(blocks.every(({ type }) => type === 'rows'));
  const folder = folderFor(context);
  const target = { folder, part: other, isForeign: (row: string) => row === 'row/7', toMs: 0 };
  async function* all() {
    yield* blocks;
  }
  const none = { files: [], part, identities: [] };
  assert.deepEqual(await restoreDirectory(target, all(), none, 0), { leftOut: [], gap: null });
  const restored = new RowStore(folder, other);
  const rows = [...restored.rowsFrom('row/', 'row/')];
  await restored.close();
  assert.equal(rows.length, 1_199);
  assert.deepEqual(
    rows.map(([row]) => row),
    rows.map(([row]) => row).sort(),
  );
});
