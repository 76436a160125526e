// A map by id for records of which most are new. In one large map each look-up of a new id waits
// for memory several times: its place, and the ids that are there already. Ids begin with the time,
// so here those of some milliseconds have a small map of their own, and all that is new lies close
// together.

/** The digits of an id's time by which its map is chosen: all but the last, which is 62 ms. */
const timeDigits = 7;

export class IdMap<Value> {
  readonly #maps = new Map<string, Map<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many small maps it has. */
  get mapCount(): number {
    return this.#maps.size;
  }

  has(id: string): boolean {
    return this.#maps.get(beginning(id))?.has(id) === true;
  }

  get(id: string): Value | undefined {
    return this.#maps.get(beginning(id))?.get(id);
  }

  set(id: string, value: Value): void {
    const name = beginning(id);
    let map = this.#maps.get(name);
    if (map === undefined) {
      map = new Map();
      this.#maps.set(name, map);
    }
    this.#size -= map.size;
    map.set(id, value);
    this.#size += map.size;
  }
}

function beginning(id: string): string {
  return id.slice(0, id.indexOf('_') + 1 + timeDigits);
}
