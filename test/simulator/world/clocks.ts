// The clocks of the simulated machine. The wall clock can be set, and both run a little too fast or too slow; the monotonic
// clock begins anew with each boot.

import type { Clocks } from '../../../src/core/clock.ts';
import type { Simulation } from '../kernel/simulation.ts';

export const startMs = Date.UTC(2026, 10, 2, 12);

export class MachineClocks implements Clocks {
  readonly #simulation: Simulation;
  /** Milliseconds too many in each that passes. */
  drift = 0;
  #offMs = 0;
  #boots = 1;
  #bootedMs = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  readonly wall = (): number => Math.floor(startMs + this.#simulation.nowMs * (1 + this.drift) + this.#offMs);

  readonly monotonic = (): number => Math.floor((this.#simulation.nowMs - this.#bootedMs) * (1 + this.drift));

  get boot(): string {
    return `boot ${this.#boots}`;
  }

  /** Somebody sets the wall clock. */
  step(byMs: number): void {
    this.#offMs += byMs;
  }

  /** How wrong the wall clock is. */
  get offMs(): number {
    return this.#offMs;
  }

  /** Somebody sets the wall clock right. */
  correct(): void {
    this.#offMs = 0;
  }

  reboot(): void {
    this.#boots++;
    this.#bootedMs = this.#simulation.nowMs;
  }
}
