// Counts the bytes of answers that clients have not taken yet. The edge holds an answer that does
// not fit the buffers of its connection until its client has taken it. The bytes of all answers
// together are bounded. Each holder (an organization, or all strangers) may have a part of them, so
// that its slow clients slow down nobody else.

/** The part of the bytes that one holder may have. */
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

  /** Whether an answer of this size may be held. A holder's only answer may have any size. */
  hasRoom(holder: string, bytes: number): boolean {
    const held = this.#byHolder.get(holder);
    if (held === undefined) return this.#bytes < this.#bytesMax;
    return this.#bytes + bytes <= this.#bytesMax && held + bytes <= this.#bytesMax * holderShare;
  }

  /** Counts bytes that are held from now on; a negative number, bytes no longer held. */
  add(holder: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#byHolder.get(holder) ?? 0) + bytes;
    if (held === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, held);
  }
}
