// Tells every few seconds how far a run is, and how long the rest will take at the pace so far.

const everyMs = 5_000;

export class Progress {
  #startedAt = performance.now();
  #toldAt = performance.now();

  begin(): void {
    this.#startedAt = this.#toldAt = performance.now();
  }

  tell(done: number, of: number, what: () => string): void {
    const now = performance.now();
    if (now - this.#toldAt < everyMs) return;
    this.#toldAt = now;
    const leftS = (((now - this.#startedAt) / done) * (of - done)) / 1000;
    console.log(`${done} of ${of}${what()}; about ${leftS.toFixed(0)} s left`);
  }
}
