// The log's file is filled with zeros ahead of what was written, and never where something was written.

import assert from 'node:assert/strict';
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  commitAppended,
  createEnvironment,
  dataFile,
  openEnvironment,
  usedBytes,
} from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import { Preallocation } from '../../src/disk/preallocation.ts';
import type { LogBatch } from '../../src/journal/journal.ts';
import {
  appendTurns,
  identity,
  journalIn,
  paymentIntent,
  recovered,
  replayOf,
  sequencesOf,
  startMs,
  turnAt,
  upTo,
} from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const kilobyte = 1024;

/** A turn with one record of about so many bytes. */
function largeTurn(sequence: number, bytes: number): LogBatch {
  const intent = paymentIntent(sequence, { description: String(sequence).padEnd(bytes, '.') });
  return {
    firstSequence: sequence,
    timeMs: startMs,
    wallMs: startMs,
    entries: [{ changes: [intent], idempotency: null, cause: null }],
  };
}

function sizes(dir: string, firstSequence = 1): { file: number; used: number } {
  const folder = join(dir, 'log', String(firstSequence).padStart(16, '0'));
  const options = { folder, part: partOf(identity, 'log'), mapSize: 1 << 26, readOnly: true } as const;
  const environment = openEnvironment({ ...options, check: 'leaves' });
  const used = usedBytes(environment);
  void environment.close();
  return { file: statSync(dataFile(folder)).size, used };
}

test('the newest segment is filled ahead, by as much as it holds', async (context) => {
  const dir = temporaryFolder(context);
  let journal = await journalIn(dir);
  await appendTurns(journal, [1]);
  await journal.close();
  const small = sizes(dir);
  assert(small.file > 128 * kilobyte && small.file < 1024 * kilobyte, JSON.stringify(small));
  journal = await recovered(await journalIn(dir));
  for (let sequence = 2; sequence < 100; sequence++)
    await journal.log.append(largeTurn(sequence, 40 * kilobyte)).durable;
  await journal.close();
  const { file, used } = sizes(dir);
  assert(used > 99 * 40 * kilobyte && file - used > 512 * kilobyte, JSON.stringify({ file, used }));
  assert(file - used < 8 * 1024 * kilobyte, JSON.stringify({ file, used }));
});

test('the library is asked now and then how much it uses, and not before each transaction', async (context) => {
  const folder = join(temporaryFolder(context), 'segment');
  const options = { folder, part: partOf(identity, 'log'), mapSize: 1 << 26, check: 'none' } as const;
  await createEnvironment(folder, options.mapSize, options.part);
  const environment = openEnvironment(options);
  let asked = 0;
  const getStats = () => {
    asked++;
    return environment.getStats();
  };
  const room = new Preallocation(folder, Object.assign(Object.create(environment), { getStats }), 1 << 26);
  const commits = async (first: number, last: number) => {
    asked = 0;
    for (const sequence of upTo(last, first)) {
      const bytes = Buffer.alloc(16 * kilobyte, 1);
      await room.admit([{ bytes }]);
      await commitAppended(environment, [[sequence, bytes]]);
    }
    return asked;
  };
  await commits(1, 300);
  const often = await commits(301, 500);
  assert(often < 50, String(often));
  await room.stop();
  await environment.close();
});

test('records that outrun the filling are all there', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await journalIn(dir);
  const length = (sequence: number) => ((sequence * 7_919) % 40) ** 2 * kilobyte;
  const appended = upTo(60).map(
    (sequence) => journal.log.append(largeTurn(sequence, length(sequence))).durable,
  );
  await Promise.all(appended);
  for (let sequence = 61; sequence <= 120; sequence++)
    await journal.log.append(largeTurn(sequence, length(sequence))).durable;
  await journal.close();
  const again = await journalIn(dir);
  for (const { sequence, changes } of await replayOf(again))
    assert.deepEqual(changes, largeTurn(sequence, length(sequence)).entries[0]!.changes);
  assert.equal(again.log.nextSequence, 121);
  await again.close();
});

test('a segment that has ended takes no more room than it uses', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await journalIn(dir);
  await appendTurns(journal, [3, 2]);
  await appendTurns(journal, [4], startMs + 25 * 3_600_000);
  const { file, used } = sizes(dir, 1);
  assert.equal(file, used);
  await journal.close();
  const newest = sizes(dir, 6);
  assert(newest.file > newest.used, JSON.stringify(newest));
  const again = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(again)), upTo(9));
  await again.close();
});

test('a file that a crash left while it was being filled is used as it is', async (context) => {
  const dir = temporaryFolder(context);
  let journal = await journalIn(dir);
  await appendTurns(journal, [3]);
  await journal.close();
  appendFileSync(dataFile(join(dir, 'log', '0000000000000001')), Buffer.alloc(12_345));
  for (let round = 0; round < 20; round++) {
    journal = await recovered(await journalIn(dir));
    await journal.log.append(turnAt(journal.log.nextSequence, 40)).durable;
    await journal.close();
  }
  journal = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(803));
  await journal.close();
});
