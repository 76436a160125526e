// The rows of a checkpoint on their way into a backup: those of one moment, while the file is written, and damage is told.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { unpack } from 'msgpackr';
import { withChecksum } from '../../src/disk/checksum.ts';
import { createEnvironment, dataFile, openEnvironment, openTable } from '../../src/disk/environment.ts';
import { LmdbFile } from '../../src/disk/lmdb-file.ts';
import { FileDamage } from '../../src/disk/lmdb-pages.ts';
import { checkpointTables } from '../../src/journal/checkpoint/checkpoint-tables.ts';
import {
  rowBlocks,
  rowDefect,
  rowsOfBlock,
  type TableRows,
} from '../../src/journal/checkpoint/row-blocks.ts';
import { encodeRecord } from '../../src/journal/records/record-bytes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { customer, overwrite } from './journal-fixtures.ts';

const part = { folder: '0'.repeat(32), generation: 0, part: 'directory' };
const mapSize = 1 << 26;
const names = ['empty', 'few', 'many'] as const;
const lengths = [0, 1, 255, 256, 3_000, 65_535, 65_536, 70_000];

async function written(context: TestContext) {
  const folder = join(temporaryFolder(context), 'environment');
  await createEnvironment(folder, mapSize, part);
  const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
  context.after(() => environment.close());
  const [, few, many] = names.map((name) => openTable(environment, name));
  const fill = (byte: number) =>
    environment.transactionSync(() => {
      for (let i = 0; i < 20_000; i++) many!.putSync(keyOf(i), Buffer.alloc(i % 90, byte));
      for (const [i, length] of lengths.entries()) few!.putSync(keyOf(i), Buffer.alloc(length, byte));
    });
  fill(1);
  /** What the library finds. */
  const rows = () =>
    names.map((name) => [...openTable(environment, name).getRange()].map(({ key, value }) => [key, value]));
  return { environment, path: dataFile(folder), fill, rows: rows() };
}

function keyOf(number: number): Buffer {
  const key = Buffer.alloc(4 + (number % 5) * 90, number % 251);
  key.writeUInt32BE(number);
  return key;
}

/** What the blocks have by table, as a restore reads them. */
async function blocksOf(file: LmdbFile, between: () => void = () => {}) {
  const found = new Map<string, Buffer[][]>(names.map((name) => [name, []]));
  for await (const { bytes } of rowBlocks(file, [...names, 'never'])) {
    const [name, ...all] = unpack(Buffer.from(bytes)) as [string, ...Buffer[]];
    for (let i = 0; i < all.length; i += 2) found.get(name)!.push([all[i]!, all[i + 1]!]);
    between();
  }
  return [...found.values()];
}

test('blocks have every row of every table, as the library reads them', async (context) => {
  const { path, rows } = await written(context);
  const file = new LmdbFile(path);
  context.after(() => file.close());
  assert.deepEqual(await blocksOf(file), rows);
});

test('a block is taken when it has a quarter of a MiB, and the last one of a table with what is left', async (context) => {
  const { path } = await written(context);
  const file = new LmdbFile(path);
  context.after(() => file.close());
  const sizes = new Map<string, number[]>(names.map((name) => [name, []]));
  for await (const { bytes } of rowBlocks(file, names)) {
    const { table, rows } = rowsOfBlock({ type: 'rows', bytes: Buffer.from(bytes) });
    assert.ok(rows.length > 0);
    sizes.get(table)!.push(bytes.length);
  }
  const [empty, few, many] = names.map((name) => sizes.get(name)!);
  assert.deepEqual([empty, few!.length], [[], 1]);
  assert.ok(many!.length > 5);
  for (const size of many!.slice(0, -1))
    assert.ok(size >= 256 * 1024 && size < 512 * 1024, `a block of ${size} bytes`);
});

test('a block grows for a row that is larger than all that it has room for', async (context) => {
  const { environment, path } = await written(context);
  const few = openTable(environment, 'few');
  const sizes = [900_000, 10, 3_000_000];
  environment.transactionSync(() => {
    for (const [i, length] of sizes.entries()) few.putSync(keyOf(100 + i), Buffer.alloc(length, i + 1));
  });
  const file = new LmdbFile(path);
  context.after(() => file.close());
  const [, found] = await blocksOf(file);
  assert.deepEqual(
    found!.slice(lengths.length),
    sizes.map((length, i) => [keyOf(100 + i), Buffer.alloc(length, i + 1)]),
  );
});

test('blocks are as of the moment at which their transaction began, whatever is committed meanwhile', async (context) => {
  const { environment, path, rows, fill } = await written(context);
  const transaction = environment.useReadTransaction();
  const file = new LmdbFile(path);
  context.after(() => file.close());
  let byte = 1;
  assert.deepEqual(await blocksOf(file, () => fill(++byte)), rows);
  assert(byte > 5, 'many blocks, and a commit after each');
  transaction.done();
});

test('a page that is overwritten is told with its place', async (context) => {
  const { path } = await written(context);
  const at = readFileSync(path).length - 5 * 4096;
  overwrite(path, at, Buffer.alloc(4 * 4096, 0xff));
  const reader = new LmdbFile(path);
  context.after(() => reader.close());
  await assert.rejects(blocksOf(reader), (error) => error instanceof FileDamage && error.at >= at);
});

const record = encodeRecord(customer(1, 'a@shop.test'));
const row = { key: Buffer.of(1), value: withChecksum(Buffer.from('content')) };
/** For each table a row, and what is said of it when a bit of its value has flipped. */
const checked: readonly (readonly [
  table: string,
  row: { key: Buffer; value: Buffer },
  said: RegExp | null,
])[] = [
  [checkpointTables.records, record, /the record cus_0+1 is not as it was written/],
  [checkpointTables.unchanging, record, /the record cus_0+1 is not as it was written/],
  [checkpointTables.idempotency, row, /idempotency keys are not as they were written/],
  [checkpointTables.responses, row, /a stored response is not as it was written/],
  // Rows of these have no checksum.
  [checkpointTables.index, row, null],
  [checkpointTables.metadata, row, null],
];
for (const [table, { key, value }, said] of checked)
  test(`a damaged row of the table ${table} ${said === null ? 'goes' : 'does not go'} into a backup`, async (context) => {
    assert.equal(rowDefect(table, key, value), null);
    const folder = join(temporaryFolder(context), 'environment');
    await createEnvironment(folder, mapSize, part);
    const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
    context.after(() => environment.close());
    const file = () => {
      const opened = new LmdbFile(dataFile(folder));
      context.after(() => opened.close());
      return opened;
    };
    const stored = openTable(environment, table);
    environment.transactionSync(() => stored.putSync(key, value));
    const backUp = async () => {
      const blocks: TableRows[] = [];
      for await (const block of rowBlocks(file(), [table])) blocks.push(rowsOfBlock(block));
      return blocks;
    };
    assert.deepEqual(await backUp(), [{ table, rows: [key, value] }]);
    const damaged = Buffer.from(value);
    damaged[damaged.length - 1]! ^= 1;
    environment.transactionSync(() => stored.putSync(key, damaged));
    const blocks = backUp();
    if (said === null) assert.equal((await blocks).length, 1);
    else
      await assert.rejects(
        blocks,
        (error: Error) => said.test(error.message) && error.message.includes(folder),
      );
  });
