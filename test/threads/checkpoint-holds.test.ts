// A checkpoint that a thread keeps for a reader in another process: from when it is asked for until the reader leaves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerQuestion, Questions } from '../../src/rpc/questions.ts';
import { AskedHolds, checkpointHolds } from '../../src/threads/checkpoint-holds.ts';
import type { Thread } from '../../src/threads/thread.ts';
import type { ThreadQuestions } from '../../src/threads/thread-protocol.ts';

/** A thread that has the checkpoints of partitions written, and what it keeps now. */
function aThread() {
  const kept: string[] = [];
  const hold = (partition: number) => {
    const folder = `/data/shard-${partition}/state`;
    kept.push(folder);
    return { folder, release: () => void kept.splice(kept.indexOf(folder), 1) };
  };
  const answers = checkpointHolds(hold) as never;
  const questions = new Questions<ThreadQuestions>(
    (question) => void answerQuestion(answers, question as never, (answer) => questions.take(answer)),
    (failure) => new Error(String(failure)),
  );
  const thread = { ask: questions.ask.bind(questions) } as unknown as Thread;
  return { kept, thread, end: () => questions.end(new Error('the thread has ended')) };
}

test('each reader has its own hold, which ends when it leaves', async () => {
  const { kept, thread } = aThread();
  const holds = new AskedHolds();
  const readers = [0, 0, 3].map((partition) => {
    const leaves = new AbortController();
    return { leaves, held: holds.hold(thread, partition, leaves.signal) };
  });
  const folders = [];
  for (const { held } of readers) folders.push((await held.next()).value?.folder);
  assert.deepEqual(folders, ['/data/shard-0/state', '/data/shard-0/state', '/data/shard-3/state']);
  assert.deepEqual(kept, folders);
  readers[0]!.leaves.abort();
  assert.deepEqual(await readers[0]!.held.next(), { done: true, value: undefined });
  assert.deepEqual(kept, folders.slice(1));
  readers[2]!.leaves.abort();
  await readers[2]!.held.next();
  assert.deepEqual(kept, folders.slice(0, 1));
});

test('nothing is kept for a reader that has left before it was asked for', async () => {
  const { kept, thread } = aThread();
  const held = new AskedHolds().hold(thread, 0, AbortSignal.abort());
  await held.next();
  await held.next();
  assert.deepEqual(kept, []);
});

test('a reader is told when the thread ends', async () => {
  const { thread, end } = aThread();
  const held = new AskedHolds().hold(thread, 0, new AbortController().signal);
  await held.next();
  end();
  await assert.rejects(held.next(), /the thread has ended/);
});
