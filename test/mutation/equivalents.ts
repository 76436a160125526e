// Mutants that do what the original does: each is listed in equivalents.json, with why, and counts for nothing.

import { readFileSync } from 'node:fs';
import type { Mutant } from './instrument.ts';

type Place = Pick<Mutant, 'file' | 'within' | 'original' | 'replacement'>;

function keyOf({ file, within, original, replacement }: Place): string {
  return JSON.stringify([file, within, original, replacement]);
}

/** Throws where one that is listed is no longer among the mutants. */
export function withoutEquivalents(mutants: readonly Mutant[]): Mutant[] {
  const text = readFileSync(new URL('equivalents.json', import.meta.url), 'utf8');
  const listed: (Place & { why: string })[] = JSON.parse(text);
  const made = new Set(mutants.map(keyOf));
  const gone = listed.find((each) => !made.has(keyOf(each)));
  if (gone !== undefined)
    throw new Error(`equivalents.json names a mutant that there is not: ${JSON.stringify(gone)}`);
  const equivalent = new Set(listed.map(keyOf));
  return mutants.filter((mutant) => !equivalent.has(keyOf(mutant)));
}
