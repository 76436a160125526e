// The entry of the thread in which a node that stands by follows the partitions: it mirrors their
// logs and keeps their checkpoints up to date. It ends before the node opens the partitions as
// their owner.

import { setTimeout as wait } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { ownerOptionsOf } from '../config/remote-log.ts';
import { defined } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { DiskRoom } from '../data-folder/disk-space.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { openStandby, type StandbyJournal } from '../journal/standby-journal.ts';
import { LogFollower } from '../postgresql/log-follower.ts';
import { type Answers, answerQuestion } from '../rpc/questions.ts';
import { segmentRetentionMs } from '../shard/metadata.ts';
import { createStandbyMetrics } from '../telemetry/cluster-metrics.ts';
import { createLogger } from '../telemetry/logger.ts';
import { countThreadTime } from '../telemetry/thread-time.ts';
import { endAtWriteErrors } from './end-at-write-errors.ts';
import { ProgressBoard } from './progress-board.ts';
import type { Instruction, Notice, StandbyThreadData, ThreadQuestions } from './thread-protocol.ts';
import { commonAnswers, startOfThread } from './thread-side.ts';

const { data, main } = startOfThread<StandbyThreadData>();
const { config, service, shards } = data;
const tell = (notice: Notice) => main.postMessage(notice);
const logger = await createLogger({ level: config.logLevel, thread: 'standby' });
endAtWriteErrors(logger);
const registry = new Registry();
countThreadTime(registry, 'standby');
const metrics = createStandbyMetrics(registry);
const progress = new ProgressBoard(data.progress);

const followMs = 100;
const retryMs = 1_000;
const dropMs = 3_600_000;

function fail(error: unknown): void {
  logger.fatal({ err: error }, `the partitions can't be followed: ${errorText(error)}`);
  tell({ type: 'failed', message: errorText(error), fatal: error instanceof JournalDamaged });
  setImmediate(() => process.exit(1));
}
process.on('uncaughtException', fail);

const follower = new LogFollower(
  defined(
    ownerOptionsOf(config, service, null, (trouble) => {
      if (trouble === null) logger.info('the partitions are followed in PostgreSQL');
      else logger.warn(`the partitions can't be followed in PostgreSQL, which is tried again: ${trouble}`);
    }),
    'nodes share a service over PostgreSQL',
  ),
);
const journals: StandbyJournal[] = [];
let isStopping = false;

const room = new DiskRoom(config.dataDir, (isFull) => {
  if (isFull) logger.error('the disk is full: the partitions are not followed');
  else logger.warn('the disk has room again: the partitions are followed');
});

async function openAll(): Promise<void> {
  const { segmentBytesMax, logBytesMax } = config.journal;
  for (const { dir, identity } of shards) {
    const journal = await openStandby({ dir, identity, indexRowsOf, segmentBytesMax, logBytesMax });
    journals.push(journal);
    const found = await follower.endOf(identity.shard);
    await journal.refuseDivergence(found, (sequence) => follower.checksumAt(identity.shard, sequence));
    progress.note(identity.shard, journal.sequence);
  }
}

/** Appends what is new. Resolves with the milliseconds to wait for more. */
async function followOnce(): Promise<number> {
  const parts = await follower.readAfter(journals.map(({ sequence }) => sequence)).catch(() => null);
  if (parts === null) return retryMs;
  let appended = 0;
  for (const [partition, journal] of journals.entries()) {
    const { batches = [], end = journal.sequence } = parts.get(partition) ?? {};
    await journal.append(batches);
    appended += batches.length;
    progress.note(partition, journal.sequence);
    metrics.behind(partition, end - journal.sequence);
  }
  return appended > 0 ? 0 : followMs;
}

async function follow(): Promise<void> {
  await openAll();
  let [checkpointAtMs, dropAtMs] = [performance.now(), performance.now()];
  while (!isStopping) {
    // What is on a full disk stays as it is until somebody makes room.
    const waitMs = room.isFull() ? retryMs : await followOnce();
    const nowMs = performance.now();
    if (nowMs >= checkpointAtMs) {
      checkpointAtMs = nowMs + config.journal.checkpointIntervalMs;
      for (const journal of journals) await journal.checkpoint();
    }
    if (nowMs >= dropAtMs) {
      dropAtMs = nowMs + dropMs;
      for (const journal of journals) await journal.drop(segmentRetentionMs);
    }
    await wait(waitMs);
  }
}

const following = follow().catch((error) => {
  if (!isStopping) fail(error);
});

const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry),
  async stop() {
    isStopping = true;
    follower.close();
    await following;
    for (const journal of journals) await journal.close();
  },
};
main.on('message', async (instruction: Instruction) => {
  if ('question' in instruction) await answerQuestion(answers, instruction, tell);
  if (instruction.type === 'stop') process.exit(0);
});
tell({ type: 'ready' });
