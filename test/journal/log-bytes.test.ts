// The log is bounded by bytes: segments beyond the bound are dropped before their stored responses have expired, and these are
// read from the checkpoint from then on, for as long as they are needed.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openEnvironment, openTable } from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import { checkpointFolderIn } from '../../src/journal/checkpoint/checkpoint-folder.ts';
import { checkpointTables } from '../../src/journal/checkpoint/checkpoint-tables.ts';
import type { OwnJournal, ResponseLocation } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { readStoppedJournal } from '../../src/journal/stopped-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  digest,
  identity,
  indexRowsOf,
  journalIn,
  recovered,
  startMs,
} from './journal-fixtures.ts';

const dayMs = 86_400_000;

interface Subject {
  readonly dir: string;
  journal: OwnJournal;
}

/** A journal whose turns have a segment each, and whose log may take next to nothing. */
async function tight(context: TestContext, logBytesMax = 1): Promise<Subject> {
  const dir = temporaryFolder(context);
  const subject = { dir, journal: await open(dir, logBytesMax) };
  context.after(() => subject.journal.close());
  return subject;
}

async function open(dir: string, logBytesMax: number): Promise<OwnJournal> {
  return await recovered(await journalIn(dir, { segmentBytesMax: 1, logBytesMax }));
}

const segmentsIn = (dir: string) => readdirSync(join(dir, 'log')).sort();

/** The places of the responses of the entries with odd numbers, as `appendTurns` writes them, by number. */
function places(journal: OwnJournal): Map<number, ResponseLocation> {
  const found = new Map<number, ResponseLocation>();
  for (const { keyDigest, location } of journal.checkpoint.idempotencyRecords(0))
    found.set(new DataView(keyDigest.buffer, keyDigest.byteOffset).getFloat64(3), location);
  return found;
}

function assertReadable(read: OwnJournal['log']['readResponse'], all: Map<number, ResponseLocation>): void {
  for (const [number, location] of all) {
    const response = read(location, digest(number));
    assert.ok(response, `the response of ${number}`);
    assert.equal(response.status, 200);
    assert.equal(
      JSON.parse(Buffer.from(response.body as Uint8Array).toString()).description,
      `Order ${number}`,
    );
    assert.equal(response.defaults, JSON.stringify({ amount: number, name: 'é' }));
    assert.match(response.requestId, new RegExp(`^req_0+${number}$`));
  }
}

test('segments beyond the bound are dropped, and every response in them is replayed, after a restart, too', async (t) => {
  const subject = await tight(t);
  const { dir } = subject;
  await appendTurns(subject.journal, [4, 3, 6, 2, 5]);
  const last = subject.journal.log.nextSequence - 1;
  await subject.journal.checkpointer.write(last);
  const all = places(subject.journal);
  assert.deepEqual([...all.keys()], [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
  assert.equal(segmentsIn(dir).length, 5);
  assert.equal(await subject.journal.checkpointer.drop(startMs - dayMs), 16);
  assert.equal(segmentsIn(dir).length, 1);
  assertReadable((...place) => subject.journal.log.readResponse(...place), all);
  await subject.journal.close();
  await readStoppedJournal({ dir, identity, indexRowsOf }, async (stopped) =>
    assertReadable((...place) => stopped.readResponse(...place), all),
  );
  subject.journal = await open(dir, 1);
  assertReadable((...place) => subject.journal.log.readResponse(...place), all);
  assert.throws(() => subject.journal.log.readResponse(all.get(1)!, digest(3)), /is not as it was written/);
});

test('what the checkpoint does not reflect stays in the log, however large that is', async (t) => {
  const { dir, journal } = await tight(t);
  await appendTurns(journal, [4, 3, 6]);
  await journal.checkpointer.write(7);
  assert.equal(await journal.checkpointer.drop(startMs - dayMs), 8);
  assert.equal(segmentsIn(dir).length, 1);
  await appendTurns(journal, [4, 3]);
  assert.equal(await journal.checkpointer.drop(startMs - dayMs), 8);
  assert.equal(segmentsIn(dir).length, 3);
});

test('a log below the bound is dropped by age only', async (t) => {
  const { dir, journal } = await tight(t, 2 ** 40);
  await appendTurns(journal, [4, 3, 6]);
  await journal.checkpointer.write(13);
  await journal.checkpointer.drop(startMs - dayMs);
  assert.equal(segmentsIn(dir).length, 3);
});

test('a moved response is gone when it has expired', async (t) => {
  const { journal } = await tight(t);
  await appendTurns(journal, [3], startMs);
  await appendTurns(journal, [3, 3], startMs + 1_000);
  await journal.checkpointer.write(9);
  const all = places(journal);
  // They move the first time, and stay the second.
  for (let time = 0; time < 2; time++) await journal.checkpointer.drop(startMs);
  assertReadable((...place) => journal.log.readResponse(...place), all);
  await journal.checkpointer.drop(startMs + 1);
  assert.equal(journal.log.readResponse(all.get(1)!, digest(1)), undefined);
  all.delete(1);
  all.delete(3);
  assertReadable((...place) => journal.log.readResponse(...place), all);
});

test('a damaged moved response stays until one behind it has expired, and is told then', async (t) => {
  const dir = temporaryFolder(t);
  const told: string[] = [];
  const onDamage = ({ message }: Error) => told.push(message);
  const options = { dir, identity, indexRowsOf, segmentBytesMax: 1, logBytesMax: 1, onDamage };
  let journal = await recovered(await openJournal(options));
  for (let turn = 0; turn < 4; turn++) await appendTurns(journal, [3], startMs + turn * 1_000);
  await journal.checkpointer.write(12);
  const all = places(journal);
  await journal.checkpointer.drop(startMs - dayMs);
  await journal.close();

  const part = partOf(identity, 'state');
  const folder = checkpointFolderIn(dir);
  const environment = openEnvironment({ folder, part, mapSize: 1 << 30, check: 'none' });
  const table = openTable(environment, checkpointTables.responses);
  const rows = [...table.getRange()];
  // Of the first turn the second, and the last one of all: 1, 3, 5, 7, 9.
  assert.equal(rows.length, 5);
  for (const { key, value } of [rows[1]!, rows[4]!]) table.putSync(key, Buffer.from(value).fill(0, 10, 20));
  await environment.close();

  journal = await recovered(await openJournal(options));
  t.after(() => journal.close());
  const read = (number: number) => journal.log.readResponse(all.get(number)!, digest(number));
  const isNotAsWritten = /is not as it was written/;
  await journal.checkpointer.drop(startMs);
  for (const number of [3, 9]) assert.throws(() => read(number), isNotAsWritten);
  await journal.checkpointer.drop(startMs + 1);
  assert.equal(read(1), undefined);
  for (const number of [3, 9]) assert.throws(() => read(number), isNotAsWritten);
  assert.deepEqual(told, []);
  await journal.checkpointer.drop(startMs + 1_001);
  for (const number of [3, 5]) assert.equal(read(number), undefined);
  assert.throws(() => read(9), isNotAsWritten);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /the stored response of the commit batch 1 is not as it was written/);
});

test('a damaged segment stays until it is too old, and its sound responses with it', async (t) => {
  const subject = await tight(t);
  const { dir } = subject;
  await appendTurns(subject.journal, [4, 3, 6]);
  await subject.journal.checkpointer.write(13);
  await subject.journal.close();
  const file = join(dir, 'log', segmentsIn(dir)[0]!, 'data.mdb');
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf('Order 1'); at >= 0; at = bytes.indexOf('Order 1', at + 1)) bytes[at] = 0x6f;
  writeFileSync(file, bytes);
  subject.journal = await open(dir, 1);
  const { checkpointer, log } = subject.journal;
  const all = places(subject.journal);
  assert.equal(await checkpointer.drop(startMs - dayMs), 1);
  assert.equal(segmentsIn(dir).length, 3);
  assert.throws(() => log.readResponse(all.get(1)!, digest(1)), /damaged/);
  all.delete(1);
  assertReadable((...place) => log.readResponse(...place), all);
  // Nobody knows when its last turn was: the time of its file counts.
  assert.equal(await checkpointer.drop(Date.now() + dayMs), 8);
});
