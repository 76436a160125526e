// The turns of calls to networks that others run. So many calls are under way at once, and the
// others wait: organizations take turns, and of several hosts the one with the fewest calls under
// way is next; equal ones take turns. A host gets another place while it has fewer than are free,
// so one alone gets half of them, and a host that never answers leaves places to the others.

import { defined } from '../core/assert.ts';
import { FixedQueue } from '../core/fixed-queue.ts';

/** So many calls of a shard are sent at once, and so many more are asked about. */
export const sentAtOnceMax = 24;
export const askedAtOnceMax = 12;
export const callsAtOnceMax = sentAtOnceMax + askedAtOnceMax;

/** Makes a call, and resolves when its place is free again. It never rejects. */
type Step = () => Promise<void>;

interface Host {
  underWay: number;
  /** What waits, by organization, in the order of their turns. */
  readonly waiting: Map<string, FixedQueue<Step>>;
}

export class CallTurns {
  /** Those with a call under way or waiting. One whose call has ended goes to the end. */
  readonly #hosts = new Map<string, Host>();
  #free: number;

  constructor(placesMax: number) {
    this.#free = placesMax;
  }

  /** Runs `step` in its turn. */
  take(name: string, org: string, step: Step): void {
    const host = this.#hosts.get(name) ?? { underWay: 0, waiting: new Map() };
    this.#hosts.set(name, host);
    const steps = host.waiting.get(org) ?? new FixedQueue();
    host.waiting.set(org, steps);
    steps.push(step);
    this.#begin();
  }

  #begin(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) this.#run(...next);
  }

  /** The host with the fewest calls under way that may have another one. */
  #next(): [name: string, host: Host] | null {
    let next: [string, Host] | null = null;
    let fewest = this.#free;
    for (const [name, host] of this.#hosts) {
      if (host.waiting.size === 0 || host.underWay >= fewest) continue;
      next = [name, host];
      fewest = host.underWay;
    }
    return next;
  }

  #run(name: string, host: Host): void {
    const [first] = host.waiting;
    const [org, steps] = defined(first, 'a host that is next has something waiting');
    const step = defined(steps.shift(), 'an organization that waits has something waiting');
    host.waiting.delete(org);
    if (steps.length > 0) host.waiting.set(org, steps);
    host.underWay++;
    this.#free--;
    void step().finally(() => {
      host.underWay--;
      this.#free++;
      this.#hosts.delete(name);
      if (host.underWay > 0 || host.waiting.size > 0) this.#hosts.set(name, host);
      this.#begin();
    });
  }
}
