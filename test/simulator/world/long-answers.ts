// How many queries of an organization may be under way to a shard, once more: as many as the answers that it has had make likely
// to be little work, and always one. While the disk keeps answers waiting, as many as it likes.

import { pieceSize } from '../kernel/piece-size.ts';

/** The bytes that the answers under way may be expected to take. */
const bytesMax = pieceSize(1024 * 1024);
/** What an answer is expected to take before there was one. */
const bytesAtFirst = pieceSize(16 * 1024);
/** How many smaller answers it takes until they are expected. */
const slowness = 256;

export class LongAnswers {
  /** By organization, what its next answer is expected to take. */
  readonly #bytes = new Map<string, number>();
  /** The organizations of the queries that were sent, by the ids of these. */
  readonly #underWay = new Map<string, string>();
  isStalled = false;

  clear(): void {
    this.#bytes.clear();
    this.#underWay.clear();
    this.isStalled = false;
  }

  mayAsk(org: string): boolean {
    const underWay = [...this.#underWay.values()].filter((each) => each === org).length;
    return this.isStalled || underWay * (this.#bytes.get(org) ?? bytesAtFirst) < bytesMax;
  }

  sent(id: string, org: string): void {
    this.#underWay.set(id, org);
  }

  /** `bytes`: null for a refusal, which tells nothing. */
  answered(id: string, bytes: number | null): void {
    const org = this.#underWay.get(id);
    if (org === undefined) return;
    this.#underWay.delete(id);
    if (bytes === null) return;
    const expected = this.#bytes.get(org) ?? bytesAtFirst;
    this.#bytes.set(org, bytes > expected ? bytes : expected + (bytes - expected) / slowness);
  }
}
