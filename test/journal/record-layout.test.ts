// The bytes of records as every released version has written them: they are read for ever.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeRecord, encodeRecord } from '../../src/journal/record-layout.ts';
import { goldenRecords } from './golden-records.ts';

const folder = join(import.meta.dirname, 'golden');

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  test(`the records of ${file} are read as they were written`, () => {
    const golden: Record<string, string> = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    assert.deepEqual(Object.keys(golden).toSorted(), Object.keys(goldenRecords).toSorted());
    for (const [kind, hex] of Object.entries(golden)) {
      assert.deepEqual(decodeRecord(Buffer.from(hex, 'hex')), goldenRecords[kind as 'charge'], kind);
    }
  });
}

test('the newest file holds what is written today: a layout that changes needs an upcaster and a file of its own', () => {
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .at(-1)!;
  const golden: Record<string, string> = JSON.parse(readFileSync(join(folder, newest), 'utf8'));
  for (const [kind, record] of Object.entries(goldenRecords))
    assert.equal(encodeRecord(record).toString('hex'), golden[kind], kind);
});

test('a record that is removed stays so', () => {
  const { charge } = goldenRecords;
  const removed = { ...charge, removed: true } as const;
  assert.deepEqual(decodeRecord(encodeRecord(removed)), removed);
});
