// What is made when it is first needed, so that a thread which never needs it does not pay for it.

/** A function that makes its value at its first call, and gives the same one at every other. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
