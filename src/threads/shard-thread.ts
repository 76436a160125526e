// The entry of a shard's thread: it opens the journal, recovers, and connects the shard to the
// networks, the address guard, its peers and its timers. When the shard fails the thread reports it
// and ends, and the supervisor starts another.

import { randomFillSync } from 'node:crypto';
import Registry from 'prom-client/lib/registry.js';
import { errorText } from '../core/errors.ts';
import { lazily } from '../core/lazily.ts';
import { systemScheduler, systemTimers } from '../core/scheduler.ts';
import { SecretBox } from '../crypto/secret-box.ts';
import { bytesBelow } from '../data-folder/disk-space.ts';
import { remoteLogOf } from '../data-folder/remote-stores.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { JournalDamaged, JournalFailure } from '../journal/journal.ts';
import { foldersOfJournal, openJournal } from '../journal/open-journal.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import type { ScrubState } from '../journal/scrubber.ts';
import type { Answers } from '../rpc/questions.ts';
import type { Peer } from '../shard/commit-batch.ts';
import { memoryShares } from '../shard/memory.ts';
import { scrubKey, writeScrub } from '../shard/metadata.ts';
import { type PackedOutbox, receivedByShard, sendFromShard } from '../shard/packed-outbox.ts';
import type { ToShardThread } from '../shard/protocol.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createShardMetrics } from '../telemetry/metrics.ts';
import { NetworkMetrics } from '../telemetry/network-metrics.ts';
import { systemClocks, trustClocks, watchClock } from '../telemetry/system-clocks.ts';
import { countThreadTime, type ThreadGauge } from '../telemetry/thread-time.ts';
import { checkpointHolds } from './checkpoint-holds.ts';
import { CheckpointWorker } from './checkpoint-worker.ts';
import { InstructionGate } from './instruction-gate.ts';
import { ConfiguredNetworks, createSend } from './networks.ts';
import { createAddressCheck } from './outbound.ts';
import { RunningShard } from './running-shard.ts';
import type { Connected, ShardThreadData, ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, failThread, startOfThread } from './thread-side.ts';
import { Visits } from './visits.ts';
import { watchStorage } from './watch-storage.ts';

// Its thread takes time to start, and begins when this one does.
const checkpointer = new CheckpointWorker();
const checkpointTaskMsMax = 30_000;
// The end of this thread ends the checkpoint thread, too, which must not happen while that loads
// LMDB's library or in the middle of a transaction.
process.on('exit', () => checkpointer.finishTask(checkpointTaskMsMax));
const { data, main, tell } = await startOfThread<ShardThreadData>();
const { number, dir, identity, shards, isChecked, config, accounts, revision, paused } = data;
/** The journal waits for other machines, and holds nothing yet that a stop would have to finish. */
let isAcquiring = false;
const instructions = new InstructionGate(main, () => {
  if (isAcquiring) process.exit(0);
});
const logger = await createLogger({ level: config.logLevel, thread: `shard-${number}` });
watchStorage(logger);
const registry = new Registry();
const metrics = createShardMetrics(registry, String(number));
const visits = new Visits(registry, logger, `shard-${number}`, ['api', 'network_callback']);
const otherThreads = new Map<string, ThreadGauge>();
countThreadTime(registry, `shard-${number}`, otherThreads);

const scrubStoreMs = 60_000;

/**
 * The first failure ends the thread. It is fatal when the journal is damaged, or another owner has
 * it, because another start can't help.
 */
let failed = false;
function fail(error: unknown): void {
  if (failed) return;
  failed = true;
  const message = errorText(error);
  // Another service owns the partition: taking it back would only take turns with that one. Among
  // nodes who has lost the lease can't take anything.
  const isFenced = error instanceof JournalFailure && error.outcome === 'fenced' && data.lease === null;
  const isDamaged = error instanceof JournalDamaged;
  const isRemote = (isDamaged || error instanceof JournalFailure) && error.isRemote;
  const isFatal = isFenced || isDamaged;
  // Whoever has started this thread tells of other machines in one line: nothing here is at fault.
  if (isFatal || !isRemote) logger.fatal({ err: error }, `the shard failed: ${message}`);
  failThread(tell, message, isFatal, isRemote);
}
process.on('uncaughtException', fail);

// It has no task before the journal is open.
checkpointer.begin({ dir, identity, isChecked, config }, fail, scrubbed);
void checkpointer.gauge.then((gauge) => otherThreads.set(`checkpoint-${number}`, gauge));

/** The position of the scrubber, and the one that is stored. */
let scrubState: ScrubState | null = null;
let storedScrub = '';
let storeScrubAtMs = 0;

function scrubbed(state: ScrubState, totalBytes: number): void {
  scrubState = state;
  metrics.scrub.progress.set(totalBytes === 0 ? 0 : Math.min(1, state.bytes / totalBytes));
  metrics.scrub.completed.set((state.completedMs ?? 0) / 1000);
  metrics.scrub.damaged.set(Math.max(state.damaged, state.damagedBefore));
  // Findings and the end of a pass are stored at once, the position now and then.
  const now = performance.now();
  const news = `${state.damaged} ${state.completedMs}`;
  if (news === storedScrub && now < storeScrubAtMs) return;
  storedScrub = news;
  storeScrubAtMs = now + scrubStoreMs;
  storeScrub();
}

function storeScrub(): void {
  if (scrubState !== null) running.note(scrubKey, writeScrub(scrubState));
}

const ownership = new OwnershipBoard(data.ownership, trustClocks);

function tellAcquisition(trouble: string | null): void {
  if (trouble === null) logger.info('the partition is acquired in PostgreSQL');
  else {
    logger.warn(`the partition can't be acquired in PostgreSQL, which is tried again: ${trouble}`);
    tell({ type: 'waits' });
  }
}

async function open() {
  try {
    const { segmentBytesMax } = config.journal;
    const remote = remoteLogOf(config, identity, shards, data.lease, tellAcquisition);
    isAcquiring = remote !== null;
    if (isAcquiring && instructions.hasStop) process.exit(0);
    return await openJournal({
      dir,
      identity,
      isChecked,
      indexRowsOf,
      segmentBytesMax,
      checkpointer,
      ...(remote && { remote }),
      onOwnership: (isHeld) => ownership.setHeld(number, isHeld),
      isTrusted: () => ownership.isTrustedIn(data.term),
      onPortion() {
        isAcquiring = false;
        if (instructions.hasStop) process.exit(0);
      },
    });
  } catch (error) {
    fail(error);
    return new Promise<never>(() => {});
  } finally {
    isAcquiring = false;
  }
}

const committer = config.journal.url === null ? 'the disk' : 'PostgreSQL or the disk';
let isStalled = false;
const startedAt = performance.now();
const journal = await open();
const memory = memoryShares(config.memory.shardMib);
metrics.residentBytesMax.set(memory.cacheBytesMax + memory.unwrittenBytesMax);

const secrets = new SecretBox(data.secretsKeys);
const send = createSend(config, () => ownership.isHeld(number));
const networks = new ConfiguredNetworks({ config, secrets, send });
for (const { id, connectors } of accounts) networks.put(id, connectors);
metrics.readOnly.set(0);
metrics.single.set(config.journal.single ? 1 : 0);
const networkMetrics = new NetworkMetrics(registry, String(number), networks);

const running = new RunningShard({
  dir,
  journal,
  accounts,
  revision,
  paused,
  networks,
  timers: systemTimers,
  settings: {
    baseUrl: data.baseUrl,
    cardPageMs: config.attempts.cardAttemptSeconds * 1000,
    cashCodeMs: config.attempts.cashCodeSeconds * 1000,
    webhookRetryMs: config.webhooks.retrySeconds.map((seconds) => seconds * 1000),
    attemptsKeptMax: config.webhooks.attemptsKeptMax,
    answersKeptMax: config.webhooks.answersKeptMax,
  },
  fillRandom: randomFillSync,
  secrets,
  memory,
  webhookThreads: config.webhookThreads,
  clocks: systemClocks(),
  scheduler: systemScheduler,
  clockObserver: watchClock(logger, metrics.clockJumps),
  checkpointIntervalMs: config.journal.checkpointIntervalMs,
  checkAddress: createAddressCheck(config),
  deliveryRetentionMs: config.webhooks.attemptsKeptDays * 86_400_000,
  eventRetentionMs: config.events.keptDays * 86_400_000,
  observer: {
    ...metrics.observer,
    stalled(stalledMs) {
      for (const peer of peers) peer.post({ stalledMs }, []);
      if (isStalled === (stalledMs !== null)) return;
      isStalled = stalledMs !== null;
      if (isStalled)
        logger.warn(`${committer} keeps a commit waiting: writes wait, reads of what is durable go on`);
      else logger.info(`${committer} takes commits again`);
    },
  },
  onNetworkTrouble({ callId, error }) {
    const call = running.shard.state.openCalls.get(callId);
    if (call !== undefined) networkMetrics.failed(call);
    logger.warn({ call: callId, err: error }, 'a network call is tried again');
  },
  onCallback: (request, outcome) => networkMetrics.posted(request, outcome),
  onDisk(isFull) {
    if (isFull) logger.error('the disk is full: writes are refused');
    else logger.warn('the disk has room again: writes are taken');
    metrics.readOnly.set(isFull ? 1 : 0);
  },
  onDamage: (reason) =>
    logger.error(
      { reason },
      'something that is stored cannot be read: requests that need it are answered with an error and are not run. ' +
        'Stop the service and restore the data folder from a backup',
    ),
  onVisitFailed: visits.failed,
  onDurable: (end) => tell({ type: 'durable', end }),
  onFailure: fail,
});
const { shard } = running;
await running.recover();
const recoverySeconds = (performance.now() - startedAt) / 1000;
metrics.recovery.set(recoverySeconds);

/** Everybody who sends requests. */
const peers = new Set<Peer>();

function connect({ port }: Connected): void {
  const peer: Peer = {
    post(message, transfer) {
      if ('outbox' in message) sendFromShard(port, message.outbox);
      else port.postMessage(message, transfer as ArrayBuffer[]);
    },
  };
  peers.add(peer);
  port.on('close', () => {
    peers.delete(peer);
    shard.disconnected(peer);
  });
  port.on('message', (message: ToShardThread | PackedOutbox) => {
    const isPacked = 'packedOutbox' in message;
    running.receive(isPacked ? { outbox: receivedByShard(message) } : message, peer);
  });
}

function show(): void {
  const { outboxes, records } = shard.state;
  const folders = foldersOfJournal(dir);
  metrics.resident.set(records.residentCount);
  metrics.clockOff.set(shard.clockOffMs / 1000);
  metrics.residentBytes.set(records.residentBytes);
  metrics.logBytes.set(bytesBelow(folders.log));
  metrics.checkpointBytes.set(bytesBelow(folders.checkpoint));
  metrics.logSequence.set(journal.log.nextSequence - 1);
  metrics.checkpointSequence.set(journal.checkpoint.sequence);
  metrics.oldestCommit.set(shard.oldestCommitMs / 1000);
  networkMetrics.show(running.owedCalls(), Date.now());
  const { waiting, oldestMs } = outboxes.depth(shard.now().serviceMs);
  metrics.deliveriesWaiting.set(waiting);
  metrics.oldestDelivery.set(Math.max(0, oldestMs) / 1000);
}

/** Whoever asks, the thread ends when the journal is closed. */
const stop = lazily(async () => {
  storeScrub();
  if (await running.stop()) return;
  logger.warn(
    'PostgreSQL has not answered in time, and the shard stops without it: the writes that wait are told to try again, ' +
      'and the next start finds those that PostgreSQL has',
  );
});

const started = running.start();
const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry, show),
  ...checkpointHolds(() => journal.holdCheckpoint()),
  account({ account }) {
    networks.put(account.id, account.connectors);
    shard.putAccount(account);
  },
  directory: ({ revision }) => running.noteDirectory(revision),
  resume: () => running.resume(),
  compact: (_asks, report) =>
    journal.checkpointer.compact(report).catch(({ message }: Error) => ({ failure: message })),
  stop,
};
instructions.open(carryOut(answers, tell, { connect }));
await started;
logger.info({ seconds: Number(recoverySeconds.toFixed(3)) }, 'ready');
tell({ type: 'ready' });
