// What share of the mutants the tests are known to kill (recorded.json, from a sample of each folder), and whether a sample speaks
// against it.

import { readFileSync, writeFileSync } from 'node:fs';
import { folderOf, isKilled, type Judged, percent, share } from './score.ts';

export interface Recorded {
  readonly mutants: number;
  readonly killed: number;
}

/** What the share may lose before somebody must look. */
const slack = 0.02;
/** Of a thousand samples of tests that have lost no more than that, one has a share that is lower by so many standard deviations. */
const deviations = 3.1;

/**
 * The least share for which nothing is wrong, by the sizes of the sample's parts and what is recorded for each: both are samples,
 * so both have a binomial error.
 */
export function leastShare(parts: readonly { readonly size: number; readonly recorded: Recorded }[]): number {
  let [size, expected, variance] = [0, 0, 0];
  for (const { size: some, recorded } of parts) {
    // Where all were killed, one that was not is taken for the next, so that the error is not zero.
    const share = Math.min(recorded.killed, recorded.mutants - 1) / recorded.mutants;
    size += some;
    expected += some * share;
    variance += share * (1 - share) * (some + some ** 2 / recorded.mutants);
  }
  return expected / size - slack - (deviations * Math.sqrt(variance)) / size;
}

const file = new URL('recorded.json', import.meta.url);

function countOf(some: readonly Judged[]): Recorded {
  return { mutants: some.length, killed: some.filter(isKilled).length };
}

interface Scores {
  readonly all: Recorded;
  readonly folders: Readonly<Record<string, Recorded>>;
}

function recordedScores(): Scores {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Takes the sample for what the tests are known to kill of the folders that it has. */
export function record(judged: readonly Judged[]): void {
  const sampled = Object.entries(Object.groupBy(judged, folderOf));
  const found = Object.fromEntries(sampled.map(([folder, some]) => [folder, countOf(some!)]));
  const merged = Object.entries({ ...recordedScores().folders, ...found }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const sum = (name: keyof Recorded) => merged.reduce((all, [, counts]) => all + counts[name], 0);
  const scores: Scores = {
    all: { mutants: sum('mutants'), killed: sum('killed') },
    folders: Object.fromEntries(merged),
  };
  writeFileSync(file, `${JSON.stringify(scores, null, 2)}\n`);
}

/**
 * What is wrong with the sample, of the folders that have a score; null where it is as good as what is recorded, or chance may have
 * made it worse.
 */
export function complaint(judged: readonly Judged[]): string | null {
  const { folders } = recordedScores();
  const some = judged.filter((each) => folders[folderOf(each)] !== undefined);
  const parts = Object.entries(Object.groupBy(some, folderOf)).flatMap(([folder, own]) => {
    const recorded = folders[folder];
    return recorded === undefined ? [] : [{ size: own?.length ?? 0, recorded }];
  });
  if (parts.length === 0) return 'No mutant of the sample is of a folder with a score.';
  const [found, least] = [share(some), leastShare(parts)];
  return found >= least
    ? null
    : `${percent(found)} of the mutants are killed; by what is recorded a sample like this has ${percent(least)} at least.`;
}
