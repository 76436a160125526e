// File descriptors that the log reserves, so that it can open a segment when the process has run
// out of them. They are released just before that, and taken again afterwards.

import { closeSync, openSync } from 'node:fs';

/** LMDB takes three for an environment. A new segment is created and then opened. */
const spareCount = 6;

export class SpareDescriptors {
  readonly #folder: string;
  readonly #held: number[] = [];

  /** Reserves descriptors by opening `folder`, which must exist. */
  constructor(folder: string) {
    this.#folder = folder;
    this.refill();
  }

  /** Takes the descriptors that are missing. Returns false when the process has none left. */
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

  release(): void {
    for (const descriptor of this.#held.splice(0)) closeSync(descriptor);
  }
}
