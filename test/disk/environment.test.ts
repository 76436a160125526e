// What the storage library's errors mean to whoever reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardRead } from '../../src/disk/environment.ts';
import { JournalDamaged, JournalFailure } from '../../src/journal/journal.ts';

function read(code: number): () => unknown {
  return () =>
    guardRead('/data/shard-0/state', () => {
      throw Object.assign(new Error('refused'), { code });
    });
}

test('a page that is not what it should be is damage', () => {
  for (const code of [-30797, -30796, -30793]) assert.throws(read(code), JournalDamaged);
});

test('a read that is refused because a commit failed is no damage: opening the environment again helps', () => {
  assert.throws(
    read(-30795),
    (error) => error instanceof JournalFailure && !(error instanceof JournalDamaged),
  );
});
