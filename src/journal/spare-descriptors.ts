// Descriptors that the log holds ahead of need. Opening a segment takes some, and a process may have run out of them:
// so these are given up for the moment in which it is opened, and taken again afterwards.

import { closeSync, openSync } from 'node:fs';

/** What LMDB takes for an environment (its file twice, its lock), twice over, because it is created and then opened. */
const spareCount = 6;

export class SpareDescriptors {
  readonly #folder: string;
  readonly #held: number[] = [];

  /** Holds descriptors of `folder`, which has to be there. */
  constructor(folder: string) {
    this.#folder = folder;
    this.refill();
  }

  /** Takes those that are missing; false when the process has none left. */
  refill(): boolean {
    try {
      while (this.#held.length < spareCount) this.#held.push(openSync(this.#folder, 'r'));
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EMFILE' || code === 'ENFILE') return false;
      throw error;
    }
  }

  /** Gives them up: what opens something next finds them free. */
  release(): void {
    for (const descriptor of this.#held.splice(0)) closeSync(descriptor);
  }
}
