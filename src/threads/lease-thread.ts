// The entry of the thread that keeps the node's lease. It does nothing else, so that nothing holds
// up a beat.

import { LeaseKeeper } from '../cluster/lease-keeper.ts';
import { linksByOf } from '../cluster/node.ts';
import { ownersOf } from '../config/postgresql.ts';
import { elementAt } from '../core/assert.ts';
import { Sleeper, systemTimers } from '../core/scheduler.ts';
import { unreadableOf } from '../journal/dialect.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { PostgresLease } from '../postgresql/lease-table.ts';
import { PostgresNodes } from '../postgresql/node-table.ts';
import { PartitionTables } from '../postgresql/partition-table.ts';
import type { Answers } from '../rpc/questions.ts';
import { createLeaseMetrics } from '../telemetry/cluster-metrics.ts';
import { trustClocks } from '../telemetry/system-clocks.ts';
import { ProgressBoard } from './progress-board.ts';
import type { LeaseThreadData, ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, failThread, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';

const { data, main, tell } = await startOfThread<LeaseThreadData>();
const { config, service, identity } = data;
const { address, link, certFile, beatMs, trustMs, takeMs } = config.cluster;
const { logger, registry } = await observeThread(config, 'lease');
const ownership = new OwnershipBoard(data.ownership, trustClocks);
const progress = new ProgressBoard(data.progress);
const metrics = createLeaseMetrics(registry, identity.node, {
  isTrusted: () => ownership.isTrusted(),
  damaged: () => progress.damaged,
});

const owners = ownersOf(config, service, null, () => {});
const options = elementAt(owners, 0);
const tables = new PartitionTables(owners.map((owner) => ({ ...owner, onTold: lookNow })));
// A connection for each: the note of a node must not hold up a beat.
const table = new PostgresLease(options, identity, tables);
const nodes = new PostgresNodes(options, identity);
let isHolder = false;
let isUnwanted = false;
const keeper = new LeaseKeeper({
  table,
  ...identity,
  beatMs,
  trustMs,
  takeMs,
  attemptMs: config.webhooks.timeoutMs,
  lends: link !== null,
  timers: systemTimers,
  now: () => ownership.now(),
  // It would take long to take over, or can't run all; or operators want it to run nothing.
  comesLast: () => progress.isLagging || progress.damaged.length > 0 || isUnwanted,
  onTrusted: (sent, ms) => ownership.trust(sent, ms),
  onTaken(taken) {
    const { epoch, isClean } = taken;
    isHolder = true;
    metrics.taken(epoch);
    logger.info({ epoch, isClean }, `node ${identity.node} has the lease`);
    tell({ type: 'lease_taken', ...taken });
  },
  refusalOf: ({ node, dialect }) => {
    const unreadable = dialect && unreadableOf(dialect);
    return (
      unreadable &&
      `node ${node} writes what this release can't read (${unreadable}): start a release here that is not older than its own`
    );
  },
  onRefused: (message) => failThread(tell, message, true),
  isTrusted: () => ownership.isTrusted(),
  onLost(why) {
    metrics.lost();
    logger.warn(`node ${identity.node} has lost the lease: ${why}`);
    tell({ type: 'lease_lost' });
  },
  onHolder: (holder) => tell({ type: 'lease_holder', address: holder }),
  onWanted: (successor) => tell({ type: 'lease_wanted', successor }),
  onTrouble(trouble) {
    if (trouble === null) logger.info('the lease can be seen in PostgreSQL');
    else
      logger.warn(
        `the lease can't be seen, taken or kept in PostgreSQL, which is tried again: ${trouble}. While it waits ` +
          'for a standby no node serves: payments doctor says so, and what to do (docs/operations.md, Failing over)',
      );
  },
});

const noteMs = 1_000;
/**
 * So long a stop waits for PostgreSQL. The holder's release needs a standby's answer, too; where
 * the beats were not answered, it will not be, either.
 */
const stopMsMax = () => Math.max(500, isHolder ? ownership.trustLeftMs(3_000) : 0);
let isStopping = false;
const rest = new Sleeper(systemTimers);

/** Waits neither for the next beat nor for the next note. */
function lookNow(): void {
  rest.wake();
  keeper.lookNow();
}

async function noteNodes(): Promise<void> {
  // Whoever has been forgotten is not noted again.
  while (!isStopping) {
    await noteNode();
    await rest.sleep(noteMs);
  }
}

async function noteNode(): Promise<void> {
  const followed = Object.fromEntries(progress.sequences.entries());
  const wished = await nodes
    .note({ address, link, linksBy: linksByOf(certFile) }, followed, progress.damaged)
    .catch(() => null);
  await tables.look();
  const { partitions, isWhole } = tables;
  const mayRun = !isWhole || partitions.some(({ node }) => node === identity.node);
  if (wished !== null) isUnwanted = wished.drained || wished.leaving;
  if (wished?.leaving && (isHolder || !mayRun)) tell({ type: 'leaves' });
  if (isHolder && link !== null)
    await nodes.reachable(partitions).then(
      (reachable) => tell({ type: 'nodes', nodes: reachable, silent: silentPartitions() }),
      () => {},
    );
}

function silentPartitions(): readonly number[] {
  return Array.from({ length: service.shards }, (_, partition) => partition).filter((partition) =>
    tables.isSilent(partition),
  );
}

const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry),
  announce_stop: () => keeper.leaveToOthers(),
  async stop() {
    isStopping = true;
    const close = () => {
      for (const each of [table, nodes, tables]) each.close();
    };
    // What PostgreSQL does not answer until then, it is not asked any more.
    const late = setTimeout(close, stopMsMax());
    await keeper.stop();
    await nodes.forget().catch(() => {});
    clearTimeout(late);
    close();
  },
};
main.on('message', carryOut(answers, tell));
keeper.start();
void noteNodes();
tell({ type: 'ready' });
