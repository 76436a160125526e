// Tries mutants that a commit chooses by its digest, each time others: of those that are recorded as killed by unit tests and by
// seeds, and of those of which nothing is recorded.

import { inOrderOfCommit } from '../order-of-commit.ts';
import { changedLines } from './changed.ts';
import { complaintOfKills, complaintOfSample } from './complaints.ts';
import type { Mutant } from './instrument.ts';
import { livingShare, recordedCount, recordedFinds, recordedKills, unrecorded } from './recorded.ts';
import { isKilled, printScore } from './score.ts';
import type { Workers } from './workers.ts';

/** How many of each sort. */
export interface OfCommit {
  readonly recorded: number;
  readonly found: number;
  readonly unrecorded: number;
}

function chosen(mutants: Iterable<Mutant>, count: number, isFirst = (_: Mutant) => false): Mutant[] {
  return inOrderOfCommit(mutants, ({ name }) => name)
    .sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
    .slice(0, count);
}

/** What is wrong with the tests; `counted` are all mutants but those that do what the original does. */
export async function complaintsOfCommit(
  counts: OfCommit,
  all: readonly Mutant[],
  counted: readonly Mutant[],
  workers: Workers,
): Promise<string[]> {
  const changed = changedLines();
  const isChanged = ({ file, line }: Mutant) => changed.get(file)?.has(line) ?? false;
  const fresh = chosen(unrecorded(counted), counts.unrecorded, isChanged);
  // What the recorded ones need is soon known, so they are tried however long the tests of the others take.
  await workers.measure([]);
  const complaints = [
    await complaintOfRecorded(counts.recorded, all, workers),
    await complaintOfFound(counts.found, all, workers),
  ];
  await workers.measure(fresh);
  complaints.push(await complaintOfUnrecorded(fresh, workers));
  const { length } = fresh.filter(isChanged);
  console.log(`${length} of ${fresh.length} unrecorded ones are of lines that have changed since`);
  return complaints.filter((complaint) => complaint !== null);
}

async function complaintOfRecorded(count: number, all: readonly Mutant[], workers: Workers) {
  const kills = recordedKills(all);
  const { alive, tried } = await workers.alive(chosen(kills.keys(), count), (mutant, lane) =>
    workers.judge.isKilledBy(mutant, kills.get(mutant)!, lane),
  );
  const counts = { recorded: recordedCount(), left: kills.size };
  console.log(`${tried - alive.length} of ${tried} mutants that are recorded as killed are killed still`);
  console.log(`${counts.left} of ${counts.recorded} recorded ones are left`);
  return complaintOfKills(counts, tried, alive);
}

async function complaintOfFound(count: number, all: readonly Mutant[], workers: Workers) {
  const finds = recordedFinds(all);
  const { alive, tried } = await workers.alive(chosen(finds.keys(), count), (mutant, lane) =>
    workers.judge.isFoundBy(mutant, finds.get(mutant)!, lane),
  );
  console.log(`${tried - alive.length} of ${tried} mutants that a seed has found are found still`);
  return complaintOfSample(tried, alive, 0);
}

async function complaintOfUnrecorded(mutants: readonly Mutant[], workers: Workers) {
  const judged = await workers.judgeEach(mutants);
  printScore(judged);
  const tried = judged.map(({ mutant }) => mutant);
  const alive = judged.filter((each) => !isKilled(each)).map(({ mutant }) => mutant);
  return complaintOfSample(tried.length, alive, livingShare(tried));
}
