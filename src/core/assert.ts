// Assertions: what must hold if the program is right. A failed one is a bug, never bad input, and it ends the
// thread that found it: a shard recovers from its journal instead of going on with state that it can't trust.

export class AssertionFailure extends Error {
  override name = 'AssertionFailure';
}

/** Throws an `AssertionFailure` with `message` unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** The end of an exhaustive switch: fails to compile while a case is missing, and fails loudly if it is reached. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unreachable: ${JSON.stringify(value)}`);
}
