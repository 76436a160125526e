// Every later version opens, recovers and reads the journals that each released version has left.

import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexNameOf, indexRowsOf } from '../../src/domain/indexes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  goldenCheckpointed,
  goldenEntriesOf,
  goldenFolder,
  goldenMetadata,
  openGolden,
} from './golden-journal.ts';
import { replayOf } from './journal-fixtures.ts';

const folders = readdirSync(goldenFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test('there is a golden journal', () => assert.notEqual(folders.length, 0));

for (const { name } of folders) {
  test(`the journal of ${name} is recovered, and everything in it is read as it was written`, async (context) => {
    const goldenEntries = goldenEntriesOf(name);
    const dir = join(temporaryFolder(context), name);
    cpSync(join(goldenFolder, name), dir, { recursive: true });
    const journal = await openGolden(dir);
    const { log, checkpoint, checkpointer } = journal;
    assert.equal(checkpoint.sequence, goldenCheckpointed);
    const replayed = await replayOf(journal);
    assert.equal(log.nextSequence, goldenEntries.length + 1);
    assert.deepEqual(
      replayed.map(({ changes, cause }) => ({ changes, cause })),
      goldenEntries.slice(goldenCheckpointed).map(({ changes, cause }) => ({ changes, cause })),
    );
    const known = [...checkpoint.idempotencyRecords(0), ...replayed.map(({ idempotency }) => idempotency!)];
    for (const [i, { idempotency }] of goldenEntries.entries()) {
      const { keyDigest, fingerprint, slot, ...response } = idempotency!;
      const { location, ...record } = known[i]!;
      assert.deepEqual(record, { keyDigest, fingerprint, slot, usedAtMs: record.usedAtMs });
      const stored = log.readResponse(location, keyDigest)!;
      assert.deepEqual({ ...stored, body: Buffer.from(stored.body).toString() }, response);
    }
    assert.deepEqual(Uint8Array.from(checkpoint.getMetadata(goldenMetadata[0])!), goldenMetadata[1]);

    // The next checkpoint goes on where that version has left off.
    await checkpointer.write(goldenEntries.length);
    for (const { changes } of goldenEntries) {
      for (const record of changes) {
        assert.deepEqual(checkpoint.get(record.id), record);
        for (const row of indexRowsOf(record)) {
          const index = indexNameOf(row);
          assert([...checkpoint.scan(index, { descending: false })].includes(row.sortKey), index);
        }
      }
    }
    await journal.close();
  });
}
