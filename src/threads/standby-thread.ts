// The entry of the thread in which a node follows the partitions that others run: it mirrors their
// logs and keeps their checkpoints up to date. That of a node that stands by follows the audit
// record, too, and ends before the node opens all that as the owner.

import { ownersOf } from '../config/postgresql.ts';
import { defined, elementAt } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { systemScheduler, systemTimers } from '../core/scheduler.ts';
import { archivedOfShard } from '../data-folder/archive-folder.ts';
import { DiskRoom } from '../data-folder/disk-space.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { auditKeptMs, putAsideWarning } from '../operator/audit/audit.ts';
import { AuditFollower } from '../operator/audit/audit-follower.ts';
import { PostgresText } from '../postgresql/audit-text.ts';
import { hasLog } from '../postgresql/database.ts';
import { LogFollower } from '../postgresql/log-follower.ts';
import type { OwnerOptions } from '../postgresql/owner-connection.ts';
import type { Answers } from '../rpc/questions.ts';
import { createStandbyMetrics } from '../telemetry/cluster-metrics.ts';
import { checkpointHolds } from './checkpoint-holds.ts';
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
  ownersOf(config, service, null, (trouble) => {
    if (trouble === null) logger.info(`${what} can be followed in PostgreSQL`);
    else logger.warn(`${what} can't be followed in PostgreSQL, which is tried again: ${trouble}`);
  });
const room = new DiskRoom(config.dataDir, (isFull) => {
  if (isFull) logger.error('the disk is full: the partitions are not followed');
  else logger.warn('the disk has room again: the partitions are followed');
});

const { segmentBytesMax, logBytesMax, checkpointIntervalMs } = config.journal;
/** The databases with partitions of which this node lacks much. */
const lagging = new Set<OwnerOptions>();
/** Those of each database: one that does not answer holds up no other. */
const standbys = optionsOf('the partitions').map((owner) => {
  const setLagging = (isLagging: boolean) => {
    if (isLagging) lagging.add(owner);
    else lagging.delete(owner);
    progress.isLagging = lagging.size > 0;
  };
  const onTrouble = (trouble: string | null) => {
    // No other node has more of it now.
    if (trouble !== null && owner.division !== null) setLagging(false);
    owner.onTrouble(trouble);
  };
  const standby = new StandbyPartitions({
    shards: shards.filter(({ identity }) => hasLog(owner, identity.shard)),
    follower: new LogFollower({ ...owner, onTrouble }),
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
    onLagging: setLagging,
  });
  standby.start(fail);
  return { owner, standby };
});

function standbyOf(partition: number): StandbyPartitions {
  const found = standbys.find(({ owner }) => hasLog(owner, partition));
  return defined(found, 'each partition has a database').standby;
}

function followAudit(): AuditFollower {
  const audit = new AuditFollower({
    remote: new PostgresText(elementAt(optionsOf('the audit record'), 0)),
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
  ...checkpointHolds((partition) => standbyOf(partition).holdCheckpoint(partition)),
  follow: ({ shard }) => standbyOf(shard.identity.shard).follow(shard),
  release: ({ partition }) => standbyOf(partition).release(partition),
  async stop() {
    await Promise.all([...standbys.map(({ standby }) => standby.stop()), audit?.stop()]);
  },
};
main.on('message', carryOut(answers, tell, { failureOf: errorText }));
tell({ type: 'ready' });
