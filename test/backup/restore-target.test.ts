// Where a restore cuts the log: at the entry that was named, wherever the checkpoint of the backup ends.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { cutFor } from '../../src/backup/restore-target.ts';
import { partOf } from '../../src/disk/identity.ts';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import { logFilesIn, writeLogFile } from '../../src/journal/log-files.ts';
import { identity, startMs, tag, turnAt } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const part = partOf(identity, 'log');

/** A log with the batches 1–2, 3–5 and 6, an hour apart, behind a checkpoint as of `state`. */
async function logOf(context: TestContext, state: number) {
  const folder = join(temporaryFolder(context), 'log');
  mkdirSync(folder);
  const batches = async function* () {
    for (const [first, last] of [
      [1, 2],
      [3, 5],
      [6, 6],
    ] as const) {
      const { bytes } = encodeBatch(turnAt(first, last - first + 1, startMs + first * 3_600_000), tag, 1);
      yield { firstSequence: first, lastSequence: last, bytes };
    }
  };
  await writeLogFile(folder, part, batches(), {
    type: 'batch',
    recipients: [],
    pace: async () => {},
  });
  return [{ shard: 0, files: { files: logFilesIn(folder), part, identities: [] }, tag, state }];
}

const at = (sequence: number) => ({ kind: 'sequence', shard: 0, sequence }) as const;
const cutAt = (sequence: number, first: number) => ({
  toMs: startMs + first * 3_600_000,
  entry: { shard: 0, sequence },
});

test('an entry that the checkpoint ends with is restored to, also where the log ends with it', async (context) => {
  for (const state of [0, 2, 5])
    assert.deepEqual(await cutFor(at(5), await logOf(context, state)), cutAt(5, 3));
  assert.deepEqual(await cutFor(at(4), await logOf(context, 2)), cutAt(4, 3));
  assert.deepEqual(await cutFor(at(6), await logOf(context, 6)), cutAt(6, 6));
});

test('an entry before the checkpoint is in an earlier backup, and one behind the log in none', async (context) => {
  await assert.rejects(cutFor(at(4), await logOf(context, 5)), {
    name: 'DataFolderError',
    message:
      'this is before the checkpoint of shard 0 in the backup, which is as of sequence 5: ' +
      'restore an earlier backup, with the archive, up to this moment',
  });
  await assert.rejects(cutFor(at(7), await logOf(context, 5)), {
    message: 'the log of shard 0 ends with sequence 6, in the backup and the archive: 7 is not in it',
  });
});
