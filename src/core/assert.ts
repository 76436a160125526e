// Assertions state what must hold if the program is correct. A failed one is a bug, never bad
// input. It ends the thread, and a shard then recovers from its journal.

export class AssertionFailure extends Error {
  override name = 'AssertionFailure';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** `value`, which is there if the program is correct. */
export function defined<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new AssertionFailure(message);
  return value;
}

/** The element of a list at a number that is within it. */
export function elementAt<T>(list: readonly T[], number: number): T {
  const element = list[number];
  if (element === undefined) throw new AssertionFailure(`${number} is beyond the ${list.length} elements`);
  return element;
}
