// The file in which it is noted how far the shards' logs have come: what it holds after writes that were cut short or refused.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Timers } from '../../src/core/scheduler.ts';
import {
  type Ends,
  forgetEnd,
  type NotedEnd,
  readEnds,
  SequenceNotes,
  writeEnds,
} from '../../src/data-folder/sequence-notes.ts';
import { until } from '../poll.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const folderOf = (path = temporaryFolder()) => ({ path, id: 'f'.repeat(32), generation: 0, shards: 2 });
const fileIn = ({ path }: { readonly path: string }) => join(path, 'sequences');
const end = (sequence: number): NotedEnd => ({ sequence, checksum: sequence * 7 });

/** Timers that run out when the test says so, and what is left to be done then. */
function handTimers() {
  const actions: (() => void)[] = [];
  const timers: Timers = {
    after(_ms, action) {
      actions.push(action);
      return () => void actions.splice(actions.indexOf(action), 1);
    },
  };
  return { timers, actions, runOut: () => actions.splice(0).forEach((action) => void action()) };
}

function notesOf(folder: ReturnType<typeof folderOf>, ends: Ends = [null, null]) {
  const hand = handTimers();
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const notes = new SequenceNotes({ folder, ends, timers: hand.timers, onFailure });
  return { ...hand, notes, failures };
}

test('what came within a second is written together, and the rest at the end', async () => {
  const folder = folderOf();
  const { notes, actions, runOut } = notesOf(folder, [end(1), null]);
  assert.deepEqual(readEnds(folder), [end(1), null]);
  notes.note(0, end(2));
  notes.note(1, end(9));
  notes.note(0, end(3));
  assert.equal(actions.length, 1);
  assert.deepEqual(readEnds(folder), [end(1), null], 'not yet');
  runOut();
  await until(() => readEnds(folder)?.[0]?.sequence === 3);
  assert.deepEqual(readEnds(folder), [end(3), end(9)]);
  notes.note(1, end(10));
  await notes.close();
  assert.deepEqual(readEnds(folder), [end(3), end(10)]);
});

test('an end that is not further than the one that was noted changes nothing', async () => {
  const folder = folderOf();
  const { notes, actions } = notesOf(folder, [end(5), null]);
  notes.note(0, { sequence: 5, checksum: null });
  notes.note(0, end(4));
  assert.equal(actions.length, 0);
  notes.note(0, { sequence: 6, checksum: null });
  await notes.close();
  assert.deepEqual(readEnds(folder), [{ sequence: 6, checksum: null }, null]);
});

test('a write that was cut short leaves the note before it, wherever it was cut', async () => {
  const folder = folderOf();
  writeEnds(folder, [end(1), end(2)]);
  writeEnds(folder, [end(3), end(4)]);
  const before = readFileSync(fileIn(folder));
  writeEnds(folder, [end(5_000_000), end(6)]);
  const after = readFileSync(fileIn(folder));
  assert.equal(after.length, before.length);
  const found = new Set<number>();
  // Wherever else it is cut, all of it is there, or nothing.
  const first = after.findIndex((byte, at) => byte !== before[at]);
  for (let cut = first; cut <= first + 400; cut++) {
    writeFileSync(fileIn(folder), Buffer.concat([after.subarray(0, cut), before.subarray(cut)]));
    found.add(readEnds(folder)![0]!.sequence);
  }
  assert.deepEqual([...found], [3, 5_000_000]);
});

test('notes of another folder, or from before a reshard, say nothing about this one', () => {
  const folder = folderOf();
  writeEnds(folder, [end(1), end(2)]);
  assert.deepEqual(readEnds({ ...folder, id: 'e'.repeat(32) }), [null, null]);
  assert.deepEqual(readEnds({ ...folder, generation: 1, shards: 3 }), [null, null, null]);
  writeEnds({ ...folder, generation: 1, shards: 300 }, [end(5)]);
  assert.deepEqual(readEnds({ ...folder, generation: 1, shards: 300 })![0], end(5));
  assert.deepEqual(readEnds(folder), [null, null]);
});

test('notes that are damaged are told from none, and replaced', () => {
  const folder = folderOf();
  assert.deepEqual(readEnds(folder), [null, null]);
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(8_192),
    Buffer.from('{}\n'),
    Buffer.alloc(8_192, 'x\n'),
  ]) {
    writeFileSync(fileIn(folder), bytes);
    assert.equal(readEnds(folder), null);
    writeEnds(folder, [end(4), null]);
    assert.deepEqual(readEnds(folder), [end(4), null]);
  }
});

test('the end of one shard can be forgotten', () => {
  const folder = folderOf();
  forgetEnd(folder, 1);
  writeEnds(folder, [end(1), end(2)]);
  forgetEnd(folder, 1);
  assert.deepEqual(readEnds(folder), [end(1), null]);
});

test('once the file is there, noting neither makes it longer nor makes another one', async () => {
  const folder = folderOf();
  const { notes, runOut } = notesOf(folder);
  const { size, ino } = statSync(fileIn(folder));
  for (let sequence = 1; sequence < 20; sequence++) {
    notes.note(0, end(sequence * 1_000_000_000_000));
    await until(() => {
      // A write that has just become visible may not have ended: the next one begins after it.
      runOut();
      return readEnds(folder)?.[0]?.sequence === sequence * 1_000_000_000_000;
    });
  }
  await notes.close();
  const again = notesOf(folder, [end(3), end(4)]);
  await again.notes.close();
  const found = statSync(fileIn(folder));
  assert.deepEqual([found.size, found.ino], [size, ino]);
  assert.equal(existsSync(`${fileIn(folder)}.new`), false);
  assert.deepEqual(readEnds(folder), [end(3), end(4)], 'a start puts its own in their place');
});

test('a disk that refuses is told once, tried again, and stops nobody', async () => {
  const folder = folderOf(join(temporaryFolder(), 'gone'));
  const { notes, failures, runOut } = notesOf(folder);
  assert.equal(failures.length, 1);
  notes.note(0, end(1));
  runOut();
  await setImmediate();
  assert.equal(failures.length, 1);
  mkdirSync(folder.path);
  await until(() => {
    runOut();
    return existsSync(fileIn(folder)) && readEnds(folder)?.[0] !== null;
  });
  assert.deepEqual(readEnds(folder), [end(1), null]);
  await notes.close();
  rmSync(folder.path, { recursive: true });
});
