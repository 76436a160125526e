// The two times of the service, made from the readings of the machine's clocks.
//
//   wall time      what people read: `created`, days, dates. It follows the machine's wall clock, but a step of more
//                  than a few seconds is believed only after it has stood for some minutes; until then wall time goes on
//                  by the monotonic clock, so a clock that is wrong for a moment leaves no trace.
//   service time   what has really passed. It starts at the wall clock's reading when a folder is new, runs by the
//                  monotonic clock, and is kept across restarts. No step of the wall clock moves it, and it never goes
//                  back. Retention, retries, expiry and rate limits go by it. Its distance from wall time means nothing.
//
// What passes while the service is down is known exactly when the machine was not booted in between: the monotonic
// clock ran on. Otherwise only the wall clock tells, and a machine's clock is never more doubtful than after a boot: such
// a downtime counts as passed after the wall clock has stood by it for the same few minutes.

import type { Clocks, Now } from './clock.ts';

/** A step of the wall clock against the monotonic one is told when it is larger than this. */
export const jumpMsMin = 5_000;
/** For how long a step, or a downtime that only the wall clock knows of, must stand before it is believed. */
export const believedAfterMs = 300_000;

/** Processes may read the same monotonic clock so far apart. */
const roundingMs = 1_000;

/** A step that is not believed yet. */
interface Jump {
  readonly byMs: number;
  readonly sinceServiceMs: number;
}

/** Time that may have passed while the service was down. */
interface Downtime {
  readonly ms: number;
  readonly sinceServiceMs: number;
}

/** What is kept of the clock across restarts. */
export interface StoredClock {
  readonly serviceMs: number;
  readonly wallMs: number;
  /** What the machine's clock showed, believed or not. */
  readonly shownMs: number;
  readonly monotonicMs: number;
  readonly boot: string | null;
  readonly jump: Jump | null;
  readonly downtime: Downtime | null;
}

/** Hears that the machine's clock stepped by so many milliseconds, and that wall time has followed it. */
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

  /** Goes on from what was stored; null: the folder is new. */
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

  /** What was stored may be a little older than the last thing that was done: time never goes back behind that. */
  notBefore(serviceMs: number): void {
    this.#serviceMs = Math.max(this.#serviceMs, serviceMs);
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

  /** Time passes up to now. */
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
    // A clock that told of a downtime is corrected: that much of it is not true.
    const isCorrection = byMs < 0 && this.#downtime !== null && this.#downtime.ms + byMs > -jumpMsMin;
    if (!isCorrection && this.#serviceMs - this.#jump.sinceServiceMs < believedAfterMs) return;
    if (isCorrection) this.#downtime = { ...this.#downtime!, ms: Math.max(0, this.#downtime!.ms + byMs) };
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

  /** How far the machine's clock is from wall time, milliseconds: other than 0 while a step is not believed. */
  get offMs(): number {
    return this.#jump?.byMs ?? 0;
  }

  /** To be stored with what was counted by this clock. */
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
