// Finds the texts that one of two streams has more often, in any order and of any length, in fixed
// memory: the first pass adds up hashes in buckets, and if some buckets differ, a second pass over
// both streams gathers their texts.

const bucketCount = 1 << 16;
/** The most buckets that are gathered. With more differences, only some are found. */
const gatheredBucketsMax = 256;

export class StreamDifference {
  readonly #counts = new Int32Array(bucketCount);
  readonly #sums = new Uint32Array(bucketCount);
  readonly #otherSums = new Uint32Array(bucketCount);
  #gathered: Map<number, Map<string, number>> | null = null;

  /** Adds a text of the first stream, `times` over. */
  expect(text: string, times = 1): void {
    this.#take(text, times);
  }

  /** Adds a text of the second stream, `times` over. */
  find(text: string, times = 1): void {
    this.#take(text, -times);
  }

  #take(text: string, times: number): void {
    const [first, second] = hashesOf(text);
    const bucket = first % bucketCount;
    if (this.#gathered !== null) {
      const texts = this.#gathered.get(bucket);
      texts?.set(text, (texts.get(text) ?? 0) + times);
      return;
    }
    add(this.#counts, bucket, times);
    add(this.#sums, bucket, Math.imul(times, first));
    add(this.#otherSums, bucket, Math.imul(times, second));
  }

  /** Ends the first pass. If the streams differ, both must be added again for `differences`. */
  isDifferent(): boolean {
    const gathered = new Map<number, Map<string, number>>();
    for (let bucket = 0; bucket < bucketCount && gathered.size < gatheredBucketsMax; bucket++) {
      const isEmpty = !this.#counts[bucket] && !this.#sums[bucket] && !this.#otherSums[bucket];
      if (!isEmpty) gathered.set(bucket, new Map());
    }
    this.#gathered = gathered;
    return gathered.size > 0;
  }

  /** In the second pass, whether a text may be part of the difference. */
  gathers(text: string): boolean {
    return this.#gathered?.has(hashesOf(text)[0] % bucketCount) ?? false;
  }

  /** After the second pass, each text that differs, and how many more the first stream has. */
  *differences(): Generator<readonly [text: string, surplus: number]> {
    for (const texts of this.#gathered?.values() ?? [])
      for (const entry of texts) if (entry[1] !== 0) yield entry;
  }
}

function add(numbers: Int32Array | Uint32Array, at: number, more: number): void {
  numbers[at] = (numbers[at] ?? 0) + more;
}

/** Two independent hashes of 32 bits (cyrb53). */
function hashesOf(text: string): [first: number, second: number] {
  let first = 0xdeadbeef;
  let second = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    first = Math.imul(first ^ code, 2_654_435_761);
    second = Math.imul(second ^ code, 1_597_334_677);
  }
  first =
    Math.imul(first ^ (first >>> 16), 2_246_822_507) ^ Math.imul(second ^ (second >>> 13), 3_266_489_909);
  second =
    Math.imul(second ^ (second >>> 16), 2_246_822_507) ^ Math.imul(first ^ (first >>> 13), 3_266_489_909);
  return [first >>> 0, second >>> 0];
}
