// Timers: injected wherever something waits, so that a test turns the hands instead of sleeping.

export interface Timers {
  /** Runs `action` once after `delayMs` unless the returned function is called before. */
  after(delayMs: number, action: () => void): () => void;
}

/** `setTimeout` holds no longer a wait than this. */
const timerMsMax = 2_147_483_647;

/** The process's own timers. One that waits does not keep the process alive. */
export const systemTimers: Timers = {
  after(delayMs, action) {
    const timer = setTimeout(action, Math.min(delayMs, timerMsMax)).unref();
    return () => clearTimeout(timer);
  },
};
