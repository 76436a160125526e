// How many queries of an organization a client sends to a shard ahead of their answers. The shard
// runs what it was sent in the order in which it came, so an organization that sends hundreds of
// long lists would keep all others waiting for seconds. What a query costs is known by its answer
// only: a list of a hundred objects with all the metadata that they may have takes 10 MB, 40 ms.
// So an organization has as many under way as its answers so far make likely to be little work, and
// always one.

import { defined } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';

/** About the bytes of all answers that an organization has under way: 4 ms of the shard's time. */
const bytesMax = pieceSize(1024 * 1024);
/** What an answer is expected to take before there was one. */
const bytesAtFirst = pieceSize(16 * 1024);
/**
 * A larger answer is expected again at once, a smaller one after many: an organization could hide
 * large ones behind a few small ones.
 */
const slowness = 256;

interface Owner {
  underWay: number;
  /** What its next answer is expected to take. */
  bytes: number;
}

export class ExpectedAnswers {
  /** Stays as long as the shard: an organization that rests must not be a new one. */
  readonly #owners = new Map<string, Owner>();
  /** By the number of the query. */
  readonly #underWay = new Map<number, Owner>();
  /** The disk keeps answers waiting. How many are under way then tells nothing of the work. */
  isStalled = false;

  mayAsk(organization: string): boolean {
    if (this.isStalled) return true;
    const owner = this.#owners.get(organization);
    return owner === undefined || owner.underWay * owner.bytes < bytesMax;
  }

  asked(id: number, organization: string): void {
    let owner = this.#owners.get(organization);
    if (owner === undefined) {
      owner = { underWay: 0, bytes: bytesAtFirst };
      this.#owners.set(organization, owner);
    }
    owner.underWay++;
    this.#underWay.set(id, owner);
  }

  /** `bytes`: what the answer takes; null when it is a refusal, which tells nothing. */
  answered(id: number, bytes: number | null): void {
    const owner = defined(this.#underWay.get(id), 'what is answered was asked');
    this.#underWay.delete(id);
    owner.underWay--;
    if (bytes === null) return;
    owner.bytes = Math.max(bytes, owner.bytes + (bytes - owner.bytes) / slowness);
  }

  /** The shard has ended. */
  forget(): void {
    this.#owners.clear();
    this.#underWay.clear();
    this.isStalled = false;
  }
}
