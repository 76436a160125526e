// Objects that are tables: a fixed set of names, each with a value. The language forgets the names
// of what is made of a list, so it is told here, once.

/** A table with a value for each of these names. */
export function tableOf<N extends string, V>(names: readonly N[], value: (name: N) => V): Record<N, V> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<N, V>;
}

/** The names of a table. */
export function namesOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}

/** Whether a table has a name of its own. */
export function hasName<T extends object>(table: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(table, name);
}
