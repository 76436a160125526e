// A merchant's own notes on an object: metadata, which are texts by name, and single texts such as a description.

import type { Refusal } from '../contract/errors/table.ts';
import { metadataKeysMax } from '../contract/limits.ts';
import { invalidMetadata } from '../contract/routes/validate.ts';
import type { Metadata } from './record.ts';

/** Metadata as it is first set: a key with an empty text stands for no key. */
export function initialMetadata(metadata: Metadata | undefined): Metadata {
  for (const name in metadata) if (metadata[name] === '') return mergeMetadata({}, metadata);
  return metadata ?? {};
}

/** `changes` merged into `before`: keys sent are set, others stay, a key with an empty text is removed. */
export function mergeMetadata(before: Metadata, changes: Metadata | undefined): Metadata {
  if (changes === undefined) return before;
  return Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, text]) => text !== ''));
}

/** The text that was sent, none when it is empty, or what there was before. */
export function changedText(sent: string | undefined, before: string | null): string | null {
  if (sent === undefined) return before;
  return sent === '' ? null : sent;
}

/** Merging can leave more keys than metadata takes. */
export function refuseMetadata(merged: Metadata): Refusal | null {
  return Object.keys(merged).length > metadataKeysMax ? invalidMetadata('metadata') : null;
}
