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
import { type HeldCheckpoint, JournalDamaged } from '../journal/journal.ts';
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

/** A partition whose files are open. `checked`: see `#check`. */
interface Opened {
  readonly checked: Promise<void>;
}

/** What the database said of the journals as they were when it was asked. */
interface Reading {
  readonly asked: ReadonlyMap<number, StandbyJournal>;
  readonly parts: Awaited<ReturnType<LogFollower['readAfter']>>;
}

const followMs = 100;
const retryMs = 1_000;
const dropMs = 3_600_000;

export class StandbyPartitions {
  readonly #options: StandbyPartitionsOptions;
  readonly #sleeper: Sleeper;
  /** By partition. */
  readonly #journals = new Map<number, StandbyJournal>();
  /** Those that were let go and are not closed yet. */
  readonly #closing = new Map<number, Promise<void>>();
  /** The partitions that are followed no more, until the folder is made anew. */
  readonly #damaged = new Set<number>();
  /** Those of which it is not known yet whether the log goes on from them: they are not written. */
  readonly #unchecked = new Set<number>();
  /** What is done before the next reading, or while one waits for the database. */
  readonly #tasks: (() => Promise<void>)[] = [];
  /** Is resolved when a task comes, or nothing can be followed any more. */
  #interrupted = Promise.withResolvers<null>();
  /** What is asked of the database, one question after the other. */
  #questions: Promise<unknown> = Promise.resolve();
  #reading: Promise<Reading | null> | null = null;
  /** Why nothing can be followed any more; null: it can. */
  #failure: { readonly error: unknown } | null = null;
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

  /**
   * Begins to follow a partition that nobody on this node owns, unless its files are damaged.
   * Resolves when it is known that the log goes on from them.
   */
  async follow(shard: FollowedShard): Promise<void> {
    const { shard: partition } = shard.identity;
    const isNeedless = () => this.#journals.has(partition) || this.#damaged.has(partition);
    let opened: Opened | null = null as Opened | null;
    await this.#between(async () => {
      if (!isNeedless()) opened = await this.#open(shard);
    });
    await opened?.checked;
  }

  /** Lets a partition go: its journal is closed when this resolves. */
  release(partition: number): Promise<void> {
    return this.#between(() => this.#letGo(partition));
  }

  /** See `FiledJournal`. Throws when the partition is not followed. */
  holdCheckpoint(partition: number): HeldCheckpoint {
    const journal = this.#journals.get(partition);
    if (journal === undefined) throw new Error(`partition ${partition} is not followed`);
    return journal.holdCheckpoint();
  }

  /** Resolves when its journal is closed, whoever has let it go. */
  async #letGo(partition: number): Promise<void> {
    const journal = this.#journals.get(partition);
    if (journal !== undefined) {
      this.#journals.delete(partition);
      this.#unchecked.delete(partition);
      const closed = journal.close().finally(() => this.#closing.delete(partition));
      this.#closing.set(partition, closed);
    }
    await this.#closing.get(partition);
  }

  /** Rejects when the task fails, or nothing is followed any more. */
  #between(task: () => Promise<void>): Promise<void> {
    if (this.#isStopping) return Promise.reject(new Error('nothing is followed any more'));
    const done = Promise.withResolvers<void>();
    this.#tasks.push(() => task().then(done.resolve, done.reject));
    this.#interrupt();
    return done.promise;
  }

  #interrupt(): void {
    this.#interrupted.resolve(null);
    this.#sleeper.wake();
  }

  async #follow(): Promise<void> {
    const { shards, scheduler, isDiskFull, checkpointIntervalMs, onLagging } = this.#options;
    // Until the first reading nobody knows how much is lacking.
    onLagging(true);
    const opened: Opened[] = [];
    for (const shard of shards) opened.push(await this.#open(shard));
    const checks = opened.map(({ checked }) => checked);
    for (const checked of checks) checked.catch((error) => this.#fail(error));
    await Promise.race([Promise.all(checks), this.#interrupted.promise]);
    let [checkpointAtMs, dropAtMs] = [scheduler.elapsedMs(), scheduler.elapsedMs()];
    for (;;) {
      this.#interrupted = Promise.withResolvers();
      for (const task of this.#tasks.splice(0)) await task();
      if (this.#isStopping) return;
      if (this.#failure !== null) throw this.#failure.error;
      // What is on a full disk stays as it is until somebody makes room.
      const isFull = isDiskFull();
      if (isFull) onLagging(true);
      const waitMs = isFull ? retryMs : await this.#followOnce();
      const nowMs = scheduler.elapsedMs();
      if (nowMs >= checkpointAtMs && !isFull) {
        checkpointAtMs = nowMs + checkpointIntervalMs;
        for (const [partition, journal] of this.#checked)
          await this.#unlessDamaged(partition, () => journal.checkpoint());
      }
      if (nowMs >= dropAtMs) {
        dropAtMs = nowMs + dropMs;
        for (const [partition, journal] of this.#checked)
          await this.#unlessDamaged(partition, () => journal.drop(segmentRetentionMs));
      }
      await this.#sleeper.sleep(waitMs);
    }
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
      this.#damaged.add(partition);
      await this.#letGo(partition);
      onFollowed(partition, 0);
      onDamaged(partition, error.message);
    }
  }

  /** Opens a partition's files, and begins to find out whether the log goes on from them. */
  async #open({ dir, identity }: FollowedShard): Promise<Opened> {
    const { segmentBytesMax, logBytesMax, scheduler, archivedOf, onWhole, onFollowed } = this.#options;
    const { shard: partition } = identity;
    let checked = Promise.resolve();
    await this.#closing.get(partition);
    await this.#unlessDamaged(partition, async () => {
      const options = { dir, identity, indexRowsOf, segmentBytesMax, logBytesMax, scheduler };
      const isChecked = await inspectJournal(options, ({ isWhole }) => isWhole);
      const archived = archivedOf && (() => archivedOf(identity));
      const journal = await openStandby({ ...options, isChecked, ...(archived && { archived }) });
      this.#journals.set(partition, journal);
      checked = this.#check(partition, journal, () => {
        if (isChecked) onWhole(partition);
        onFollowed(partition, journal.sequence);
      });
    });
    return { checked };
  }

  /**
   * Finds out whether the log goes on from where the journal ends, which may wait for the database,
   * and holds up nothing else. Resolves when it does, or when the partition was let go; rejects as
   * `#unlessDamaged` says, once it is let go. `JournalDamaged` is remote when the mirror has what
   * the log has lost, and is not when the mirror ends before what the log still has.
   */
  #check(partition: number, journal: StandbyJournal, onDone: () => void = () => {}): Promise<void> {
    const { follower } = this.#options;
    const isStill = () => this.#journals.get(partition) === journal;
    const check = async () => {
      const found = await this.#ask(() => follower.endOf(partition));
      // It may have been let go meanwhile, and closed.
      if (!isStill()) return;
      const checksumAt = (sequence: number) => this.#ask(() => follower.checksumAt(partition, sequence));
      await journal.refuseDivergence(found, checksumAt);
      if (!isStill()) return;
      this.#unchecked.delete(partition);
      onDone();
    };
    this.#unchecked.add(partition);
    return this.#unlessDamaged(partition, check).catch(async (error) => {
      if (!isStill()) return;
      await this.#letGo(partition);
      throw error;
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#interrupt();
  }

  /** A connection takes one question at a time. */
  #ask<T>(question: () => Promise<T>): Promise<T> {
    const asked = this.#questions.then(question);
    this.#questions = asked.catch(() => {});
    return asked;
  }

  /** Those that are written: the others may be closed at any moment. */
  get #checked(): readonly (readonly [number, StandbyJournal])[] {
    return [...this.#journals].filter(([partition]) => !this.#unchecked.has(partition));
  }

  /** What is new of those that are checked; null: there is no answer. */
  async #read(): Promise<Reading | null> {
    const asked = new Map(this.#checked);
    const sequences = new Map([...asked].map(([partition, { sequence }]) => [partition, sequence]));
    if (asked.size === 0) return { asked, parts: new Map() };
    try {
      return { asked, parts: await this.#ask(() => this.#options.follower.readAfter(sequences)) };
    } catch (error) {
      if (error instanceof JournalDamaged) throw error;
      return null;
    }
  }

  /**
   * Appends what is new. Resolves with the milliseconds to wait for more: what comes meanwhile costs
   * one reading and one commit. A task that comes is not kept waiting by the database: it is done
   * first, and the answer is waited for again.
   */
  async #followOnce(): Promise<number> {
    const { onFollowed, onBehind, onLagging } = this.#options;
    if (this.#journals.size === 0) {
      onLagging(false);
      return retryMs;
    }
    this.#reading ??= this.#read();
    const isRead = this.#reading.then(() => true);
    if ((await Promise.race([isRead, this.#interrupted.promise])) === null) return 0;
    const reading = await this.#reading;
    this.#reading = null;
    if (reading === null) return retryMs;
    const { asked, parts } = reading;
    let mostBehind = 0;
    for (const [partition, journal] of this.#checked) {
      // One that was let go meanwhile may end elsewhere by now.
      if (asked.get(partition) !== journal) continue;
      const { batches = [], before = null, end = journal.sequence } = parts.get(partition) ?? {};
      if (before !== null && journal.checksum !== null && before !== journal.checksum) {
        // A standby was promoted that lacked the mirror's end, or an old primary has come back.
        this.#check(partition, journal).catch((error) => this.#fail(error));
        continue;
      }
      // No file of this node is at fault when a batch comes damaged from PostgreSQL.
      await journal.append(batches);
      onFollowed(partition, journal.sequence);
      onBehind(partition, end - journal.sequence);
      mostBehind = Math.max(mostBehind, end - journal.sequence);
    }
    onLagging(mostBehind > behindMax || this.#unchecked.size > 0);
    return [...parts.values()].some(({ hasMore }) => hasMore) ? 0 : followMs;
  }

  /** Resolves when the journals are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sleeper.wake();
    this.#options.follower.close();
    await this.#following;
    for (const partition of [...this.#closing.keys(), ...this.#journals.keys()]) await this.#letGo(partition);
  }
}
