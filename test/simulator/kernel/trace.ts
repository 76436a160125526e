// The trace of a run: one line for each thing that happened, with its time. Every line goes into a digest, so that two runs
// are known to be the same without keeping either.

export class Trace {
  readonly lines: string[] = [];
  readonly #isKept: boolean;
  readonly #nowMs: () => number;
  #low = 0x811c9dc5;
  #high = 0x01000193;

  constructor(nowMs: () => number, isKept: boolean) {
    this.#nowMs = nowMs;
    this.#isKept = isKept;
  }

  note(text: string): void {
    const line = `${(this.#nowMs() / 1000).toFixed(4).padStart(11)}  ${text}`;
    for (let i = 0; i < line.length; i++) {
      this.#low = Math.imul(this.#low ^ line.charCodeAt(i), 0x01000193);
      this.#high = Math.imul(this.#high ^ line.charCodeAt(i), 0x85ebca6b) ^ (this.#low >>> 15);
    }
    if (this.#isKept) this.lines.push(line);
  }

  get digest(): string {
    return [this.#low, this.#high].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
