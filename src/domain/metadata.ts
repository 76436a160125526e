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

/** The metadata after `changes`, which may give it too many keys. */
export function changedMetadata(
  before: Metadata,
  changes: Metadata | undefined,
): { readonly metadata: Metadata } | { readonly refusal: Refusal } {
  const metadata = mergeMetadata(before, changes);
  const isTooMuch = Object.keys(metadata).length > metadataKeysMax;
  return isTooMuch ? { refusal: invalidMetadata('metadata') } : { metadata };
}

/**
 * `changes` merged into `before`: keys sent are set, others stay, a key with an empty text is
 * removed.
 */
function mergeMetadata(before: Metadata, changes: Metadata | undefined): Metadata {
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
