// The clocks of the simulated machine. The wall clock can be set, and both run a little too fast or too slow; the monotonic
// clock begins anew with each boot.

import type { Clocks } from '../../../src/core/clock.ts';
import type { TrustClocks } from '../../../src/journal/ownership.ts';
import type { Random } from '../kernel/random.ts';
import type { Simulation } from '../kernel/simulation.ts';

const noonMs = Date.UTC(2026, 10, 2, 12);
/** By so much the clocks of a machine run faster or slower than those of the run, as quartz does. */
export const ownDriftMax = 0.0004;
/** So far a wall clock that is kept right may be from the others of the run. */
const apartMsMax = 50;

export class MachineClocks implements Clocks {
  readonly #simulation: Simulation;
  readonly #name: string;
  /** When the run begins, by a clock that is right: Unix milliseconds. */
  startMs = noonMs;
  /** Milliseconds too many in each that passes. */
  drift = 0;
  /** The part of that which is this machine's alone. */
  #ownDrift = 0;
  #offMs = 0;
  #boots = 1;
  #bootedMs = 0;
  #suspendedMs = 0;

  constructor(simulation: Simulation, name: string) {
    this.#simulation = simulation;
    this.#name = name;
  }

  readonly wall = (): number => Math.floor(this.trust.wall());

  readonly monotonic = (): number => Math.floor((this.#simulation.nowMs - this.#bootedMs) * (1 + this.drift));

  /** The clocks that a deadline is held against. The first one stands still while the machine is suspended. */
  readonly trust: TrustClocks = {
    monotonic: () => (this.#simulation.nowMs - this.#bootedMs - this.#suspendedMs) * (1 + this.drift),
    wall: () => this.startMs + this.#simulation.nowMs * (1 + this.drift) + this.#offMs,
  };

  /** The run begins so long after noon. */
  beginAt(pastNoonMs: number): void {
    this.startMs = noonMs + pastNoonMs;
  }

  /** The clocks run at a rate of their own, and the wall clock begins a little apart from others. */
  differ(random: Random): void {
    const toEitherSide = (most: number) => (2 * random.unit() - 1) * most;
    this.#ownDrift = toEitherSide(ownDriftMax);
    this.drift += this.#ownDrift;
    this.startMs += toEitherSide(apartMsMax);
  }

  /** The machine was suspended for so long. */
  slept(ms: number): void {
    this.#suspendedMs += ms;
  }

  get boot(): string {
    return `boot ${this.#boots}${this.#name}`;
  }

  /** Somebody sets the wall clock. */
  step(byMs: number): void {
    this.#offMs += byMs;
  }

  /** How wrong the wall clock is. */
  get offMs(): number {
    return this.#offMs;
  }

  /** Somebody sets the wall clock right: as right as that of others. */
  correct(): void {
    this.#offMs = -this.#ownDrift * this.#simulation.nowMs;
  }

  reboot(): void {
    this.#boots++;
    this.#bootedMs = this.#simulation.nowMs;
    this.#suspendedMs = 0;
  }
}
