// A pure function that remembers its results: for what many calls ask again.

/** `find` with a memory of its results, which is emptied when it has `max` of them. */
export function remembering<K, V>(max: number, find: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const value = find(key);
    if (known.size >= max) known.clear();
    known.set(key, value);
    return value;
  };
}
