// The trust of the node that has the lease, lent over links to nodes that run something for it. A
// borrower asks by beats and believes itself from when it sent one, for as long as the lender may
// believe itself when that arrives: so never for longer than the lender.

import type { Moment, OwnershipBoard } from '../journal/ownership.ts';

/** What the node with the lease has lent over one link. */
export class TrustLender {
  readonly #ownership: OwnershipBoard;
  readonly #trustMs: number;
  /** By the monotonic clock. */
  #untilMs: number;

  /** `trustMs`: the longest that is lent at once. */
  constructor(ownership: OwnershipBoard, trustMs: number) {
    this.#ownership = ownership;
    this.#trustMs = trustMs;
    this.#untilMs = ownership.now().monotonicMs;
  }

  /** Answers a beat: for so many milliseconds its sender may believe itself, from sending it. */
  grant(): number {
    const leftMs = this.#ownership.trustLeftMs(this.#trustMs);
    this.#untilMs = Math.max(this.#untilMs, this.#ownership.now().monotonicMs + leftMs);
    return leftMs;
  }

  /**
   * In so many milliseconds the borrower believes itself no more, whatever it has heard. Clocks of
   * two machines do not run quite alike.
   */
  get overInMs(): number {
    const marginMs = Math.ceil(this.#trustMs / 20);
    return Math.max(0, this.#untilMs - this.#ownership.now().monotonicMs) + marginMs;
  }
}

/** What a node has been lent, over one link at a time. */
export class TrustBorrower {
  readonly #board: OwnershipBoard;
  readonly #trustMs: number;
  /** The epoch of the lender's lease; null: nobody lends anything. */
  #epoch: number | null = null;
  #term = 0;

  /** `board`: where this node's threads ask. `trustMs`: the longest that is believed at once. */
  constructor(board: OwnershipBoard, trustMs: number) {
    this.#board = board;
    this.#trustMs = trustMs;
  }

  /** Counts the links over which trust was lent. */
  get term(): number {
    return this.#term;
  }

  /** Whether a node with the lease of `epoch` may lend: no later holder does. */
  accepts(epoch: number): boolean {
    return this.#epoch === null || this.#epoch <= epoch;
  }

  /** The node with the lease of `epoch` begins to lend. The link before must have ended. */
  begin(epoch: number): void {
    this.#epoch = epoch;
    this.#board.beginTerm(++this.#term);
  }

  /** The next beat, to be sent at once. */
  beat(): Moment {
    return this.#board.now();
  }

  /** The answer to a beat of this link has come. */
  granted(sent: Moment, trustMs: number): void {
    this.#board.trust(sent, Math.min(trustMs, this.#trustMs));
  }

  /** The link has ended. Trust that is lent later is not for what was run until now. */
  lost(): void {
    this.#epoch = null;
    this.#board.loseAll();
  }
}
