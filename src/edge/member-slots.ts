// How many long answers of the dashboard (streams of lists, exports) an edge gives at a time: so many to all members together, and
// to each a few of them, so that nobody takes those of the others.

export class MemberSlots {
  readonly #max: number;
  readonly #ofMemberMax: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(max: number, ofMemberMax: number) {
    this.#max = max;
    this.#ofMemberMax = ofMemberMax;
  }

  hasRoomFor(member: string): boolean {
    return this.#total < this.#max && (this.#taken.get(member) ?? 0) < this.#ofMemberMax;
  }

  /** Runs what takes a slot of the member, which must have room, until it settles. */
  async hold<T>(member: string, run: () => Promise<T>): Promise<T> {
    this.#total++;
    this.#taken.set(member, (this.#taken.get(member) ?? 0) + 1);
    try {
      return await run();
    } finally {
      this.#total--;
      const left = this.#taken.get(member)! - 1;
      if (left === 0) this.#taken.delete(member);
      else this.#taken.set(member, left);
    }
  }
}
