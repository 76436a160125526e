// The epoch beside a log: the greatest that was stored, and none where the file can't be read.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EpochFile } from '../../src/journal/log/epoch-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('the greatest epoch stays, also when it is read again', (context) => {
  const dir = temporaryFolder(context);
  assert.equal(new EpochFile(dir).stored, 0);
  const file = new EpochFile(dir);
  for (const [stored, expected] of [
    [0, 0],
    [5, 5],
    [3, 5],
    [5, 5],
    [6, 6],
  ] as const) {
    file.store(stored);
    assert.equal(file.stored, expected);
    assert.equal(new EpochFile(dir).stored, expected);
  }
  const [name] = readdirSync(dir);
  assert.equal(readFileSync(join(dir, name!), 'utf8'), '6\n');
  for (const text of ['', '6', '06\n', '6\n\n', 'x\n', '0\n', `1${'0'.repeat(15)}\n`]) {
    writeFileSync(join(dir, name!), text);
    assert.equal(new EpochFile(dir).stored, 0, JSON.stringify(text));
  }
});
