// The pause of a restored folder while its service runs: `payments resume` ends it.

import { type DataFolder, type Paused, setPause } from './data-folder.ts';

/** The pause of a restored folder while the service runs. It outlasts restarts. */
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

  /** Ends the pause durably, and has `resume` start the work. Resolves with what ended. */
  async end(resume: () => Promise<void>): Promise<Paused | null> {
    const was = this.#paused;
    if (was === null) return null;
    setPause(this.#folder, null);
    this.#paused = null;
    await resume();
    return was;
  }
}
