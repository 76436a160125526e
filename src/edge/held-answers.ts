// The answers that clients have yet to take, in bytes: an answer that does not fit the buffers of its connection is held
// by the edge for as long as its client takes. All of them together are bounded, and those of one holder (an organization)
// to a part of that, so that its slow readers are in nobody's way but its own.

/** How much of all one holder may have. */
const holderShare = 1 / 8;

export class HeldAnswers {
  readonly #bytesMax: number;
  readonly #byHolder = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether an answer of this size may be held. The first one of a holder always may. */
  hasRoom(holder: string, bytes: number): boolean {
    const held = this.#byHolder.get(holder);
    if (held === undefined) return this.#bytes < this.#bytesMax;
    return this.#bytes + bytes <= this.#bytesMax && held + bytes <= this.#bytesMax * holderShare;
  }

  /** Counts bytes that are held from now on, or, negative, no longer. */
  add(holder: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#byHolder.get(holder) ?? 0) + bytes;
    if (held === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, held);
  }
}
