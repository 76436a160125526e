// The pause of a restored data folder, as the running service sees it. It lasts until an operator resumes the service, also
// over restarts.

import { type DataFolder, endPause, type Paused } from './data-folder.ts';

export class Pause {
  readonly #folder: DataFolder;
  #paused: Paused | null;

  constructor(folder: DataFolder) {
    this.#folder = folder;
    this.#paused = folder.paused;
  }

  /** Why the folder is paused now; null when it is not. */
  get paused(): Paused | null {
    return this.#paused;
  }

  /** Ends the pause durably, and then calls `resume`, which makes the threads work. Resolves with the pause that ended. */
  async end(resume: () => Promise<void>): Promise<Paused | null> {
    const was = this.#paused;
    if (was === null) return null;
    endPause(this.#folder);
    this.#paused = null;
    await resume();
    return was;
  }
}
