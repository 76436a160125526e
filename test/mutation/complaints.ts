// What is wrong with a sample of mutants that a commit has chosen; null where it is as good as what is recorded.

import type { Mutant } from './instrument.ts';

/** What the share of killed mutants may lose before somebody must look: two points. */
const slack = 0.02;

/** The least share of the recorded mutants that must be left: of fewer a sample says little about the tests. */
const leftMin = 0.8;

/** A sample that chance makes as bad no more often than this is no chance: each commit has another one. */
const chanceMax = 0.001;

/** Of mutants that are recorded as killed by a unit test: the same test must kill them, so chance has no part in it. */
export function complaintOfKills(
  { recorded, left }: { readonly recorded: number; readonly left: number },
  size: number,
  alive: readonly Mutant[],
): string | null {
  const anew = 'record them anew: npm run mutate -- --sample 80 --record';
  if (left < recorded * leftMin)
    return `Only ${left} of ${recorded} mutants that are recorded as killed are left: ${anew}`;
  if (alive.length <= size * slack) return null;
  return listed(`${alive.length} of ${size} mutants survive that are recorded as killed:`, alive);
}

/** Of mutants of which some may live: `share` of all do. */
export function complaintOfSample(size: number, alive: readonly Mutant[], share: number): string | null {
  if (chanceOf(alive.length, size, share + slack) > chanceMax) return null;
  const most = `${(100 * (share + slack)).toFixed(1)} %`;
  return listed(`${alive.length} of ${size} mutants survive, where ${most} of all may:`, alive);
}

/** How likely as many of a sample live, or more, when this share of all does. */
function chanceOf(alive: number, size: number, share: number): number {
  let [exactly, fewer] = [(1 - share) ** size, 0];
  for (let count = 0; count < alive; count++) {
    fewer += exactly;
    exactly *= ((size - count) / (count + 1)) * (share / (1 - share));
  }
  return 1 - fewer;
}

function listed(what: string, alive: readonly Mutant[]): string {
  const places = alive.map(
    ({ file, line, original, replacement }) => `${file}:${line}: ${original} → ${replacement}`,
  );
  return [what, ...places].join('\n');
}
