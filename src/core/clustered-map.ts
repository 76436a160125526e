// A map for keys of which most are new. In one large map each look-up of a new key waits for memory
// several times: for its place, and for the keys that are there already. Keys that are made one
// after the other mostly begin alike, as ids do with their time. Here those have a small map of
// their own, so all that is new lies close together.

export class ClusteredMap<Value> {
  readonly #clusterOf: (key: string) => string;
  readonly #maps = new Map<string, Map<string, Value>>();
  #size = 0;

  /** `clusterOf` tells which keys share a small map: by what they begin with. */
  constructor(clusterOf: (key: string) => string) {
    this.#clusterOf = clusterOf;
  }

  get size(): number {
    return this.#size;
  }

  /** How many small maps it has. */
  get clusterCount(): number {
    return this.#maps.size;
  }

  has(key: string): boolean {
    return this.#maps.get(this.#clusterOf(key))?.has(key) === true;
  }

  get(key: string): Value | undefined {
    return this.#maps.get(this.#clusterOf(key))?.get(key);
  }

  set(key: string, value: Value): void {
    const cluster = this.#clusterOf(key);
    let map = this.#maps.get(cluster);
    if (map === undefined) {
      map = new Map();
      this.#maps.set(cluster, map);
    }
    this.#size -= map.size;
    map.set(key, value);
    this.#size += map.size;
  }
}
