// Mutants that do what the original does, or whose difference nobody can notice: each is listed in equivalents.json, with why, and
// counts for nothing.

import { readFileSync } from 'node:fs';
import type { Mutant } from './instrument.ts';

/** A mutant by as many of its fields as it takes; several that are alike by fewer. */
type Listed = { readonly why: string } & Partial<
  Pick<Mutant, 'file' | 'kind' | 'within' | 'original' | 'replacement'>
>;

function isListed(mutant: Mutant, { why: _, ...fields }: Listed): boolean {
  return Object.entries(fields).every(([name, value]) => mutant[name as keyof Mutant] === value);
}

/** Throws where some that are listed are no longer among the mutants. */
export function withoutEquivalents(mutants: readonly Mutant[]): Mutant[] {
  const listed: Listed[] = JSON.parse(readFileSync(new URL('equivalents.json', import.meta.url), 'utf8'));
  const gone = listed.filter((each) => !mutants.some((mutant) => isListed(mutant, each)));
  if (gone.length > 0)
    throw new Error(
      `equivalents.json names mutants that there are not:\n${gone.map((each) => JSON.stringify(each)).join('\n')}`,
    );
  return mutants.filter((mutant) => !listed.some((each) => isListed(mutant, each)));
}
