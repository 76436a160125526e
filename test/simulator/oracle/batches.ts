// What a commit batch says of itself while it is filled: what it executes is done at that moment, and it counts the bytes of what it
// was sent and answers, by which it ends.

import type { Now } from '../../../src/core/clock.ts';
import type { CommitBatch } from '../../../src/shard/commit-batch.ts';
import type { InternalAnswer } from '../../../src/shard/protocol.ts';
import type { World } from '../world/world.ts';

export class Batches {
  readonly #world: World;
  readonly #now: () => Now;
  /** The bytes of the bodies that each has taken. */
  readonly #taken = new WeakMap<CommitBatch, number>();

  /** `now`: the time of the shard. */
  constructor(world: World, now: () => Now) {
    this.#world = world;
    this.#now = now;
  }

  /** It is about to execute what was sent with a body of so many bytes. */
  takes(batch: CommitBatch, bodyBytes: number): void {
    this.#taken.set(batch, (this.#taken.get(batch) ?? 0) + bodyBytes);
    const { nowMs, serviceMs } = this.#now();
    this.#world.judge.check(
      'what is done has the time of its moment',
      batch.nowMs === nowMs && batch.serviceMs === serviceMs,
      () => `something is done at ${batch.serviceMs} (${batch.nowMs}), and it is ${serviceMs} (${nowMs})`,
    );
  }

  /** `reply` answers somebody inside the service. */
  answers(batch: CommitBatch, answer: InternalAnswer, reply: () => void): void {
    const before = batch.bytes;
    reply();
    const bytes = answer.ok ? answer.body.length : 0;
    this.#counted(batch.bytes - before, bytes, 'an answer');
  }

  /** It is full, or is written. */
  ends(batch: CommitBatch): void {
    this.#counted(batch.bytesTaken, this.#taken.get(batch) ?? 0, 'what a batch has taken');
  }

  #counted(counted: number, bytes: number, what: string): void {
    this.#world.judge.check(
      'memory is counted as it is used',
      counted === bytes,
      () => `${what} counts as ${counted} bytes, and has ${bytes}`,
    );
  }
}
