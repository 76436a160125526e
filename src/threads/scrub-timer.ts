// Decides when the scrubber reads, and how much at a time. It reads everything within the
// configured time, spread evenly, in slices that are short enough for the other tasks of the
// checkpoint thread, in which it runs.

import type { Scrubber, ScrubState } from '../journal/scrubber.ts';

const lookMs = 1_000;
/** The wait after a slice that was too small. */
const soonMs = 50;
const sliceMsMax = 5;
const stepBytes = 64 * 1024;
/** After a long busy time, at most this much is caught up. */
const dueBytesMax = 16 * 1024 * 1024;
/** How often the sizes of the files are measured. */
const measureMs = 60_000;

interface ScrubTimerOptions {
  readonly scrubber: Scrubber;
  /** Everything is read once in this time. */
  readonly periodMs: number;
  /** Called with the position, and with the number of bytes of a pass. */
  readonly onProgress: (state: ScrubState, totalBytes: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export class ScrubTimer {
  readonly #options: ScrubTimerOptions;
  #timer: NodeJS.Timeout | null = null;
  #lastMs = performance.now();
  #measuredMs = Number.NEGATIVE_INFINITY;
  #totalBytes = 0;
  #dueBytes = 0;

  constructor(options: ScrubTimerOptions) {
    this.#options = options;
    this.#wait(lookMs);
  }

  get state(): ScrubState {
    return this.#options.scrubber.state;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#slice(), ms).unref();
  }

  #slice(): void {
    const { scrubber, periodMs, onProgress, onFailure } = this.#options;
    const startMs = performance.now();
    try {
      if (startMs - this.#measuredMs > measureMs) {
        this.#totalBytes = scrubber.totalBytes;
        this.#measuredMs = startMs;
      }
      const grown = ((startMs - this.#lastMs) / periodMs) * this.#totalBytes;
      this.#lastMs = startMs;
      this.#dueBytes = Math.min(dueBytesMax, this.#dueBytes + grown);
      while (this.#dueBytes >= 1 && performance.now() - startMs < sliceMsMax) {
        const before = scrubber.state;
        scrubber.run(Math.min(this.#dueBytes, stepBytes), Date.now());
        const { state } = scrubber;
        // After a complete pass, the bytes that are still due are left to the next one.
        this.#dueBytes = state.bytes > before.bytes ? this.#dueBytes - (state.bytes - before.bytes) : 0;
      }
      onProgress(scrubber.state, this.#totalBytes);
      this.#wait(this.#dueBytes >= 1 ? soonMs : lookMs);
    } catch (error) {
      onFailure(error);
    }
  }
}
