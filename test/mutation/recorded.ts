// What share of the mutants the tests are known to catch (recorded.json), and whether a sample speaks against it.

import { readFileSync } from 'node:fs';
import { type Judged, type Killer, percent, shareKilled } from './score.ts';

type Recorded = Readonly<Record<Killer, number>>;

/** The points that a score may lose before somebody must look. */
const slack = 0.02;
/** Of a hundred samples of tests that have lost as much, one has a share that is lower by so many standard deviations. */
const deviations = 2.33;

export function leastShare(recorded: number, sample: number): number {
  const share = recorded - slack;
  return share - deviations * Math.sqrt((share * (1 - share)) / sample);
}

/** What is wrong with the sample; nothing where it is as good as what is recorded, or chance may have made it worse. */
export function complaints(judged: readonly Judged[]): string[] {
  const recorded: Recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8'));
  return (Object.keys(recorded) as Killer[]).flatMap((killer) => {
    const share = shareKilled(judged, killer);
    const least = leastShare(recorded[killer], judged.length);
    const was = `${percent(recorded[killer])} are recorded, and a sample like this has ${percent(least)} at least`;
    return share >= least ? [] : [`${killer}: ${percent(share)} of the mutants are killed; ${was}`];
  });
}
