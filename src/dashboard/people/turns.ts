// Work that few may do at a time: whoever comes later waits for a turn, and not many wait. Members
// and strangers have a queue each, from which the next is taken in turn, so a crowd of strangers
// keeps a member waiting for one of them at most. In a queue, those who wait take turns, too. Who
// has left meanwhile is taken out, and nothing is done for them.

import { FairQueue, turnBytes } from '../../shard/fair-queue.ts';

export interface Waiter {
  /** Members are signed in, or have a link that is theirs. */
  readonly kind: 'member' | 'stranger';
  /** Whose work counts together: a member, a link, or an address. */
  readonly who: string;
  /** Aborted when nobody waits for the result any more. */
  readonly gone: AbortSignal;
}

/** `who`: the member, or the link that somebody has. */
export function waitingMember({ gone }: Pick<Waiter, 'gone'>, who: string): Waiter {
  return { kind: 'member', who, gone };
}

/** `site`: the address that somebody comes from. */
export function waitingStranger({ gone }: Pick<Waiter, 'gone'>, site: string): Waiter {
  return { kind: 'stranger', who: site, gone };
}

interface TurnsOptions {
  readonly atOnceMax: number;
  /** How many may wait in each of the two queues, and the share of them that one may have. */
  readonly waitingMax: number;
  readonly shareOfOne: number;
}

interface Waiting {
  /** Called when its turn has come, or with false when it never comes. */
  readonly tell: (hasTurn: boolean) => void;
}

export class Turns {
  readonly #atOnceMax: number;
  readonly #queues: Readonly<Record<Waiter['kind'], FairQueue<Waiting>>>;
  #running = 0;
  #count = 0;
  #last: Waiter['kind'] = 'stranger';

  constructor({ atOnceMax, waitingMax: requests, shareOfOne: organizationShare }: TurnsOptions) {
    this.#atOnceMax = atOnceMax;
    const bounds = { requests, bytes: Number.POSITIVE_INFINITY, organizationShare };
    const queue = () => new FairQueue<Waiting>(bounds, ({ tell }) => tell(false));
    this.#queues = { member: queue(), stranger: queue() };
  }

  /** Does the work in its turn. Null when too many wait, or nobody waits for it any more. */
  async take<T>(waiter: Waiter, work: () => Promise<T>): Promise<T | null> {
    if (waiter.gone.aborted) return null;
    if (this.#running >= this.#atOnceMax) {
      if (!(await this.#wait(waiter))) return null;
    } else this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      this.#next()?.tell(true);
    }
  }

  #wait({ kind, who, gone }: Waiter): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = this.#queues[kind];
    const id = ++this.#count;
    const leave = () => {
      if (queue.remove(id)) resolve(false);
    };
    gone.addEventListener('abort', leave);
    const tell = (hasTurn: boolean) => {
      gone.removeEventListener('abort', leave);
      // The slot is taken before anybody else can come.
      if (hasTurn) this.#running++;
      resolve(hasTurn);
    };
    if (queue.put(id, who, turnBytes, { tell }) !== null) tell(false);
    return promise;
  }

  #next(): Waiting | undefined {
    const { member, stranger } = this.#queues;
    const isMembersTurn = this.#last === 'stranger' ? member.length > 0 : stranger.length === 0;
    this.#last = isMembersTurn ? 'member' : 'stranger';
    return this.#queues[this.#last].take();
  }
}
