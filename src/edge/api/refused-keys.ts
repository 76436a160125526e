// Refused API keys, for the audit record. Anybody can send wrong keys as fast as the network
// allows, so their rows are bounded: in a minute a key from one address has one row, and another
// one at the end with how often it came; a limited number of keys have rows of their own, and the
// others are only counted. Keys that exist but do not work are limited separately, so that a flood
// of invented ones hides none of them, and by organization, so that none hides those of another.

import type { ErrorCode } from '../../contract/errors/table.ts';

export interface RefusedKeyNote {
  readonly code: ErrorCode;
  /** How often it was refused. Without an address the row counts keys without own rows. */
  readonly times: number;
  readonly address: string | null;
  /** Of an existing key, its id and organization; of others, the start of text and digest. */
  readonly key: string | null;
  readonly organization: string | null;
  readonly prefix: string | null;
  readonly digest: string | null;
  readonly path: string | null;
}

const windowMs = 60_000;
/** Keys with rows of their own in a window: this many that exist, and this many others. */
const toldMax = 20;
/** Of those that exist, this many of one organization. */
const toldOfOneMax = 4;

export class RefusedKeys {
  readonly #monotonic: () => number;
  #windowEndsAt = 0;
  #due: RefusedKeyNote[] = [];
  /** The keys with a row in this window, and how often each came after it. */
  readonly #told = new Map<string, { readonly refused: RefusedKeyNote; again: number }>();
  readonly #toldCount = { known: 0, unknown: 0 };
  readonly #toldOf = new Map<string, number>();
  readonly #others = new Map<ErrorCode, number>();

  /** `monotonic` is the monotonic clock. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  add(refused: RefusedKeyNote): void {
    this.#endWindow();
    const { code, key, digest, address, organization } = refused;
    const name = `${code} ${key ?? digest} ${address}`;
    const told = this.#told.get(name);
    const kind = key === null ? 'unknown' : 'known';
    if (told !== undefined) told.again++;
    else if (this.#toldCount[kind] === toldMax || this.#toldOfOne(organization) === toldOfOneMax)
      this.#others.set(code, (this.#others.get(code) ?? 0) + 1);
    else {
      this.#toldCount[kind]++;
      if (organization !== null) this.#toldOf.set(organization, this.#toldOfOne(organization) + 1);
      this.#told.set(name, { refused, again: 0 });
      this.#due.push(refused);
    }
  }

  #toldOfOne(organization: string | null): number {
    return organization === null ? 0 : (this.#toldOf.get(organization) ?? 0);
  }

  /** The rows to write now. `all` does not wait for the end of the window. */
  take(all = false): RefusedKeyNote[] {
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
    this.#toldOf.clear();
    this.#others.clear();
    this.#toldCount.known = 0;
    this.#toldCount.unknown = 0;
  }
}
