// A process for crash.test.ts, which kills it, and for full-disk.test.ts, which lets it run out of space. It opens the journal
// in the given folder and appends endlessly, with two turns in flight. It prints a line for whatever has settled: `durable
// <sequence>`, `checkpoint <sequence>`, and `failed <JSON>` for the first failure, after which it ends.
//
// With `checkpoints`, a thread also writes checkpoints all the time. Then each entry changes the status of one of 2,000
// payment intents.

import { writeSync } from 'node:fs';
import type { Config } from '../../src/config/config-schema.ts';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import type { LogBatch } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { CheckpointWorker } from '../../src/threads/checkpoint-worker.ts';
import { cycledChange, identity, recovered, startMs, turnAt, upTo } from './journal-fixtures.ts';

const [dir, mode, segmentBytes] = process.argv.slice(2) as [string, 'appends' | 'checkpoints', string?];
const segmentBytesMax = Number(segmentBytes ?? 300_000);
const config = {
  logLevel: 'silent',
  journal: { segmentBytesMax },
  logArchive: { dir: null },
} as unknown as Config;
const follower = new CheckpointWorker().begin({ dir, identity, config }, end);
const journal = await openJournal({
  dir,
  identity,
  indexRowsOf,
  segmentBytesMax,
  checkpointer: follower,
});
const { log, checkpoint, checkpointer } = journal;
await recovered(journal);
let durable = log.nextSequence - 1;
let isOver = false;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function end(error: unknown): void {
  if (isOver) return;
  isOver = true;
  const { name, diskFull } = error as { name: string; diskFull: boolean };
  say(`failed ${JSON.stringify({ name, diskFull })}`);
}

function cycledTurn(firstSequence: number, entries: number): LogBatch {
  const sequences = upTo(firstSequence + entries - 1, firstSequence);
  return {
    firstSequence,
    timeMs: startMs,
    wallMs: startMs,
    entries: sequences.map((sequence) => ({
      changes: [cycledChange(sequence)],
      idempotency: null,
      cause: null,
    })),
  };
}

async function appendForever(): Promise<void> {
  const inFlight: Promise<void>[] = [];
  for (let round = 0; !isOver; round++) {
    const entries = 1 + ((round * 7) % 40);
    const first = log.nextSequence;
    const turn = mode === 'appends' ? turnAt(first, entries) : cycledTurn(first, entries);
    const settled = log.append(turn).durable.then(() => {
      durable = first + entries - 1;
      say(`durable ${durable}`);
    }, end);
    inFlight.push(settled);
    if (inFlight.length === 2) await inFlight.shift();
  }
  await Promise.all(inFlight);
}

async function checkpointForever(): Promise<void> {
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const sequence = durable;
    if (sequence === checkpoint.sequence) continue;
    try {
      await checkpointer.write(sequence);
      say(`checkpoint ${sequence}`);
    } catch (error) {
      end(error);
    }
  }
}

await Promise.all([appendForever(), mode === 'checkpoints' ? checkpointForever() : undefined]);
await journal.close();
