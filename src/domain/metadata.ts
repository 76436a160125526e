// Metadata (texts by key) and single texts such as a description, which merchants set on objects.

import type { Refusal } from '../contract/errors/table.ts';
import { metadataKeysMax } from '../contract/limits.ts';
import { invalidMetadata } from '../contract/routes/validate.ts';
import type { Metadata } from './record.ts';

/** The metadata of a new object. A key with an empty text is left out. */
export function initialMetadata(metadata: Metadata | undefined): Metadata {
  for (const name in metadata) if (metadata[name] === '') return mergeMetadata({}, metadata);
  return metadata ?? {};
}

/**
 * `changes` merged into `before`: keys sent are set, others stay, a key with an empty text is
 * removed.
 */
export function mergeMetadata(before: Metadata, changes: Metadata | undefined): Metadata {
  if (changes === undefined) return before;
  return Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, text]) => text !== ''));
}

/**
 * The new text: the one that was sent, null when that is empty, or the text before when none was
 * sent.
 */
export function changedText(sent: string | undefined, before: string | null): string | null {
  if (sent === undefined) return before;
  return sent === '' ? null : sent;
}

/** The refusal of metadata that has too many keys after merging; null when it has not. */
export function refuseMetadata(merged: Metadata): Refusal | null {
  return Object.keys(merged).length > metadataKeysMax ? invalidMetadata('metadata') : null;
}
