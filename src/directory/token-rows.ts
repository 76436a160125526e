// Rows that are found by the digest of a token: sessions and links. They are in memory and on disk,
// and not in the log of changes, so that no restore brings them back.

import { pack } from 'msgpackr';
import type { DirectoryStore, Ending } from './directory-store.ts';

export interface TokenRow {
  /** SHA-256 of the token, hexadecimal. The token itself is stored nowhere. */
  readonly digest: string;
}

/** Other rows of the same commit, and what to do once they are on disk. */
export interface Alongside {
  readonly rows: ReadonlyMap<string, Uint8Array | null>;
  onWritten(): void;
}

const prefixes = { session: 'session/', link: 'link/' } as const;

/** Whether a row of the directory means nothing in another folder. */
export function isTokenRow(row: string): boolean {
  return Object.values(prefixes).some((prefix) => row.startsWith(prefix));
}

export class TokenRows<T extends TokenRow> {
  readonly #store: DirectoryStore;
  readonly #prefix: string;
  readonly #byDigest = new Map<string, T>();

  constructor(store: DirectoryStore, kind: keyof typeof prefixes) {
    this.#store = store;
    this.#prefix = prefixes[kind];
    for (const row of store.values<T>(this.#prefix)) this.#byDigest.set(row.digest, row);
  }

  get(digest: string): T | undefined {
    return this.#byDigest.get(digest);
  }

  all(): T[] {
    return [...this.#byDigest.values()];
  }

  /** The end of rows in the commit of a change, which decides on them. */
  ending(ended: readonly T[]): Ending {
    return {
      rows: ended.map(({ digest }) => [this.#prefix + digest, null]),
      apply: () => this.#forget(ended),
    };
  }

  #forget(ended: readonly T[]): void {
    for (const { digest } of ended) this.#byDigest.delete(digest);
  }

  /** Writes what is decided after the write before. Resolves with the rows that have ended. */
  async write(
    decide: () => {
      readonly put?: readonly T[];
      readonly ended?: readonly T[];
      readonly alongside?: Alongside | null;
    },
  ): Promise<readonly T[]> {
    let put: readonly T[] = [];
    let ended: readonly T[] = [];
    let alongside: Alongside | null = null;
    const rows = () => {
      ({ put = [], ended = [], alongside = null } = decide());
      return new Map<string, Uint8Array | null>([
        ...ended.map(({ digest }) => [this.#prefix + digest, null] as const),
        ...put.map((row) => [this.#prefix + row.digest, pack(row)] as const),
        ...(alongside?.rows ?? []),
      ]);
    };
    await this.#store.write(rows, () => {
      this.#forget(ended);
      for (const row of put) this.#byDigest.set(row.digest, row);
      alongside?.onWritten();
    });
    return ended;
  }
}
