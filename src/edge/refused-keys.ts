// API keys that were refused, for the audit record. Anybody can send wrong keys as fast as the network carries them, so
// what is told of them is bounded: within a minute a key from an address is told once, and again at its end with how
// often it came; at most so many keys are told singly, and of the rest only their number. Keys of ours that work no
// more are counted apart, so that a flood of made-up ones hides none of them.

import type { ErrorCode } from '../contract/errors/table.ts';

export interface RefusedKey {
  readonly code: ErrorCode;
  /** How often; a row without an address counts keys that are not told singly. */
  readonly times: number;
  readonly address: string | null;
  /** Id and organization of a key that we know; otherwise what its text begins with, and the start of its digest. */
  readonly key: string | null;
  readonly organization: string | null;
  readonly prefix: string | null;
  readonly digest: string | null;
  readonly path: string | null;
}

const windowMs = 60_000;
/** Keys told singly in a window: as many that we know as others. */
const toldMax = 20;

export class RefusedKeys {
  readonly #monotonic: () => number;
  #windowEndsAt = 0;
  #due: RefusedKey[] = [];
  /** What was told in this window, and how often it came after that. */
  readonly #told = new Map<string, { readonly refused: RefusedKey; again: number }>();
  readonly #toldCount = { known: 0, unknown: 0 };
  readonly #others = new Map<ErrorCode, number>();

  /** `monotonic` tells milliseconds by a clock that nobody sets. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  add(refused: RefusedKey): void {
    this.#endWindow();
    const { code, key, digest, address } = refused;
    const name = `${code} ${key ?? digest} ${address}`;
    const told = this.#told.get(name);
    const kind = key === null ? 'unknown' : 'known';
    if (told !== undefined) told.again++;
    else if (this.#toldCount[kind] === toldMax) this.#others.set(code, (this.#others.get(code) ?? 0) + 1);
    else {
      this.#toldCount[kind]++;
      this.#told.set(name, { refused, again: 0 });
      this.#due.push(refused);
    }
  }

  /** What is to be told now; `all` does not wait for the end of the window. */
  take(all = false): RefusedKey[] {
    if (all) this.#windowEndsAt = 0;
    this.#endWindow();
    const due = this.#due;
    this.#due = [];
    return due;
  }

  #endWindow(): void {
    const now = this.#monotonic();
    if (now < this.#windowEndsAt) return;
    this.#windowEndsAt = now + windowMs;
    for (const { refused, again } of this.#told.values()) {
      if (again > 0) this.#due.push({ ...refused, times: again });
    }
    const nobody = { address: null, key: null, organization: null, prefix: null, digest: null, path: null };
    for (const [code, times] of this.#others) this.#due.push({ code, times, ...nobody });
    this.#told.clear();
    this.#others.clear();
    this.#toldCount.known = 0;
    this.#toldCount.unknown = 0;
  }
}
