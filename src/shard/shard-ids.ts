// What a shard draws by chance: ids, which ascend over restarts, texts and numbers.

import { type IdKind, idPrefixes } from '../contract/id-prefixes.ts';
import { assert } from '../core/assert.ts';
import {
  createIdFactory,
  createRandomText,
  type FillRandom,
  type IdFactory,
  type IdLeads,
  noLeads,
  withLead,
} from '../core/ids.ts';
import type { IdTimes } from './metadata.ts';

export class ShardIds {
  readonly #fillRandom: FillRandom;
  #factory: IdFactory;
  #leads: IdLeads = noLeads;
  readonly randomText: (length: number) => string;

  constructor(fillRandom: FillRandom) {
    this.#fillRandom = fillRandom;
    this.randomText = createRandomText(fillRandom);
    this.#factory = createIdFactory(this.randomText);
  }

  get times(): IdTimes {
    return { lastMs: this.#factory.lastMs, ...this.#leads };
  }

  get leads(): IdLeads {
    return this.#leads;
  }

  /** Makes new ids come after all earlier ones. */
  start({ lastMs, leadMs, episodes }: IdTimes): void {
    assert(lastMs >= this.#factory.lastMs, 'ids ascend');
    this.#factory = createIdFactory(this.randomText, lastMs);
    this.#leads = { leadMs, episodes };
  }

  next(kind: IdKind, slot: number, nowMs: number): string {
    const id = this.#factory.next(idPrefixes[kind], slot, nowMs);
    const { lastMs } = this.#factory;
    if (lastMs > nowMs) this.#leads = withLead(this.#leads, lastMs, lastMs - nowMs);
    return id;
  }

  readonly randomBelow = (limit: number): number => {
    const words = new Uint32Array(1);
    this.#fillRandom(new Uint8Array(words.buffer));
    const [word = 0] = words;
    return Math.floor((word / 2 ** 32) * limit);
  };
}
