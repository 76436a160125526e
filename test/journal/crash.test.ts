// Processes that are killed while they write: afterwards the disk has everything that had settled, and no half of a turn.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fieldIndex, indexRowsOf, scopeOf } from '../../src/domain/indexes.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  createEntry,
  cycledChange,
  identity,
  paymentIntent,
  replayOf,
  sequencesOf,
  upTo,
} from './journal-fixtures.ts';

const child = join(import.meta.dirname, 'crash-child.ts');

/** Runs the child in `dir` until it has said `lines` lines like `until`; returns the last number of each kind. */
async function runAndKill(dir: string, mode: string, until: string, lines: number) {
  const process_ = spawn(process.execPath, [child, dir, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(process_, 'exit');
  const last: Record<string, number> = { durable: 0, checkpoint: 0 };
  let left = lines;
  for await (const line of createInterface(process_.stdout!)) {
    const [kind, number] = line.split(' ') as [string, string];
    assert(kind in last, line);
    last[kind] = Number(number);
    if (kind === until && --left === 0) process_.kill('SIGKILL');
  }
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL');
  return last as { durable: number; checkpoint: number };
}

function open(dir: string) {
  return openJournal({ dir, identity, indexRowsOf });
}

test('a process killed while it appends loses nothing that had settled', async (context: TestContext) => {
  const dir = temporaryFolder(context);
  for (const lines of [1, 40, 97]) {
    const { durable } = await runAndKill(dir, 'appends', 'durable', lines);
    const journal = await open(dir);
    const replayed = await replayOf(journal);
    assert(journal.log.nextSequence > durable, `${journal.log.nextSequence - 1} of ${durable}`);
    assert.deepEqual(sequencesOf(replayed), upTo(journal.log.nextSequence - 1));
    for (const { sequence, changes, idempotency } of replayed) {
      const { body } = createEntry(sequence, true).idempotency!;
      assert.deepEqual(changes, createEntry(sequence).changes);
      const answer = idempotency && journal.log.readResponse(idempotency.location, idempotency.keyDigest);
      if (idempotency !== null) assert.deepEqual(Buffer.from(answer!.body), body);
    }
    await journal.close();
  }
});

test('a process killed while it writes checkpoints leaves state that replay completes', async (context) => {
  const dir = temporaryFolder(context);
  for (const lines of [1, 2, 5, 9]) {
    const { durable, checkpoint } = await runAndKill(dir, 'checkpoints', 'checkpoint', lines);
    const journal = await open(dir);
    const replayed = new Map<string, unknown>();
    for (const { changes } of await replayOf(journal))
      for (const change of changes) replayed.set(change.id, change);
    const reached = journal.log.nextSequence - 1;
    assert(reached >= durable && journal.checkpoint.sequence >= checkpoint);
    const rows = { succeeded: new Set<string>(), requires_payment_method: new Set<string>() };
    const scope = scopeOf(paymentIntent(0).org, false);
    for (const status of ['succeeded', 'requires_payment_method'] as const) {
      const index = fieldIndex('payment_intent', scope, 'status', status);
      for (const id of journal.checkpoint.scan(index, { descending: false })) rows[status].add(id);
    }
    for (const number of upTo(1_999, 0)) {
      const { id } = paymentIntent(number);
      const newest = upTo(reached, Math.max(1, reached - 1_999)).find(
        (sequence) => sequence % 2_000 === number,
      );
      const expected = newest === undefined ? undefined : cycledChange(newest);
      const stored = journal.checkpoint.get(id);
      assert.deepEqual(replayed.get(id) ?? stored, expected);
      for (const status of ['succeeded', 'requires_payment_method'] as const) {
        const isOfStatus = stored?.kind === 'payment_intent' && stored.status === status;
        assert.equal(rows[status].has(id), isOfStatus, 'the index agrees with the records');
      }
    }
    await journal.close();
  }
});
