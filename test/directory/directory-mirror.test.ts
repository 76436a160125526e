// The directory as the mirror of rows that other machines hold, over a store on disk.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { endMirror, type Giving, mirroredEnd, openMirror } from '../../src/directory/directory-mirror.ts';
import { createDirectory, DirectoryStore } from '../../src/directory/directory-store.ts';
import type { RemoteRows, RowChanges, RowsEnd } from '../../src/disk/remote-rows.ts';
import { RowStore } from '../../src/disk/row-store.ts';
import { JournalDamaged, JournalFailure } from '../../src/disk/storage-errors.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const part = { folder: '0'.repeat(32), generation: 0, part: 'directory' } as const;

/** Rows as other machines hold them, in memory. */
class MemoryRows implements RemoteRows {
  readonly rows = new Map<string, { readonly content: Uint8Array | null; readonly sequence: number }>();
  writes: RowsEnd[] = [{ sequence: 0, checksum: 0 }];
  failure: JournalFailure | null = null;
  replaced = 0;
  isClosed = false;
  /** After which writes rows were read. */
  readonly readsAfter: number[] = [];

  get end(): RowsEnd {
    return this.writes.at(-1)!;
  }

  async acquire() {
    return this.end;
  }

  async checksumAt(sequence: number) {
    return this.writes.find((write) => write.sequence === sequence)?.checksum ?? null;
  }

  async *readAfter(sequence: number) {
    this.readsAfter.push(sequence);
    for (const [row, written] of this.rows)
      if (written.sequence > sequence) yield new Map([[row, written.content]]);
  }

  async write(rows: RowChanges) {
    if (this.failure !== null) throw this.failure;
    const sequence = this.end.sequence + 1;
    for (const [row, content] of rows) this.rows.set(row, { content, sequence });
    this.writes.push({ sequence, checksum: crc32([...rows.keys()].join(), this.end.checksum) });
    return this.end;
  }

  replace(rows: RowChanges) {
    this.replaced++;
    this.rows.clear();
    return this.write(rows);
  }

  async close(written?: Promise<unknown>) {
    await written;
    // Other machines take longer than a file.
    await turn();
    this.isClosed = true;
  }
}

/** A machine: its folder with an empty directory. */
async function machine(context: TestContext) {
  const folder = temporaryFolder(context);
  await createDirectory(folder, part);
  const withRows = async <T>(use: (rows: RowStore) => T | Promise<T>): Promise<T> => {
    const rows = new RowStore(folder, part);
    try {
      return await use(rows);
    } finally {
      await rows.close();
    }
  };
  return {
    withRows,
    open: (remote: RemoteRows, giving: Giving = 'never') =>
      withRows((rows) => openMirror(remote, rows, giving)),
    async change(remote: RemoteRows | null, rows: Record<string, string | null>) {
      const store = new DirectoryStore({ folder, part, now: () => 1, remote });
      const changed = Object.entries(rows).map(([row, text]) => [row, text && Buffer.from(text)] as const);
      await store
        .change(() => ({ rows: changed as [string, Uint8Array | null][], value: null, apply() {} }))
        .finally(() => store.close());
    },
    text: (row: string) => withRows((rows) => rows.get(row)?.toString()),
    all: () =>
      withRows((rows) => new Map([...rows.rowsFrom('', '')].map(([row, bytes]) => [row, String(bytes)]))),
  };
}

test('the first machine gives its rows, and another one becomes the same', async (context) => {
  const remote = new MemoryRows();
  const first = await machine(context);
  await first.change(null, { 'org/1': 'shop', 'org/2': 'gone' });
  await assert.rejects(first.open(remote), /no directory, and this data folder has one/);
  await first.open(remote, 'first');
  await first.change(remote, { 'org/2': null, 'org/3': 'new' });
  const second = await machine(context);
  await second.open(remote);
  assert.deepEqual(await second.all(), await first.all());
  assert.equal(await second.text('org/2'), undefined);
  assert.equal(remote.replaced, 1);
});

test('a machine that was away catches up, with what was removed', async (context) => {
  const remote = new MemoryRows();
  const [first, second] = [await machine(context), await machine(context)];
  await first.change(null, { 'org/1': 'one', 'org/2': 'two' });
  await first.open(remote, 'first');
  await second.open(remote);
  await first.change(remote, { 'org/1': null, 'org/2': 'changed' });
  await second.open(remote);
  assert.deepEqual(await second.all(), await first.all());
  // What was removed is no longer known: then the machine reads everything.
  await first.change(remote, { 'org/2': null, 'org/4': 'four' });
  remote.writes = [remote.end];
  for (const [row, { content }] of remote.rows) if (content === null) remote.rows.delete(row);
  await second.open(remote);
  assert.deepEqual(await second.all(), await first.all());
  assert.deepEqual(remote.readsAfter, [0, 1, 0]);
});

test('a write that the others refuse is not in the mirror', async (context) => {
  const remote = new MemoryRows();
  const only = await machine(context);
  await only.open(remote);
  remote.failure = new JournalFailure('somebody else has it', { diskFull: false, outcome: 'fenced' });
  await assert.rejects(only.change(remote, { 'org/1': 'one' }), /somebody else has it/);
  assert.equal(await only.text('org/1'), undefined);
});

test('rows that have lost what was acknowledged are refused, and taken over where that is wanted', async (context) => {
  const remote = new MemoryRows();
  const only = await machine(context);
  await only.open(remote);
  await only.change(remote, { 'org/1': 'one' });
  const { writes } = remote;
  const lost = [
    { name: 'the last write', writes: writes.slice(0, -1) },
    {
      name: 'the last write, and another was made',
      writes: [...writes.slice(0, -1), { ...writes.at(-1)!, checksum: 7 }],
    },
    { name: 'all', writes: writes.slice(0, 1) },
  ];
  for (const { name, writes } of lost) {
    remote.writes = writes;
    await assert.rejects(only.open(remote), JournalDamaged, name);
    await assert.rejects(only.open(remote), /has lost what it had acknowledged of the directory/, name);
  }
  await only.open(remote, 'always');
  assert.equal(String(remote.rows.get('org/1')?.content), 'one');
  // How far the mirror had come is nothing of the directory.
  assert.equal(remote.rows.has('mirrored'), false);
  const end = await only.withRows((rows) => mirroredEnd(rows));
  assert.deepEqual(end, remote.end);
});

test('a directory of its own is not overwritten by that of others', async (context) => {
  const remote = new MemoryRows();
  const [first, other] = [await machine(context), await machine(context)];
  await first.change(null, { 'org/1': 'one' });
  await first.open(remote, 'first');
  await other.change(null, { 'org/9': 'nine' });
  await assert.rejects(other.open(remote), /has one that is not its mirror/);
  assert.equal(await other.text('org/9'), 'nine');
});

test('a mirror that ends has what the others have, and is refused like any directory of its own', async (context) => {
  const remote = new MemoryRows();
  const [first, other] = [await machine(context), await machine(context)];
  await first.change(null, { 'org/1': 'one' });
  await first.open(remote, 'first');
  await other.open(remote);
  await other.withRows((rows) => endMirror(rows));
  assert.equal(await other.withRows((rows) => mirroredEnd(rows)), null);
  assert.equal(await other.text('org/1'), 'one');
  await assert.rejects(other.open(remote), /has one that is not its mirror/);
});

test('a directory that is closed leaves its remote rows open for all writes that were begun', async (context) => {
  const folder = temporaryFolder(context);
  await createDirectory(folder, part);
  const remote = new MemoryRows();
  const store = new DirectoryStore({ folder, part, now: () => 1, remote });
  const written = ['org/1', 'org/2'].map((row) =>
    store.write(() => {
      assert.equal(remote.isClosed, false);
      return new Map([[row, Buffer.from('shop')]]);
    }),
  );
  await store.close();
  await Promise.all(written);
  assert.deepEqual([[...remote.rows.keys()], remote.isClosed], [['org/1', 'org/2'], true]);
});
