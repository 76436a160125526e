// Assertions state what must hold if the program is correct. A failed assertion is a bug, never bad input. It ends the
// thread, and a shard then recovers from its journal instead of continuing with state that may be wrong.

export class AssertionFailure extends Error {
  override name = 'AssertionFailure';
}

/** Throws an `AssertionFailure` with `message` unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** `value`, which is there if the program is correct. Throws an `AssertionFailure` with `message` when it is not. */
export function defined<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new AssertionFailure(message);
  return value;
}

/** The default of an exhaustive switch. It does not compile while a case is missing, and throws if it is reached. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unreachable: ${JSON.stringify(value)}`);
}
