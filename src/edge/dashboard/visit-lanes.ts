// The ways of the dashboard's visits to the main thread. Each kind of visit has its own, so that a
// crowd on one of them keeps none of the others waiting:
//
//   members   are known from an earlier visit; organizations and their members have shares
//   forms     of strangers, such as a sign-in, whose password takes long; addresses have shares
//   pages     for strangers; addresses take turns

import { elementAt } from '../../core/assert.ts';
import { FairQueue, turnBytes } from '../../shard/fair-queue.ts';
import { Shares } from '../http/shares.ts';

type LaneName = 'members' | 'forms' | 'pages';

/** The lane of a visit, and whose it is at each level, from the largest down. */
export interface Way {
  readonly lane: LaneName;
  readonly owners: readonly string[];
}

/** A visit on its way. One of the two is called, once. */
interface Passage {
  send(): void;
  refuse(): void;
}

interface Waiting extends Passage {
  readonly id: number;
  readonly owners: readonly string[];
}

class Lane {
  readonly #slots: Shares;
  readonly #queue: FairQueue<Waiting>;
  /** What gives back the slots of the visits that were sent. */
  readonly #ends = new Map<number, () => void>();

  /** `waitingMax` may wait for a slot, of which one owner has the share `waitingShare`. */
  constructor(slots: Shares, waitingMax = 0, waitingShare = 1) {
    this.#slots = slots;
    const bounds = { requests: waitingMax, bytes: Number.POSITIVE_INFINITY, organizationShare: waitingShare };
    this.#queue = new FairQueue(bounds, ({ refuse }) => refuse());
  }

  put(waiting: Waiting): void {
    if (this.#start(waiting)) return;
    const { id, owners } = waiting;
    if (this.#queue.put(id, elementAt(owners, 0), turnBytes, waiting) !== null) waiting.refuse();
  }

  #start({ id, owners, send }: Waiting): boolean {
    const end = this.#slots.take(owners);
    if (end === null) return false;
    this.#ends.set(id, end);
    send();
    return true;
  }

  /** A visit that was sent has its answer. */
  end(id: number): void {
    const end = this.#ends.get(id);
    if (end === undefined) return;
    this.#ends.delete(id);
    end();
    const next = this.#queue.take();
    if (next !== undefined) this.#start(next);
  }

  /** Takes out a visit that waits for a slot; false when there is none. */
  remove(id: number): boolean {
    return this.#queue.remove(id);
  }

  clear(): void {
    for (const end of this.#ends.values()) end();
    this.#ends.clear();
    this.#queue.clear(({ refuse }) => refuse());
  }
}

export class VisitLanes {
  readonly #lanes: Readonly<Record<LaneName, Lane>> = {
    members: new Lane(new Shares(192, [48, 16])),
    forms: new Lane(new Shares(64, [16, 8])),
    // Whoever waits has a turn, so no address has a share of the slots.
    pages: new Lane(new Shares(16, []), 256, 1 / 8),
  };
  readonly #laneOf = new Map<number, Lane>();

  /** A visit with an id that no other has. */
  put(id: number, { lane: name, owners }: Way, { send, refuse }: Passage): void {
    const lane = this.#lanes[name];
    this.#laneOf.set(id, lane);
    const refused = () => {
      this.#laneOf.delete(id);
      refuse();
    };
    lane.put({ id, owners, send, refuse: refused });
  }

  /** A visit has its answer. */
  end(id: number): void {
    this.#laneOf.get(id)?.end(id);
    this.#laneOf.delete(id);
  }

  /** Takes out a visit that was not sent; false when it was. */
  remove(id: number): boolean {
    if (this.#laneOf.get(id)?.remove(id) !== true) return false;
    this.#laneOf.delete(id);
    return true;
  }

  /** Nobody will be answered: what waits is refused. */
  clear(): void {
    for (const lane of Object.values(this.#lanes)) lane.clear();
    this.#laneOf.clear();
  }
}
