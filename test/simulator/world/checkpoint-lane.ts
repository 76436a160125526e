// The checkpoint thread of a shard, with the messages between the two: it runs the journal's own follower in a lane of its own.

import { archivedSequence, archiveFolderOf } from '../../../src/data-folder/archive-folder.ts';
import type { ShardIdentity } from '../../../src/disk/identity.ts';
import { indexRowsOf } from '../../../src/domain/indexes.ts';
import {
  type Checkpointer,
  type CheckpointSizes,
  JournalFailure,
  type ReportCompaction,
} from '../../../src/journal/journal.ts';
import { openFollower } from '../../../src/journal/open-journal.ts';
import { type ScrubState, unscrubbed } from '../../../src/journal/scrubber.ts';
import type { Machine } from '../disk/machine.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane, Simulation } from '../kernel/simulation.ts';
import { archiveDir } from './archive-process.ts';
import type { Scrubbing } from './scrubbing.ts';

export interface CheckpointLaneOptions {
  readonly dir: string;
  readonly identity: ShardIdentity;
  readonly segmentBytesMax: number;
  readonly logBytesMax: number;
  /** Whether the log is archived. */
  readonly isArchived: boolean;
}

export class CheckpointLane implements Checkpointer {
  readonly lane: Lane;
  readonly #simulation: Simulation;
  readonly #shard: Lane;
  readonly #options: CheckpointLaneOptions;
  readonly #random: Random;
  #opened: ReturnType<typeof openFollower> | null = null;
  /** Tasks run one after the other: this is over when the last one is. */
  #turn: Promise<void> = Promise.resolve();
  /** The shard stops: a compaction ends at its next step. */
  #isClosing = false;
  #compaction: Promise<unknown> = Promise.resolve();
  /** Ends the turn of the task that runs. */
  #leave: () => void = () => {};
  /** Where a segment begins that is not noted yet. */
  unnoted = Infinity;
  /** Hears, in the shard's lane, that a checkpoint is about to be written. */
  onWriting: () => void = () => {};

  /** `shard` is the lane that asks and is answered. */
  constructor(machine: Machine, shard: Lane, name: string, options: CheckpointLaneOptions) {
    const { simulation } = machine;
    this.#simulation = simulation;
    this.#shard = shard;
    this.#options = options;
    this.lane = machine.lane(name);
    this.#random = simulation.random(`${name} at ${simulation.tasks}`);
  }

  #follower() {
    const simulation = this.#simulation;
    const scheduler = {
      soon: (run: () => void) => simulation.soon(this.lane, run),
      elapsedMs: () => simulation.nowMs,
    };
    const { identity, isArchived } = this.#options;
    const archive = archiveFolderOf(archiveDir, { ...identity, id: identity.folder }, identity.shard);
    const archived = isArchived ? () => archivedSequence(archive) : undefined;
    this.#opened ??= openFollower({ ...this.#options, indexRowsOf, scheduler }, archived);
    return this.#opened;
  }

  async #enter(): Promise<void> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    await before;
    this.#leave = resolve;
  }

  /** The thread has a low priority: it goes on when there is a processor for it. */
  #pause(): Promise<void> {
    return this.#simulation.wait(this.#random.skewed(0.05, 60));
  }

  async #inTurn<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      await this.#pause();
      return await task();
    } finally {
      this.#leave();
    }
  }

  #ask<T>(task: () => Promise<T>): Promise<T> {
    const simulation = this.#simulation;
    return new Promise((resolve, reject) => {
      simulation.soon(this.lane, () => {
        this.#inTurn(task).then(
          (result) => simulation.soon(this.#shard, () => resolve(result)),
          (error) => simulation.soon(this.#shard, () => reject(error)),
        );
      });
    });
  }

  write(sequence: number): Promise<number> {
    return this.#ask(() => {
      this.#simulation.soon(this.#shard, () => this.onWriting());
      return this.#follower().write(sequence);
    });
  }

  putMetadata(values: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const sent = structuredClone(values);
    return this.#ask(() => this.#follower().putMetadata(sent));
  }

  async noteSegment(firstSequence: number): Promise<void> {
    this.unnoted = firstSequence;
    await this.#ask(() => this.#follower().noteSegment(firstSequence));
    this.unnoted = Infinity;
  }

  drop(olderThanMs: number): Promise<number> {
    return this.#ask(() => this.#follower().drop(olderThanMs));
  }

  compact(report: ReportCompaction): Promise<CheckpointSizes> {
    const pause = async () => {
      // Other tasks run meanwhile.
      this.#leave();
      await this.#pause();
      await this.#enter();
      if (this.#isClosing) throw new JournalFailure('The shard is stopping', { diskFull: false });
    };
    const compacted = this.#ask(() =>
      this.#follower().compact(async (progress) => {
        await report(progress);
        await pause();
      }),
    );
    this.#compaction = compacted.catch(() => {});
    return compacted;
  }

  /** Reads all that is stored, a little at a time, as a scrubber that is started anew each time. */
  async scrub(scrubbing: (state: ScrubState) => Scrubbing): Promise<void> {
    for (let state = unscrubbed; state.completedMs === null; )
      state = await this.#ask(async () => scrubbing(state).run());
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#compaction;
    await this.#ask(async () => this.#opened?.close());
  }
}
