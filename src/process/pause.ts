// The pause of a data folder that was restored, as the running service sees it: it lasts until an operator resumes the
// service, across restarts.

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

  /** Ends the pause durably, then has `resume` let the threads work. Resolves with what the pause was. */
  async end(resume: () => Promise<void>): Promise<Paused | null> {
    const was = this.#paused;
    if (was === null) return null;
    endPause(this.#folder);
    this.#paused = null;
    await resume();
    return was;
  }
}
