// Who is refused where little may wait for a shard, once more: nobody while there is room, and then whoever uses most. What a client
// has sent and what it keeps follows from what it was given, what it sends, and what is answered.

import type { NoRoom } from '../../../src/shard/fair-queue.ts';
import type { ClientBounds } from '../../../src/shard/lane.ts';
import type { LongAnswers } from './long-answers.ts';
import type { World } from './world.ts';

/** A request, and what it takes of the bounds. */
interface Kept {
  readonly org: string;
  readonly bytes: number;
}

const smallBytes = 1_024;

/** The requests of one kind, reads or writes, on their way to one shard. */
export class FairShare {
  readonly #world: World;
  readonly #bounds: ClientBounds;
  /** Those that were sent, or are going to be at the end of the tick, by id: the bytes of their bodies. */
  readonly #sent = new Map<string, number>();
  /** Those that wait in the queue, oldest first. */
  readonly #queue = new Map<string, Kept>();
  /** Null for writes, whose answers are short. */
  readonly #long: LongAnswers | null;

  constructor(world: World, bounds: ClientBounds, long: LongAnswers | null) {
    this.#world = world;
    this.#bounds = bounds;
    this.#long = long;
  }

  clear(): void {
    this.#sent.clear();
    this.#queue.clear();
    this.#long?.clear();
  }

  get #isOpen(): boolean {
    const { sentMax, sentBytesMax } = this.#bounds;
    const large = [...this.#sent.values()].filter((bytes) => bytes > smallBytes);
    return this.#sent.size < sentMax && large.reduce((sum, bytes) => sum + bytes, 0) < sentBytesMax;
  }

  /** Whether another request of an organization may be sent. */
  maySend(org: string): boolean {
    return this.#isOpen && this.#long?.mayAsk(org) !== false;
  }

  /** A new request of an organization is sent at once: none of it waits. */
  #isFreeFor(org: string): boolean {
    return this.maySend(org) && ![...this.#queue.values()].some((each) => each.org === org);
  }

  /** An organization would use more than its part. */
  #isTooMuch(used: number): boolean {
    const { organizationShare } = this.#bounds.queue;
    return organizationShare < 1 && used > organizationShare;
  }

  /** A request is refused before its body is read, or not. Why it is; null: it is not. */
  turnedAway(id: string, org: string, bodyBytes: number, isRefused: boolean): NoRoom | null {
    const kept = [...this.#queue.values(), { org, bytes: smallBytes + bodyBytes }];
    const used = this.#shareOf(org, kept);
    const isTooMuch = this.#isTooMuch(used);
    const isFree = this.#isFreeFor(org);
    const [must, may] = [!isFree && isTooMuch, !isFree && (isTooMuch || !this.#canMakeRoom(used, kept))];
    this.#world.judge.check(
      'who is refused uses most',
      isRefused ? may : !must,
      () => `the body of ${id} of ${org} ${isRefused ? 'is not read, and there is room' : 'is read in vain'}`,
    );
    return isRefused ? (isTooMuch ? 'organization' : 'full') : null;
  }

  /**
   * The client is given a request by `give`, which returns the ids of those that it refuses meanwhile. Returns why each of them is
   * refused.
   */
  given(id: string, org: string, bodyBytes: number, give: () => readonly string[]): NoRoom[] {
    const waits = [...this.#queue.values()].map((each) => each.org);
    const forgotten = waits.find((each) => this.maySend(each));
    this.#world.judge.check(
      'nobody is starved',
      forgotten === undefined,
      () => `a request of ${forgotten} waits, and may be sent`,
    );
    const isFree = this.#isFreeFor(org);
    if (isFree) this.#sends(id, org, bodyBytes);
    const kept = { org, bytes: smallBytes + bodyBytes };
    const queued = new Map(this.#queue);
    const before = [...queued.values()];
    const refused = give();
    const { judge } = this.#world;
    const check = (holds: boolean, what: string) =>
      judge.check('who is refused uses most', holds, () => `${id} of ${org} ${what}`);
    const used = this.#shareOf(org, [...before, kept]);
    const isTooMuch = this.#isTooMuch(used);
    if (refused.includes(id)) {
      this.#sent.delete(id);
      check(
        !isFree && (isTooMuch || !this.#canMakeRoom(used, [...before, kept])),
        'is refused, and there is room',
      );
      return [isTooMuch ? 'organization' : 'full'];
    }
    if (isFree) return [];
    this.#queue.set(id, kept);
    check(!isTooMuch, 'has more than its part');
    for (const other of refused) {
      const evicted = queued.get(other);
      if (evicted === undefined) continue;
      const share = this.#shareOf(evicted.org, [...queued.values()]);
      check(share > used, `takes the room of ${other}, whose organization uses less`);
      queued.delete(other);
    }
    judge.check(
      'what waits is bounded',
      this.#share([...queued.values(), kept]) <= 1,
      () => `${queued.size + 1} requests wait at the edge, which is more than may`,
    );
    return refused.map(() => 'largest');
  }

  #shareOf(org: string, kept: readonly Kept[]): number {
    return this.#share(kept.filter((each) => each.org === org));
  }

  #share(kept: readonly Kept[]): number {
    const { requests, bytes } = this.#bounds.queue;
    return Math.max(kept.length / requests, kept.reduce((sum, each) => sum + each.bytes, 0) / bytes);
  }

  /** Whether one organization alone uses most, and can make room for somebody who then uses `used`. */
  #canMakeRoom(used: number, kept: readonly Kept[]): boolean {
    const left = [...kept];
    if (this.#share(left) <= 1) return true;
    const orgs = [...new Set(kept.slice(0, -1).map(({ org }) => org))];
    const shares = orgs.map((org) => ({ org, share: this.#shareOf(org, kept.slice(0, -1)) }));
    const [first, second] = shares.sort((a, b) => b.share - a.share);
    if (first === undefined || first.org === kept.at(-1)?.org || first.share === second?.share) return false;
    while (this.#share(left) > 1) {
      if (this.#shareOf(first.org, left) <= used) return false;
      left.splice(
        left.findLastIndex(({ org }) => org === first.org),
        1,
      );
    }
    return true;
  }

  #sends(id: string, org: string, bodyBytes: number): void {
    this.#sent.set(id, bodyBytes);
    this.#long?.sent(id, org);
  }

  /** A request is on its way to the shard. */
  left(id: string): void {
    const kept = this.#queue.get(id);
    if (kept === undefined) return;
    this.#queue.delete(id);
    const { org, bytes } = kept;
    const { judge } = this.#world;
    judge.check(
      'what waits is bounded',
      this.maySend(org),
      () => `${id} of ${org} is sent, and the way is full`,
    );
    this.#sends(id, org, bytes - smallBytes);
  }

  /** Its client has gone: what was sent is answered all the same. */
  withdrawn(id: string): void {
    this.#queue.delete(id);
  }

  /** It is answered. */
  answered(id: string): void {
    this.#sent.delete(id);
    this.#queue.delete(id);
  }
}
