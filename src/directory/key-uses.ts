// When each API key was last used. The edges tell it at most a second late and once a minute for a
// key. It is written a minute late at most, and without a change of the directory's revision: a
// crash may lose a minute of it, which nobody depends on.

import { pack } from 'msgpackr';
import type { UsedKey } from '../edge/api/used-keys.ts';
import type { DirectoryStore } from './directory-store.ts';

const prefix = 'used/';
const writtenAfterMs = 60_000;

export class KeyUses {
  readonly #store: DirectoryStore;
  readonly #lastMs = new Map<string, number>();
  /** The keys whose last use is not on disk. */
  #unwritten = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: DirectoryStore) {
    this.#store = store;
    for (const use of store.values<UsedKey>(prefix)) this.#keep(use);
  }

  note(uses: readonly UsedKey[]): void {
    for (const use of uses) if (this.#keep(use)) this.#unwritten.add(use.key);
    this.#timer ??= setTimeout(() => void this.write(), writtenAfterMs).unref();
  }

  /** Whether it is later than what is known. */
  #keep({ key, atMs }: UsedKey): boolean {
    if (atMs <= (this.#lastMs.get(key) ?? 0)) return false;
    this.#lastMs.set(key, atMs);
    return true;
  }

  /** Unix milliseconds; null for a key that was never used. */
  lastMs(key: string): number | null {
    return this.#lastMs.get(key) ?? null;
  }

  /** Writes what is not on disk. Never rejects: what failed is written the next time. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const keys = this.#unwritten;
    if (keys.size === 0) return;
    this.#unwritten = new Set();
    const rows = () =>
      new Map([...keys].map((key) => [prefix + key, pack({ key, atMs: this.lastMs(key)! })]));
    await this.#store.write(rows).catch(() => {
      for (const key of keys) this.#unwritten.add(key);
    });
  }
}
