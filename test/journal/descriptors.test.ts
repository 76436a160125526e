// A process without any free file descriptor: the journal has reserved those that it needs, so turns become durable although
// nothing else in the process can open a file.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../temporary-folder.ts';
import { journalIn, replayOf, sequencesOf, upTo } from './journal-fixtures.ts';

const child = join(import.meta.dirname, 'descriptors-child.ts');

test('without a descriptor to be had, turns are appended, and a new segment waits until there are some', async (context) => {
  const dir = temporaryFolder(context);
  const script = 'ulimit -n 100; exec "$0" "$@"';
  const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, child, dir], {
    timeout: 240_000,
  });
  const { nextSequence, starved, segments, status } = JSON.parse(stdout);
  assert.deepEqual([nextSequence, status], [802, 200]);
  assert(segments > starved, `${starved} segments, then ${segments}`);
  const journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(801));
  await journal.close();
});
