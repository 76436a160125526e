// Metadata: a merchant's own notes on an object, texts by name.

import type { Metadata } from './record.ts';

/** Metadata as it is first set: a key with an empty text stands for no key. */
export function initialMetadata(metadata: Metadata | undefined): Metadata {
  return mergeMetadata({}, metadata);
}

/** `changes` merged into `before`: keys sent are set, others stay, a key with an empty text is removed. */
export function mergeMetadata(before: Metadata, changes: Metadata | undefined): Metadata {
  if (changes === undefined) return before;
  const names = Object.keys(changes);
  if (names.length === 0) return before;
  const merged = new Map(Object.entries(before));
  for (const name of names) {
    const value = changes[name]!;
    if (value === '') merged.delete(name);
    else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
