// How long somebody who has failed is left alone: for a while, and twice as long each time.

export class BackOff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #failures = new Map<string, { readonly count: number; readonly untilMs: number }>();

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  failed(who: string): void {
    const { count = 0 } = this.#failures.get(who) ?? {};
    const untilMs = performance.now() + Math.min(this.#maxMs, this.#minMs * 2 ** count);
    this.#failures.set(who, { count: count + 1, untilMs });
  }

  /** Whether it may be tried now. */
  isOver(who: string): boolean {
    return (this.#failures.get(who)?.untilMs ?? 0) <= performance.now();
  }

  /** It has succeeded: its next failure counts as the first. */
  forget(who: string): void {
    this.#failures.delete(who);
  }
}
