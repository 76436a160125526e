// Finds the difference of two streams of texts, which may be in any order and of any length: the texts that one stream has more
// often. Memory does not grow with the streams. The first pass adds up hashes in a fixed number of buckets. If some buckets
// differ, a second pass over both streams gathers the texts of those buckets.

const bucketCount = 1 << 16;
/** At most this many buckets are gathered. With more differences, only some are found. */
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
    const { first, second } = hashesOf(text);
    const bucket = first % bucketCount;
    if (this.#gathered !== null) {
      const texts = this.#gathered.get(bucket);
      texts?.set(text, (texts.get(text) ?? 0) + times);
      return;
    }
    this.#counts[bucket]! += times;
    this.#sums[bucket]! += Math.imul(times, first);
    this.#otherSums[bucket]! += Math.imul(times, second);
  }

  /** Ends the first pass. Returns true when the streams differ. Then both must be added a second time, for `differences`. */
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
    return this.#gathered?.has(hashesOf(text).first % bucketCount) ?? false;
  }

  /** After the second pass, each text that differs, and how many more the first stream has; negative if it has fewer. */
  *differences(): Generator<readonly [text: string, surplus: number]> {
    for (const texts of this.#gathered?.values() ?? [])
      for (const entry of texts) if (entry[1] !== 0) yield entry;
  }
}

const hashes = { first: 0, second: 0 };

/** Two independent hashes of 32 bits (cyrb53: multiplication and the murmur mixer). Good until the next call. */
function hashesOf(text: string): typeof hashes {
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
  hashes.first = first >>> 0;
  hashes.second = second >>> 0;
  return hashes;
}
