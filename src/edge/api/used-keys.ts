// Which API keys were used, for "last used" in the list of an organization's keys. It costs a
// request one comparison, because a key is told at most once a minute.

import type { RingKey } from './authenticate.ts';

/** A key, by its id, and when it was used, Unix milliseconds. */
export interface UsedKey {
  readonly key: string;
  readonly atMs: number;
}

const intervalMs = 60_000;

export class UsedKeys {
  #due: UsedKey[] = [];

  /** `monotonicMs` is the time of the monotonic clock, and `atMs` the wall time. */
  note(key: RingKey, monotonicMs: number, atMs: number): void {
    if (monotonicMs < key.tellAtMs) return;
    key.tellAtMs = monotonicMs + intervalMs;
    this.#due.push({ key: key.id, atMs });
  }

  /** The uses to tell now. */
  take(): readonly UsedKey[] {
    const due = this.#due;
    this.#due = [];
    return due;
  }
}
