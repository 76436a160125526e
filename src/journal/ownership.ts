// Who owns a partition, which is a shard. An append is refused once there is a newer owner. What
// leaves a partition without an append is not: an answer to a query, a webhook, a call of a payment
// network. So everything of that kind asks here first, right before it leaves.

import { JournalFailure } from '../disk/storage-errors.ts';

export interface Ownership {
  /** Greater than those of all earlier owners. */
  readonly epoch: number;
  /** Whether this owner may still speak for the partition. Cheap, and never waits. */
  isHeld(): boolean;
  /** What the partition was lost by, where that is known: perhaps to nobody else. */
  lostBy?(): JournalFailure | null;
  /**
   * Asks where the epoch lies, if that is elsewhere, whether this is the newest owner. For what
   * nobody fences once it has left, and what must not be done twice. Rejects with `JournalFailure`.
   */
  confirm?(): Promise<void>;
}

/** To be called right before something leaves. Throws `JournalFailure`. */
export function requireHeld(ownership: Ownership): void {
  if (ownership.isHeld()) return;
  const lostBy = ownership.lostBy?.() ?? null;
  if (lostBy !== null) throw lostBy;
  throw new JournalFailure(
    `The owner of epoch ${ownership.epoch} has lost the partition: it says nothing more`,
    { diskFull: false, outcome: 'unknown', isRemote: true },
  );
}

/** Whether other machines hold the log, too: they may leave whoever asks them without an answer. */
export function isShared({ confirm }: Ownership): boolean {
  return confirm !== undefined;
}

/** The lock of the data folder keeps every other owner away for as long as the process lives. */
export function heldByLock(epoch: number): Ownership {
  return { epoch, isHeld: () => true };
}

/** The clocks that a deadline is held against. */
export interface TrustClocks {
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** Unix milliseconds. Unlike the other, it counts while the machine is suspended. */
  readonly wall: () => number;
}

export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const never = 2n ** 62n;
const [monotonicPlace, wallPlace] = [0, 1] as const;
const deadlineBytes = 2 * BigInt64Array.BYTES_PER_ELEMENT;

/**
 * Until when this process may believe that it owns anything, and which partitions are lost, in
 * memory that all its threads share: a thread asks here right before it says or does something for
 * a partition.
 */
export class OwnershipBoard {
  readonly #deadline: BigInt64Array;
  readonly #term: Int32Array;
  readonly #lost: Int32Array;
  readonly #clocks: TrustClocks;

  /** The process may believe itself for ever: nobody else can own anything. */
  static memory(partitions: number): SharedArrayBuffer {
    const memory = OwnershipBoard.untrusted(partitions);
    new BigInt64Array(memory, 0, 2).fill(never);
    return memory;
  }

  /** The process may not believe itself before it is told to. */
  static untrusted(partitions: number): SharedArrayBuffer {
    return new SharedArrayBuffer(deadlineBytes + (1 + partitions) * Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer, clocks: TrustClocks) {
    this.#deadline = new BigInt64Array(memory, 0, 2);
    this.#term = new Int32Array(memory, deadlineBytes, 1);
    this.#lost = new Int32Array(memory, deadlineBytes + Int32Array.BYTES_PER_ELEMENT);
    this.#clocks = clocks;
  }

  /** What the clocks say now. */
  now(): Moment {
    return { monotonicMs: this.#clocks.monotonic(), wallMs: this.#clocks.wall() };
  }

  /** The process believes itself for `trustMs` from a moment. */
  trust({ monotonicMs, wallMs }: Moment, trustMs: number): void {
    Atomics.store(this.#deadline, wallPlace, BigInt(Math.floor(wallMs + trustMs)));
    Atomics.store(this.#deadline, monotonicPlace, BigInt(Math.floor(monotonicMs + trustMs)));
  }

  /**
   * Whether the process may believe itself. A machine that was suspended shows by its wall clock; a
   * step of that costs a moment at most, until the next beat.
   */
  isTrusted(): boolean {
    const deadline = Atomics.load(this.#deadline, monotonicPlace);
    if (deadline === never) return true;
    return (
      BigInt(Math.ceil(this.#clocks.monotonic())) < deadline &&
      BigInt(Math.ceil(this.#clocks.wall())) < Atomics.load(this.#deadline, wallPlace)
    );
  }

  /**
   * For how long the process may go on to believe itself, and at most `mostMs`: 0 when it may not.
   */
  trustLeftMs(mostMs: number): number {
    if (!this.isTrusted()) return 0;
    const deadline = Atomics.load(this.#deadline, monotonicPlace);
    const wallDeadline = Atomics.load(this.#deadline, wallPlace);
    const leftMs = (until: bigint, nowMs: number) => Number(until - BigInt(Math.ceil(nowMs)));
    return Math.max(
      0,
      Math.min(mostMs, leftMs(deadline, this.#clocks.monotonic()), leftMs(wallDeadline, this.#clocks.wall())),
    );
  }

  setHeld(partition: number, isHeld: boolean): void {
    Atomics.store(this.#lost, partition, isHeld ? 0 : 1);
  }

  /** The process owns nothing any more, whatever it may believe later. */
  loseAll(): void {
    for (let partition = 0; partition < this.#lost.length; partition++) this.setHeld(partition, false);
  }

  isHeld(partition: number): boolean {
    return Atomics.load(this.#lost, partition) === 0 && this.isTrusted();
  }

  /** Somebody else grants the trust from now on: what was known by trust of earlier terms is old. */
  beginTerm(term: number): void {
    Atomics.store(this.#term, 0, term);
  }

  /** Whether what this process has been told in a term is still kept up to date. */
  isTrustedIn(term: number): boolean {
    // In this order: a later term begins before it is trusted.
    return this.isTrusted() && Atomics.load(this.#term, 0) === term;
  }
}
