// Slots of something that is bounded for everybody, such as the streams of an edge. Each owner,
// such as an organization or one of its members, has a share of them, so that nobody takes those of
// the others. Many owners together can take all, each with its share. Then one that has fewer takes
// the newest slot of those that have most, where slots can be lost, unless it would have more than
// they. So nobody loses the only one, and two don't take a slot from each other in turn.

import { elementAt } from '../../core/assert.ts';

interface Slot {
  readonly owners: readonly string[];
  readonly onLost: (() => void) | null;
}

export class Shares {
  readonly #max: number;
  readonly #levels: readonly { readonly max: number; readonly taken: Map<string, number> }[];
  /** Oldest first. */
  readonly #slots = new Set<Slot>();

  /** `ofOwners`: the most of an owner at each level; `[16, 4]`: an organization's, a member's. */
  constructor(max: number, ofOwners: readonly number[]) {
    this.#max = max;
    this.#levels = ofOwners.map((ofOwner) => ({ max: ofOwner, taken: new Map() }));
  }

  /**
   * Takes a slot for its owners, from the largest down. Returns the function that gives it back;
   * null when their share or all are taken. A slot with `onLost`, which is called then, can be lost
   * to another owner of the first level.
   */
  take(owners: readonly string[], onLost: (() => void) | null = null): (() => void) | null {
    if (this.#levels.some(({ max, taken }, i) => (taken.get(elementAt(owners, i)) ?? 0) >= max)) return null;
    const slot: Slot = { owners, onLost };
    if (this.#slots.size >= this.#max && !this.#makeRoom(slot)) return null;
    this.#slots.add(slot);
    this.#count(slot, 1);
    return () => this.#giveBack(slot);
  }

  /** Makes room for a slot at the cost of an owner that has more even so. */
  #makeRoom(slot: Slot): boolean {
    const takenBy = ({ owners: [owner = ''] }: Slot) => this.#levels[0]?.taken.get(owner) ?? 0;
    let lost: Slot | null = null;
    let most = takenBy(slot) + 2;
    for (const each of this.#slots) {
      const taken = takenBy(each);
      if (each.onLost === null || taken < most) continue;
      lost = each;
      most = taken;
    }
    if (lost === null) return false;
    this.#giveBack(lost);
    lost.onLost?.();
    return true;
  }

  /** A slot that was lost is given back already. */
  #giveBack(slot: Slot): void {
    if (this.#slots.delete(slot)) this.#count(slot, -1);
  }

  #count({ owners }: Slot, more: 1 | -1): void {
    for (const [i, { taken }] of this.#levels.entries()) {
      const owner = elementAt(owners, i);
      const left = (taken.get(owner) ?? 0) + more;
      if (left === 0) taken.delete(owner);
      else taken.set(owner, left);
    }
  }
}
