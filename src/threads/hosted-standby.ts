// The partitions as a node follows them that stands by, put together from ports: it mirrors their
// logs and keeps their checkpoints up to date. The entry of the thread that stands by gives it the
// real ports, and the simulator (test/simulator) its own, so both run the same wiring.

import type { Scheduler, Timers } from '../core/scheduler.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { openStandby, type StandbyJournal } from '../journal/standby-journal.ts';
import { inspectJournal } from '../journal/stopped-journal.ts';
import type { LogFollower } from '../postgresql/log-follower.ts';
import { segmentRetentionMs } from '../shard/metadata.ts';

export interface HostedStandbyOptions {
  readonly shards: readonly { readonly dir: string; readonly identity: ShardIdentity }[];
  readonly follower: Pick<LogFollower, 'endOf' | 'checksumAt' | 'readAfter' | 'close'>;
  readonly segmentBytesMax: number;
  readonly logBytesMax: number;
  readonly checkpointIntervalMs: number;
  readonly timers: Timers;
  readonly scheduler: Scheduler;
  readonly isDiskFull: () => boolean;
  /** Hears that a partition's files were checked and found whole, before they are written. */
  readonly onWhole: (partition: number) => void;
  /** Hears up to which sequence a partition is followed. */
  readonly onFollowed: (partition: number, sequence: number) => void;
  /** Hears how many entries of a partition are known and not followed yet. */
  readonly onBehind: (partition: number, entries: number) => void;
}

const followMs = 100;
const retryMs = 1_000;
const dropMs = 3_600_000;

export class HostedStandby {
  readonly #options: HostedStandbyOptions;
  readonly #journals: StandbyJournal[] = [];
  #following: Promise<void> = Promise.resolve();
  #isStopping = false;
  #wake = () => {};

  constructor(options: HostedStandbyOptions) {
    this.#options = options;
  }

  /** `onFailure` hears why the partitions can't be followed any more. */
  start(onFailure: (error: unknown) => void): void {
    this.#following = this.#follow().catch((error) => {
      if (!this.#isStopping) onFailure(error);
    });
  }

  async #follow(): Promise<void> {
    const { scheduler, isDiskFull, checkpointIntervalMs } = this.#options;
    await this.#openAll();
    let [checkpointAtMs, dropAtMs] = [scheduler.elapsedMs(), scheduler.elapsedMs()];
    while (!this.#isStopping) {
      // What is on a full disk stays as it is until somebody makes room.
      const waitMs = isDiskFull() ? retryMs : await this.#followOnce();
      const nowMs = scheduler.elapsedMs();
      if (nowMs >= checkpointAtMs) {
        checkpointAtMs = nowMs + checkpointIntervalMs;
        for (const journal of this.#journals) await journal.checkpoint();
      }
      if (nowMs >= dropAtMs) {
        dropAtMs = nowMs + dropMs;
        for (const journal of this.#journals) await journal.drop(segmentRetentionMs);
      }
      await this.#pause(waitMs);
    }
  }

  async #openAll(): Promise<void> {
    const { shards, follower, segmentBytesMax, logBytesMax, scheduler, onWhole, onFollowed } = this.#options;
    for (const { dir, identity } of shards) {
      const options = { dir, identity, indexRowsOf, segmentBytesMax, logBytesMax, scheduler };
      const isChecked = await inspectJournal(options, ({ isWhole }) => isWhole);
      const journal = await openStandby({ ...options, isChecked });
      this.#journals.push(journal);
      const found = await follower.endOf(identity.shard);
      await journal.refuseDivergence(found, (sequence) => follower.checksumAt(identity.shard, sequence));
      if (isChecked) onWhole(identity.shard);
      onFollowed(identity.shard, journal.sequence);
    }
  }

  /** Appends what is new. Resolves with the milliseconds to wait for more. */
  async #followOnce(): Promise<number> {
    const { follower, onFollowed, onBehind } = this.#options;
    const sequences = this.#journals.map(({ sequence }) => sequence);
    const parts = await follower.readAfter(sequences).catch(() => null);
    if (parts === null) return retryMs;
    let appended = 0;
    for (const [partition, journal] of this.#journals.entries()) {
      const { batches = [], end = journal.sequence } = parts.get(partition) ?? {};
      await journal.append(batches);
      appended += batches.length;
      onFollowed(partition, journal.sequence);
      onBehind(partition, end - journal.sequence);
    }
    return appended > 0 ? 0 : followMs;
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isStopping) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.timers.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Resolves when the journals are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    this.#options.follower.close();
    await this.#following;
    for (const journal of this.#journals) await journal.close();
  }
}
