// Counts what the edge holds for slow clients: of answers what they have not taken yet, and of
// bodies what has come before the rest. The bytes of all clients together are bounded. Each holder
// (an organization, or all strangers) may have a part of them, so that its slow clients slow down
// nobody else.

/** The part of the bytes that one holder may have. */
const holderShare = 1 / 8;

export class HeldBytes {
  readonly #bytesMax: number;
  readonly #byHolder = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so many more bytes may be held. The first ones of a holder may be of any number. */
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
