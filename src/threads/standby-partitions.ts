// The partitions that a node follows because others own them, put together from ports: it mirrors
// their logs and keeps their checkpoints up to date. A partition that this node is to own is let
// go, because a journal has one writer, and may be followed again later. The entry of the thread
// that stands by gives it the real ports, and the simulator (test/simulator) its own, so both run
// the same wiring.

import { behindMax } from '../cluster/node.ts';
import { type Scheduler, Sleeper, type Timers } from '../core/scheduler.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { openStandby, type StandbyJournal } from '../journal/standby-journal.ts';
import { inspectJournal } from '../journal/stopped-journal.ts';
import type { LogFollower } from '../postgresql/log-follower.ts';
import { segmentRetentionMs } from '../shard/metadata.ts';

/** A partition's journal on this node. */
export interface FollowedShard {
  readonly dir: string;
  readonly identity: ShardIdentity;
}

export function followedShard(folder: DataFolder, number: number): FollowedShard {
  return { dir: folder.shardDir(number), identity: folder.shardIdentity(number) };
}

interface StandbyPartitionsOptions {
  /** Those that are followed from the start. */
  readonly shards: readonly FollowedShard[];
  readonly follower: Pick<LogFollower, 'endOf' | 'checksumAt' | 'readAfter' | 'close'>;
  readonly segmentBytesMax: number;
  readonly logBytesMax: number;
  readonly checkpointIntervalMs: number;
  readonly timers: Timers;
  readonly scheduler: Scheduler;
  readonly isDiskFull: () => boolean;
  /** Up to where a partition's log is archived by this node; absent: it archives nothing. */
  readonly archivedOf?: (identity: ShardIdentity) => number;
  /** Hears that a partition's files were checked and found whole, before they are written. */
  readonly onWhole: (partition: number) => void;
  /** Hears that this node's files of a partition are damaged, and why: it is followed no more. */
  readonly onDamaged: (partition: number, message: string) => void;
  /** Hears up to which sequence a partition is followed; 0: it is not any more. */
  readonly onFollowed: (partition: number, sequence: number) => void;
  /** Hears how many entries of a partition are known and not followed yet. */
  readonly onBehind: (partition: number, entries: number) => void;
  /**
   * Hears whether others had better take over: the files are not open yet, much is lacking, or the
   * disk is full.
   */
  readonly onLagging: (isLagging: boolean) => void;
}

const followMs = 100;
const retryMs = 1_000;
const dropMs = 3_600_000;

export class StandbyPartitions {
  readonly #options: StandbyPartitionsOptions;
  readonly #sleeper: Sleeper;
  /** By partition. */
  readonly #journals = new Map<number, StandbyJournal>();
  /** The partitions that are followed no more, until the folder is made anew. */
  readonly #damaged = new Set<number>();
  /** What is done between two readings. */
  readonly #tasks: (() => Promise<void>)[] = [];
  #following: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: StandbyPartitionsOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.timers);
  }

  /** `onFailure` hears why the partitions can't be followed any more. */
  start(onFailure: (error: unknown) => void): void {
    this.#following = this.#follow().catch((error) => {
      if (!this.#isStopping) onFailure(error);
    });
  }

  /** Begins to follow a partition that nobody on this node owns, unless its files are damaged. */
  follow(shard: FollowedShard): Promise<void> {
    return this.#between(async () => {
      const { shard: partition } = shard.identity;
      if (!this.#journals.has(partition) && !this.#damaged.has(partition)) await this.#open(shard);
    });
  }

  /** Lets a partition go: its journal is closed when this resolves. */
  release(partition: number): Promise<void> {
    return this.#between(async () => {
      const journal = this.#journals.get(partition);
      this.#journals.delete(partition);
      await journal?.close();
    });
  }

  /** Rejects when the task fails, or nothing is followed any more. */
  #between(task: () => Promise<void>): Promise<void> {
    if (this.#isStopping) return Promise.reject(new Error('nothing is followed any more'));
    const done = Promise.withResolvers<void>();
    this.#tasks.push(() => task().then(done.resolve, done.reject));
    this.#sleeper.wake();
    return done.promise;
  }

  async #follow(): Promise<void> {
    const { shards, scheduler, isDiskFull, checkpointIntervalMs, onLagging } = this.#options;
    // Until the first reading nobody knows how much is lacking.
    onLagging(true);
    for (const shard of shards) await this.#open(shard);
    let [checkpointAtMs, dropAtMs] = [scheduler.elapsedMs(), scheduler.elapsedMs()];
    for (;;) {
      for (const task of this.#tasks.splice(0)) await task();
      if (this.#isStopping) return;
      // What is on a full disk stays as it is until somebody makes room.
      const isFull = isDiskFull();
      if (isFull) onLagging(true);
      const waitMs = isFull ? retryMs : await this.#followOnce();
      const nowMs = scheduler.elapsedMs();
      if (nowMs >= checkpointAtMs && !isFull) {
        checkpointAtMs = nowMs + checkpointIntervalMs;
        for (const [partition, journal] of this.#journals)
          await this.#unlessDamaged(partition, () => journal.checkpoint());
      }
      if (nowMs >= dropAtMs) {
        dropAtMs = nowMs + dropMs;
        for (const [partition, journal] of this.#journals)
          await this.#unlessDamaged(partition, () => journal.drop(segmentRetentionMs));
      }
      await this.#sleeper.sleep(waitMs);
    }
  }

  #open(shard: FollowedShard): Promise<void> {
    return this.#unlessDamaged(shard.identity.shard, () => this.#openWhole(shard));
  }

  /**
   * Runs what needs this node's files of a partition. Where these are damaged, or too old to go on
   * from, others have what they lack: the partition is let go, and the rest is followed. Rejects
   * where the fault is not theirs: PostgreSQL has lost acknowledged data, is another service's, or
   * the disk does not take a write. Following on would hide that.
   */
  async #unlessDamaged(partition: number, task: () => Promise<void>): Promise<void> {
    const { onFollowed, onDamaged } = this.#options;
    try {
      await task();
    } catch (error) {
      if (!(error instanceof JournalDamaged) || error.isRemote) throw error;
      const journal = this.#journals.get(partition);
      this.#journals.delete(partition);
      this.#damaged.add(partition);
      await journal?.close();
      onFollowed(partition, 0);
      onDamaged(partition, error.message);
    }
  }

  async #openWhole({ dir, identity }: FollowedShard): Promise<void> {
    const { segmentBytesMax, logBytesMax, scheduler, archivedOf, onWhole, onFollowed } = this.#options;
    const options = { dir, identity, indexRowsOf, segmentBytesMax, logBytesMax, scheduler };
    const isChecked = await inspectJournal(options, ({ isWhole }) => isWhole);
    const archived = archivedOf && (() => archivedOf(identity));
    const journal = await openStandby({ ...options, isChecked, ...(archived && { archived }) });
    try {
      await this.#refuseDivergence(identity.shard, journal);
    } catch (error) {
      await journal.close();
      throw error;
    }
    this.#journals.set(identity.shard, journal);
    if (isChecked) onWhole(identity.shard);
    onFollowed(identity.shard, journal.sequence);
  }

  /**
   * Rejects with `JournalDamaged`, which `isRemote` when the mirror has what the log has lost, and
   * is not when the mirror ends before what the log still has.
   */
  async #refuseDivergence(partition: number, journal: StandbyJournal): Promise<void> {
    const { follower } = this.#options;
    const found = await follower.endOf(partition);
    await journal.refuseDivergence(found, (sequence) => follower.checksumAt(partition, sequence));
  }

  /**
   * Appends what is new. Resolves with the milliseconds to wait for more: what comes meanwhile costs
   * one reading and one commit.
   */
  async #followOnce(): Promise<number> {
    const { follower, onFollowed, onBehind, onLagging } = this.#options;
    if (this.#journals.size === 0) {
      onLagging(false);
      return retryMs;
    }
    const sequences = new Map([...this.#journals].map(([partition, { sequence }]) => [partition, sequence]));
    const parts = await follower.readAfter(sequences).catch((error) => {
      if (error instanceof JournalDamaged) throw error;
      return null;
    });
    if (parts === null) return retryMs;
    let mostBehind = 0;
    for (const [partition, journal] of this.#journals) {
      const { batches = [], before = null, end = journal.sequence } = parts.get(partition) ?? {};
      if (before !== null && journal.checksum !== null && before !== journal.checksum) {
        // A standby was promoted that lacked the mirror's end, or an old primary has come back.
        await this.#unlessDamaged(partition, () => this.#refuseDivergence(partition, journal));
        continue;
      }
      // No file of this node is at fault when a batch comes damaged from PostgreSQL.
      await journal.append(batches);
      onFollowed(partition, journal.sequence);
      onBehind(partition, end - journal.sequence);
      mostBehind = Math.max(mostBehind, end - journal.sequence);
    }
    onLagging(mostBehind > behindMax);
    return [...parts.values()].some(({ hasMore }) => hasMore) ? 0 : followMs;
  }

  /** Resolves when the journals are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sleeper.wake();
    this.#options.follower.close();
    await this.#following;
    for (const journal of this.#journals.values()) await journal.close();
  }
}
