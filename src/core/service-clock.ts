// The two times of the service. Wall time is what people read: it follows the machine's clock, but
// a step of more than seconds only once that has lasted for minutes. Service time is the time that
// has really passed, by the monotonic clock and stored across restarts; it never steps. Retention,
// retries, expiry and limits go by it. After a stop, the monotonic clock tells how long if the
// machine was not booted. Otherwise the wall clock tells, and counts when it has kept to it for
// minutes.

import type { Clocks, Now } from './clock.ts';

/** A step of the wall clock against the monotonic one is reported when it is larger than this. */
export const jumpMsMin = 5_000;
/** For how long a step, or a downtime that only the wall clock tells, must last to be accepted. */
export const believedAfterMs = 300_000;

/** The readings of the same monotonic clock by two processes may differ by this much. */
const roundingMs = 1_000;

/** A step that is not accepted yet. */
interface Jump {
  readonly byMs: number;
  readonly sinceServiceMs: number;
}

/** Time that may have passed while the service was down. */
interface Downtime {
  readonly ms: number;
  readonly sinceServiceMs: number;
}

/** The state of the clock that is stored across restarts. */
export interface StoredClock {
  readonly serviceMs: number;
  readonly wallMs: number;
  /** The reading of the machine's clock, accepted or not. */
  readonly shownMs: number;
  readonly monotonicMs: number;
  readonly boot: string | null;
  readonly jump: Jump | null;
  readonly downtime: Downtime | null;
}

/** A stored clock as it was at the last entry of the log: all its readings have gone on as well. */
export function storedNotBefore(stored: StoredClock, serviceMs: number): StoredClock {
  const byMs = serviceMs - stored.serviceMs;
  if (byMs <= 0) return stored;
  const { wallMs, shownMs, monotonicMs } = stored;
  return {
    ...stored,
    serviceMs,
    wallMs: wallMs + byMs,
    shownMs: shownMs + byMs,
    monotonicMs: monotonicMs + byMs,
  };
}

/** Hears that the machine's clock has stepped, and that wall time has followed it. */
export interface ClockObserver {
  jumped(byMs: number): void;
  followed(byMs: number): void;
}

export class ServiceClock {
  readonly #clocks: Clocks;
  readonly #observer: ClockObserver;
  #serviceMs: number;
  #wallMs: number;
  #shownMs: number;
  #monotonicMs: number;
  #jump: Jump | null = null;
  #downtime: Downtime | null = null;

  /** Continues from `stored`, which is null when the folder is new. */
  constructor(clocks: Clocks, stored: StoredClock | null, observer: ClockObserver) {
    this.#clocks = clocks;
    this.#observer = observer;
    this.#shownMs = clocks.wall();
    this.#monotonicMs = clocks.monotonic();
    this.#serviceMs = stored?.serviceMs ?? this.#shownMs;
    this.#wallMs = this.#shownMs;
    if (stored !== null) this.#resume(stored);
    this.read();
  }

  /**
   * Moves service time to the last entry of the log, which may be later than the stored clock: until
   * then the service was not down.
   */
  notBefore(serviceMs: number): void {
    const byMs = serviceMs - this.#serviceMs;
    if (byMs <= 0) return;
    this.#serviceMs = serviceMs;
    if (this.#downtime === null) return;
    this.#downtime = { ms: Math.max(0, this.#downtime.ms - byMs), sinceServiceMs: serviceMs };
  }

  #resume(stored: StoredClock): void {
    this.#jump = stored.jump;
    this.#downtime = stored.downtime;
    const isSameBoot = stored.boot !== null && stored.boot === this.#clocks.boot;
    if (isSameBoot && stored.monotonicMs <= this.#monotonicMs + roundingMs) {
      this.#wallMs = stored.wallMs;
      this.#monotonicMs = stored.monotonicMs;
      return;
    }
    const sinceShownMs = this.#shownMs - stored.shownMs;
    const downMs = sinceShownMs >= 0 ? sinceShownMs : this.#shownMs - stored.wallMs;
    this.#wallMs = stored.wallMs + Math.max(0, downMs);
    if (downMs <= 0) return;
    this.#downtime = { ms: downMs + (stored.downtime?.ms ?? 0), sinceServiceMs: this.#serviceMs };
  }

  read(): Now {
    const monotonicMs = this.#clocks.monotonic();
    const passedMs = Math.max(0, monotonicMs - this.#monotonicMs);
    this.#monotonicMs = monotonicMs;
    this.#serviceMs += passedMs;
    this.#wallMs += passedMs;
    this.#shownMs = this.#clocks.wall();
    this.#followWall(this.#shownMs - this.#wallMs);
    this.#countDowntime();
    return { nowMs: this.#wallMs, serviceMs: this.#serviceMs };
  }

  #followWall(byMs: number): void {
    if (Math.abs(byMs) <= jumpMsMin) {
      this.#wallMs += byMs;
      this.#jump = null;
      return;
    }
    if (this.#jump === null || Math.abs(byMs - this.#jump.byMs) > jumpMsMin) {
      this.#jump = { byMs, sinceServiceMs: this.#serviceMs };
      this.#observer.jumped(byMs);
    }
    // The clock that reported a downtime is corrected, so that much of the downtime was wrong.
    const downtime = this.#downtime;
    if (byMs < 0 && downtime !== null && downtime.ms + byMs > -jumpMsMin)
      this.#downtime = { ...downtime, ms: Math.max(0, downtime.ms + byMs) };
    else if (this.#serviceMs - this.#jump.sinceServiceMs < believedAfterMs) return;
    this.#wallMs += byMs;
    this.#jump = null;
    this.#observer.followed(byMs);
  }

  #countDowntime(): void {
    const { sinceServiceMs, ms } = this.#downtime ?? { sinceServiceMs: Infinity, ms: 0 };
    if (this.#jump !== null || this.#serviceMs - sinceServiceMs < believedAfterMs) return;
    this.#serviceMs += ms;
    this.#downtime = null;
  }

  /** The machine's clock less wall time, in milliseconds: 0 unless a step is not accepted yet. */
  get offMs(): number {
    return this.#jump?.byMs ?? 0;
  }

  /** Store it with what this clock has counted. */
  stored(): StoredClock {
    return {
      serviceMs: this.#serviceMs,
      wallMs: this.#wallMs,
      shownMs: this.#shownMs,
      monotonicMs: this.#monotonicMs,
      boot: this.#clocks.boot,
      jump: this.#jump,
      downtime: this.#downtime,
    };
  }
}
