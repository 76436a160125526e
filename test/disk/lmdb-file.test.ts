// An LMDB file read as a file, while the library goes on writing it: nothing is missed, doubled, torn or taken for damage.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createEnvironment, dataFile, openEnvironment, openTable } from '../../src/disk/environment.ts';
import { type FileRow, LmdbFile } from '../../src/disk/lmdb-file.ts';
import { FileDamage } from '../../src/disk/lmdb-pages.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const part = { folder: '0'.repeat(32), generation: 0, part: 'directory' };
const rows = 2_000;

async function written(context: TestContext) {
  const folder = join(temporaryFolder(context), 'environment');
  await createEnvironment(folder, 1 << 26, part);
  const environment = openEnvironment({ folder, part, mapSize: 1 << 26, check: 'none' });
  const table = openTable(environment, 'rows');
  openTable(environment, 'other');
  /** Writes a row anew: small and large values, of which each says its key. */
  const put = (number: number, round: number) => {
    const bytes = Buffer.alloc(number % 7 === 0 ? 6_000 + (round % 3) * 4_096 : 100, number % 251);
    bytes.writeUInt32LE(number, 0);
    bytes.writeUInt32LE(number, bytes.length - 4);
    table.putSync(keyOf(number), bytes);
  };
  environment.transactionSync(() => {
    for (let number = 0; number < rows; number++) put(number, 0);
  });
  let round = 0;
  /** Some transactions: pages that were read before them are reused by the later ones. */
  const churn = () => {
    for (let i = 0; i < 4; i++) {
      round++;
      environment.transactionSync(() => {
        for (let number = round % 11; number < rows; number += 11) put(number, round);
      });
    }
  };
  context.after(() => environment.close());
  return { file: new LmdbFile(dataFile(folder)), table, environment, churn };
}

function keyOf(number: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(number);
  return key;
}

/** The number that a row's key and both ends of its value say. */
function numberIn(row: FileRow | FileDamage): number {
  assert(!(row instanceof FileDamage), String(row));
  const number = row.key.readUInt32BE(0);
  const value = row.read();
  assert.deepEqual([value.readUInt32LE(0), value.readUInt32LE(value.length - 4)], [number, number]);
  return number;
}

const all = Array.from({ length: rows }, (_, number) => number);

test('rows are read in both orders, from any key on, and by their keys', async (context) => {
  const { file } = await written(context);
  assert.deepEqual([...file.rows('rows')].map(numberIn), all);
  assert.deepEqual([...file.rows('rows', { reverse: true })].map(numberIn), all.toReversed());
  for (const number of [0, 1, 777, rows - 1]) {
    assert.deepEqual([...file.rows('rows', { after: keyOf(number) })].map(numberIn), all.slice(number + 1));
    const before = [...file.rows('rows', { after: keyOf(number), reverse: true })];
    assert.deepEqual(before.map(numberIn), all.slice(0, number).reverse());
    assert.equal(file.get('rows', keyOf(number))!.readUInt32LE(0), number);
  }
  assert.equal(file.get('rows', keyOf(rows)), undefined);
  assert.equal(file.get('other', keyOf(0)), undefined);
  assert.deepEqual([...file.rows('nothing')], []);
});

for (const reverse of [false, true]) {
  test(`a file that is written while its rows are read ${reverse ? 'backwards' : ''} gives each row once, and whole`, async (context) => {
    const { file, churn } = await written(context);
    const found: number[] = [];
    for (const row of file.rows('rows', { reverse })) {
      // Between two rows, and between a row and its value.
      if (found.length % 5 === 0) churn();
      found.push(numberIn(row));
      assert.equal(file.get('rows', keyOf(found.length % rows))!.readUInt32LE(0), found.length % rows);
    }
    assert.deepEqual(found, reverse ? all.toReversed() : all);
  });
}

test('a row that is removed before its value is read is empty, and is no damage', async (context) => {
  const { file, table, environment, churn } = await written(context);
  const [row] = file.rows('rows', { after: keyOf(6) });
  environment.transactionSync(() => table.removeSync(keyOf(7)));
  churn();
  churn();
  assert(!(row instanceof FileDamage));
  const value = row!.read();
  assert(value.length === 0 || value.readUInt32LE(0) === 7);
});
