// Chance from a seed: the same seed gives the same numbers on every machine. A stream that is forked is independent of its
// parent, so a part of a run that draws more numbers does not change what other parts draw.

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string) {
    [this.#a, this.#b, this.#c, this.#d] = hashOf(seed);
    for (let i = 0; i < 12; i++) this.word();
  }

  /** 32 random bits (the generator sfc32). */
  word(): number {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** From 0 up to 1, exclusive. */
  unit(): number {
    return this.word() / 2 ** 32;
  }

  /** A whole number from 0 up to `limit`, exclusive. */
  below(limit: number): number {
    return Math.floor(this.unit() * limit);
  }

  /** A whole number, both bounds inclusive. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Mostly small, sometimes large: between `low` and `high` milliseconds, spread over the orders of magnitude. */
  skewed(low: number, high: number): number {
    return low * (high / low) ** this.unit();
  }

  readonly fill = (bytes: Uint8Array): void => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (; at + 4 <= bytes.byteLength; at += 4) view.setUint32(at, this.word(), true);
    for (; at < bytes.byteLength; at++) view.setUint8(at, this.word() & 255);
  };

  /** The same, but of a single word, which a number is drawn from, there are few: so numbers come again. */
  readonly fillWithFew = (bytes: Uint8Array): void => {
    this.fill(bytes);
    if (bytes.byteLength === 4) bytes.set([0, 0, 0, bytes[3]! & 0xfc]);
  };
}

/** 128 bits of a text (cyrb128). */
function hashOf(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  return [a, b, c, d];
}
