// The entry of the thread in which a node follows the partitions that others run: it mirrors their
// logs and keeps their checkpoints up to date. That of a node that stands by follows the audit
// record, too, and ends before the node opens all that as the owner.

import { ownerOptionsOf } from '../config/postgresql.ts';
import { defined } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { systemScheduler, systemTimers } from '../core/scheduler.ts';
import { archivedOfShard } from '../data-folder/archive-folder.ts';
import { DiskRoom } from '../data-folder/disk-space.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { auditKeptMs, putAsideWarning } from '../operator/audit/audit.ts';
import { AuditFollower } from '../operator/audit/audit-follower.ts';
import { PostgresText } from '../postgresql/audit-text.ts';
import { LogFollower } from '../postgresql/log-follower.ts';
import type { Answers } from '../rpc/questions.ts';
import { createStandbyMetrics } from '../telemetry/cluster-metrics.ts';
import { ProgressBoard } from './progress-board.ts';
import { StandbyPartitions } from './standby-partitions.ts';
import type { StandbyThreadData, ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, failThread, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';
import { watchStorage } from './watch-storage.ts';

const { data, main, tell } = await startOfThread<StandbyThreadData>();
const { config, service, shards, isLending } = data;
const archiveDir = isLending ? config.logArchive.dir : null;
const { logger, registry } = await observeThread(config, 'standby');
watchStorage(logger);
const metrics = createStandbyMetrics(registry);
const progress = new ProgressBoard(data.progress);

function fail(error: unknown): void {
  logger.fatal({ err: error }, `the partitions can't be followed: ${errorText(error)}`);
  failThread(tell, errorText(error), error instanceof JournalDamaged);
}
process.on('uncaughtException', fail);

const optionsOf = (what: string) =>
  defined(
    ownerOptionsOf(config, service, null, (trouble) => {
      if (trouble === null) logger.info(`${what} can be followed in PostgreSQL`);
      else logger.warn(`${what} can't be followed in PostgreSQL, which is tried again: ${trouble}`);
    }),
    'nodes share a service over PostgreSQL',
  );
const follower = new LogFollower(optionsOf('the partitions'));
const room = new DiskRoom(config.dataDir, (isFull) => {
  if (isFull) logger.error('the disk is full: the partitions are not followed');
  else logger.warn('the disk has room again: the partitions are followed');
});

const { segmentBytesMax, logBytesMax, checkpointIntervalMs } = config.journal;
const standby = new StandbyPartitions({
  shards,
  follower,
  segmentBytesMax,
  logBytesMax,
  checkpointIntervalMs,
  timers: systemTimers,
  scheduler: systemScheduler,
  isDiskFull: () => room.isFull(),
  ...(archiveDir !== null && {
    archivedOf: (identity) => archivedOfShard(archiveDir, identity),
  }),
  onWhole: (shard) => tell({ type: 'whole', shard }),
  onDamaged(shard, message) {
    metrics.leave(shard);
    tell({ type: 'damaged', shard, message });
  },
  onFollowed: (partition, sequence) => progress.note(partition, sequence),
  onBehind: (partition, entries) => metrics.behind(partition, entries),
  onLagging: (isLagging) => {
    progress.isLagging = isLagging;
  },
});
standby.start(fail);

function followAudit(): AuditFollower {
  const audit = new AuditFollower({
    remote: new PostgresText(optionsOf('the audit record')),
    dataDir: config.dataDir,
    keptMs: auditKeptMs(config.audit.keptDays),
    now: Date.now,
    timers: systemTimers,
    isDiskFull: () => room.isFull(),
    onPutAside: (folder) => logger.warn({ folder }, putAsideWarning),
    onFailure: (error) =>
      logger.warn({ err: error }, `the audit record can't be followed: ${errorText(error)}`),
  });
  audit.start();
  return audit;
}
const audit = isLending ? null : followAudit();

const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry),
  follow: ({ shard }) => standby.follow(shard),
  release: ({ partition }) => standby.release(partition),
  async stop() {
    await Promise.all([standby.stop(), audit?.stop()]);
  },
};
main.on('message', carryOut(answers, tell, { failureOf: errorText }));
tell({ type: 'ready' });
