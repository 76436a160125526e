// The files of a checkpoint by themselves: which one is active, how rows are written into another, and what is refused.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createEnvironment, openEnvironment, openTable } from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import {
  checkpointFolderIn,
  preparedFolderIn,
  removeOtherCheckpoints,
} from '../../src/journal/checkpoint/checkpoint-folder.ts';
import {
  checkpointSequenceIn,
  metadataIn,
  newestSegmentIn,
} from '../../src/journal/checkpoint/checkpoint-reader.ts';
import { RowWriter } from '../../src/journal/checkpoint/checkpoint-rows.ts';
import { checkpointTables, formatKey } from '../../src/journal/checkpoint/checkpoint-tables.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { keyOfId } from '../../src/journal/records/record-bytes.ts';
import { readStoppedJournal } from '../../src/journal/stopped-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  identity,
  indexRowsOf,
  journalIn,
  paymentIntent,
  recovered,
} from './journal-fixtures.ts';

const part = partOf(identity, 'state');
const mapSize = 1 << 24;

test('the checkpoint with the highest number is active, and the next one is prepared beside it', (context) => {
  const dir = temporaryFolder(context);
  const folders = () =>
    [checkpointFolderIn(dir), preparedFolderIn(dir)].map((path) => path.slice(dir.length + 1));
  assert.deepEqual(folders(), ['state', 'state-2.prepared']);
  assert.equal(checkpointFolderIn(join(dir, 'none')), join(dir, 'none', 'state'));
  for (const name of [
    'state',
    'state-2',
    'state-10',
    'state-9',
    'state-11.prepared',
    'state-12x',
    'xstate-13',
  ])
    mkdirSync(join(dir, name));
  assert.deepEqual(folders(), ['state-10', 'state-11.prepared']);
});

test('what is no active checkpoint is removed, and nothing that is none at all', (context) => {
  const dir = temporaryFolder(context);
  const kept = ['log', 'state-10', 'state-x', 'states', 'epoch'];
  for (const name of [...kept, 'state', 'state-9', 'state-11.prepared', 'state.new']) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'data.mdb'), '');
  }
  removeOtherCheckpoints(dir);
  assert.deepEqual(readdirSync(dir).sort(), kept.sort());
});

test('of a folder without a checkpoint nothing is known', (context) => {
  const folder = join(temporaryFolder(context), 'state');
  assert.deepEqual(
    [checkpointSequenceIn(folder), newestSegmentIn(folder), metadataIn(folder, 'a')],
    [null, 0, undefined],
  );
});

test('a checkpoint tells its sequence, its newest segment and its metadata to who only reads its file', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await journalIn(dir));
  await appendTurns(journal, [3, 2]);
  await journal.checkpointer.write(5);
  await journal.checkpointer.putMetadata(new Map([['a', Buffer.from('1')]]));
  await journal.close();
  const folder = checkpointFolderIn(dir);
  assert.deepEqual([checkpointSequenceIn(folder), newestSegmentIn(folder)], [5, 1]);
  assert.equal(metadataIn(folder, 'a')?.toString(), '1');
  assert.equal(metadataIn(folder, 'b'), undefined);
});

test('a name of metadata may be as long as the key of a row', async (context) => {
  const journal = await recovered(await journalIn(temporaryFolder(context)));
  const put = (name: string) => journal.checkpointer.putMetadata(new Map([[name, Buffer.from('1')]]));
  const longest = 'a'.repeat(1_978);
  await put(longest);
  assert.deepEqual([...journal.checkpoint.metadata().keys()], [longest]);
  for (const name of ['', `${longest}a`]) await assert.rejects(async () => put(name), /a key of \d+ bytes/);
  await journal.close();
});

test('a checkpoint in a form of another release is refused, and one that is closed takes nothing', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await journalIn(dir));
  await appendTurns(journal, [2]);
  await journal.checkpointer.write(2);
  await journal.close();
  await assert.rejects(
    async () => journal.checkpointer.putMetadata(new Map([['a', Buffer.from('1')]])),
    /The checkpoint is closed/,
  );
  const folder = checkpointFolderIn(dir);
  const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
  await openTable(environment, checkpointTables.meta).put(formatKey, Buffer.of(9));
  await environment.close();
  await assert.rejects(journalIn(dir), {
    name: 'JournalDamaged',
    message: new RegExp(`^The checkpoint in ${folder} has the format 9, unknown to this version`),
  });
});

test('rows are written in transactions of about so many bytes, in their order, and counted', async (context) => {
  const folder = join(temporaryFolder(context), 'state');
  await createEnvironment(folder, mapSize, part);
  const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
  context.after(() => environment.close());
  const writer = new RowWriter(environment, 1_000);
  const row = (number: number, bytes: number) => [Buffer.of(number), Buffer.alloc(bytes - 1, number)];
  const inTable = (name: string) => [...openTable(environment, name).getKeys()].map((key) => key[0]);
  assert.equal(writer.add({ table: 'a', rows: [...row(1, 300), ...row(2, 300)] }), 0);
  assert.equal(writer.add({ table: 'b', rows: row(1, 399) }), 0);
  assert.deepEqual([inTable('a'), inTable('b'), writer.count], [[], [], 3], 'they wait');
  assert.equal(writer.add({ table: 'b', rows: row(2, 1) }), 1_000);
  assert.deepEqual([inTable('a'), inTable('b'), writer.stored], [[1, 2], [1, 2], 4]);
  assert.equal(writer.add({ table: 'a', rows: row(3, 500) }), 0);
  assert.equal(writer.flush(), 500);
  assert.equal(writer.flush(), 0);
  assert.deepEqual([inTable('a'), writer.count, writer.stored], [[1, 2, 3], 5, 5]);
});

test('a prepared checkpoint that was left over does not get into the next one', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await journalIn(dir));
  await appendTurns(journal, [4]);
  await journal.checkpointer.write(4);
  const left = preparedFolderIn(dir);
  await createEnvironment(left, mapSize, part);
  const environment = openEnvironment({ folder: left, part, mapSize, check: 'none' });
  await openTable(environment, checkpointTables.metadata).put(Buffer.from('stray'), Buffer.from('1'));
  await environment.close();
  const { before, after } = await journal.checkpointer.compact(async () => {});
  assert.ok(before > 0 && after > 0);
  assert.equal(journal.checkpoint.getMetadata('stray'), undefined);
  assert.equal(journal.checkpoint.sequence, 4);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('state')),
    ['state-2'],
  );
  await journal.close();
});

test('a record whose key is damaged is not taken for one that there is not', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await journalIn(dir));
  await appendTurns(journal, [3]);
  await journal.checkpointer.write(3);
  const { id } = paymentIntent(2);
  const key = keyOfId(id)!;
  await journal.close();
  const file = join(checkpointFolderIn(dir), 'data.mdb');
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1))
    bytes[at + key.length - 1]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = await recovered(await journalIn(dir));
  assert.throws(() => damaged.checkpoint.get(id), JournalDamaged);
  assert.deepEqual(damaged.checkpoint.get(paymentIntent(3).id), paymentIntent(3));
  await damaged.close();
  await readStoppedJournal({ dir, identity, indexRowsOf }, async ({ checkpoint }) => {
    const told: string[] = [];
    const sound = [...checkpoint.records((each) => told.push(each))].map((record) => record.id);
    assert.equal(told.length, 1);
    assert.equal(sound.length, checkpoint.recordCount - 1);
    assert.ok(!sound.includes(told[0]!));
    assert.throws(() => [...checkpoint.records()], JournalDamaged);
  });
});
