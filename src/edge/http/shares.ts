// Slots of something that is bounded for everybody, such as the streams of an edge. Each owner,
// such as an organization or one of its members, has a share of them, so that nobody takes those of
// the others.

import { defined, elementAt } from '../../core/assert.ts';

export class Shares {
  readonly #max: number;
  readonly #levels: readonly { readonly max: number; readonly taken: Map<string, number> }[];
  #taken = 0;

  /** `ofOwners`: the most of an owner at each level; `[16, 4]`: an organization's, a member's. */
  constructor(max: number, ofOwners: readonly number[]) {
    this.#max = max;
    this.#levels = ofOwners.map((ofOwner) => ({ max: ofOwner, taken: new Map() }));
  }

  /** Whether its owners, from the largest down, get no slot: their share or all are taken. */
  isFull(owners: readonly string[]): boolean {
    const isOver = this.#levels.some(({ max, taken }, i) => (taken.get(elementAt(owners, i)) ?? 0) >= max);
    return isOver || this.#taken >= this.#max;
  }

  /** Takes a slot for its owners. Returns the function that gives it back; null when it is full. */
  take(owners: readonly string[]): (() => void) | null {
    if (this.isFull(owners)) return null;
    const levels = this.#levels.map(({ taken }, i) => ({ taken, owner: elementAt(owners, i) }));
    this.#taken++;
    for (const { taken, owner } of levels) taken.set(owner, (taken.get(owner) ?? 0) + 1);
    return () => {
      this.#taken--;
      for (const { taken, owner } of levels) {
        const left = defined(taken.get(owner), 'what is given back was taken') - 1;
        if (left === 0) taken.delete(owner);
        else taken.set(owner, left);
      }
    };
  }
}
