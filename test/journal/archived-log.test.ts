// The log is dropped when it is old and the checkpoint has it, but never before the archive has it, too.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import { openFollower, openJournal } from '../../src/journal/open-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { appendTurns, identity } from './journal-fixtures.ts';

test('a segment that is not archived is kept, however old it is', async (context) => {
  const dir = temporaryFolder(context);
  const options = {
    dir,
    identity,
    indexRowsOf,
    // A segment for each turn.
    segmentBytesMax: 1,
    mapSizes: { log: 1 << 20, state: 1 << 20 },
  };
  const journal = await openJournal({ ...options });
  await appendTurns(journal, [2, 2, 2, 2]);
  await journal.close();
  let archived = 0;
  const follower = openFollower(options, () => archived);
  const segments = () => readdirSync(join(dir, 'log')).sort().map(Number);
  await follower.write(8);
  const muchLater = Number.MAX_SAFE_INTEGER;
  for (const [upTo, left] of [
    [0, [1, 3, 5, 7]],
    [1, [1, 3, 5, 7]],
    [2, [3, 5, 7]],
    [5, [5, 7]],
    [8, [7]],
  ] as const) {
    archived = upTo;
    assert.equal(await follower.drop(muchLater), left[0]);
    assert.deepEqual(segments(), left);
  }
  await follower.close();
});
