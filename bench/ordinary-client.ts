// An ordinary client, which creates payment intents at a steady pace, whatever else its service has to do. It tells how long
// each took, and when its latency was again what it had been.

import { quantile } from './load.ts';
import { headersOf, intentsPath } from './scenarios.ts';
import { timeNow } from './time.ts';

const everyMs = 20;
/** It is back when the median of so many in a row is not more than this multiple of the usual one. */
const inARow = 10;
const usualMultipleMax = 1.5;

interface Create {
  readonly sentAt: number;
  /** Infinite until it is answered. */
  ms: number;
  isRefused: boolean;
}

export interface Noticed {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly refused: number;
  readonly count: number;
}

export class OrdinaryClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #creates: Create[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(url: string, key: string) {
    this.#url = url + intentsPath;
    this.#headers = headersOf(key);
    this.#timer = setInterval(() => void this.#create(), everyMs);
  }

  async #create(): Promise<void> {
    const create: Create = { sentAt: timeNow(), ms: Infinity, isRefused: false };
    const number = this.#creates.push(create);
    const headers = { ...this.#headers, 'Idempotency-Key': `ordinary-${number}` };
    const body = JSON.stringify({ amount: 12_000, currency: 'mad' });
    const response = await fetch(this.#url, { method: 'POST', headers, body }).catch(() => null);
    await response?.arrayBuffer().catch(() => null);
    create.ms = timeNow() - create.sentAt;
    create.isRefused = response?.status !== 200;
  }

  leave(): void {
    clearInterval(this.#timer);
  }

  /** What it has noticed from one time to another, in milliseconds since 1970. Its refused creates have no latency. */
  noticed(from: number, until: number): Noticed {
    const creates = this.#creates.filter(({ sentAt }) => sentAt >= from && sentAt < until);
    const answered = creates.filter(({ isRefused }) => !isRefused);
    const sorted = Float64Array.from(answered, ({ ms }) => ms).sort();
    return {
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      refused: creates.length - answered.length,
      count: creates.length,
    };
  }

  /** How long after a time its latency was what is usual; null: not yet. */
  backAfterMs(time: number, usual: Noticed): number | null {
    const creates = this.#creates.filter(({ sentAt }) => sentAt >= time);
    for (let at = 0; at + inARow <= creates.length; at++) {
      const some = creates.slice(at, at + inARow);
      const sorted = Float64Array.from(some, ({ ms, isRefused }) => (isRefused ? Infinity : ms)).sort();
      if (quantile(sorted, 0.5) <= usual.p50Ms * usualMultipleMax) return some[0]!.sentAt - time;
    }
    return null;
  }
}
