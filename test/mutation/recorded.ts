// What the tests are known to kill (recorded.json, from samples of each folder): the scores by folder, of each mutant that was killed
// by which test or seed, and what has come of those that lived. So others can ask of some mutants whether they still die, without
// measuring anything, and of new ones whether as many die.

import { readFileSync, writeFileSync } from 'node:fs';
import type { Mutant } from './instrument.ts';
import { digestOf } from './kept.ts';
import { folderOf, isKilled, type Judged } from './score.ts';
import type { Killer } from './unit-tests.ts';

export interface Counts {
  readonly mutants: number;
  readonly killed: number;
}

type ByFolder = Readonly<Record<string, Counts>>;

/** A mutant that no test and no seed killed when it was recorded. */
interface Survivor {
  readonly mutant: string;
  /** Why it may live, or what kills it now. */
  readonly why: string;
}

interface Recorded {
  readonly all: Counts;
  readonly folders: ByFolder;
  /** What the simulator kills alone. */
  readonly simulator: ByFolder;
  /** What the nearest tests kill, with a few seeds. */
  readonly nearest: ByFolder;
  /** By their marks. */
  readonly survivors: Readonly<Record<string, Survivor>>;
  /** By test file and title: the marks of the mutants, with spaces between. */
  readonly killed: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By seed of the simulator: the marks of the mutants that it finds, with spaces between. */
  readonly found: Readonly<Record<string, string>>;
}

const file = new URL('recorded.json', import.meta.url);

function recorded(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function write({ all, folders, simulator, nearest, survivors, killed, found }: Recorded): void {
  const ordered = { all, folders, simulator, nearest, survivors, killed, found } satisfies Recorded;
  writeFileSync(file, `${JSON.stringify(ordered, null, 2)}\n`);
}

/**
 * The mutants by their marks, which stay while their lines do, wherever these are in the file. Of those that are alike in a file
 * the first has it.
 */
function byMark(mutants: readonly Mutant[]): Map<string, Mutant> {
  const marked = new Map<string, Mutant>();
  for (const mutant of mutants) {
    const mark = markOf(mutant);
    if (!marked.has(mark)) marked.set(mark, mutant);
  }
  return marked;
}

function markOf({ file, within, original, replacement }: Mutant): string {
  return digestOf(file, within, original, replacement).slice(0, 10);
}

/** How many mutants are recorded as killed by a unit test. */
export function recordedCount(): number {
  const marks = Object.values(recorded().killed).flatMap((titles) => Object.values(titles));
  return marks.reduce((sum, some) => sum + some.split(' ').length, 0);
}

/** The mutants that are recorded as killed and that there still are, with what killed them. */
export function recordedKills(mutants: readonly Mutant[]): Map<Mutant, Killer> {
  const kills = Object.entries(recorded().killed).flatMap(([file, titles]) =>
    Object.entries(titles).map(([title, marks]) => [{ file, title }, marks] as const),
  );
  return stillThere(mutants, kills);
}

/** The mutants that a seed is recorded to have found and that there still are, each with its seed. */
export function recordedFinds(mutants: readonly Mutant[]): Map<Mutant, number> {
  return stillThere(
    mutants,
    Object.entries(recorded().found).map(([seed, marks]) => [Number(seed), marks]),
  );
}

function stillThere<T>(mutants: readonly Mutant[], kills: readonly (readonly [T, string])[]): Map<Mutant, T> {
  const marked = byMark(mutants);
  const found = new Map<Mutant, T>();
  for (const [killer, marks] of kills)
    for (const mark of marks.split(' ')) {
      const mutant = marked.get(mark);
      if (mutant !== undefined) found.set(mutant, killer);
    }
  return found;
}

/** The mutants of which the record tells nothing. */
export function unrecorded(mutants: readonly Mutant[]): Mutant[] {
  const known = new Set([...recordedKills(mutants).keys(), ...recordedFinds(mutants).keys()]);
  const { survivors } = recorded();
  return mutants.filter((mutant) => !known.has(mutant) && survivors[markOf(mutant)] === undefined);
}

/** What share of these mutants would live if the nearest tests killed as many in each folder as they are recorded to. */
export function livingShare(mutants: readonly Mutant[]): number {
  const { nearest } = recorded();
  const shares = mutants.map((mutant) => {
    const { mutants, killed } = nearest[folderOf({ mutant })]!;
    return 1 - killed / mutants;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function countsOf(judged: readonly Judged[]): Record<string, Counts> {
  const sampled = Object.entries(Object.groupBy(judged, folderOf));
  const countOf = (some: readonly Judged[]) => ({
    mutants: some.length,
    killed: some.filter(isKilled).length,
  });
  return Object.fromEntries(sampled.map(([folder, some]) => [folder, countOf(some!)]));
}

function ascending<T>(from: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(from).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** By what killed them, as `nameOf` tells it, the marks of mutants. */
function marksBy<T>(kills: Iterable<readonly [Mutant, T]>, nameOf: (killer: T) => string) {
  const killed: Record<string, string> = {};
  for (const [mutant, killer] of kills) {
    const name = nameOf(killer);
    killed[name] = [killed[name] ?? [], markOf(mutant)].flat().join(' ');
  }
  return killed;
}

/** What was recorded of mutants that there still are, and what is found out now in its place. */
function renewed<T>(
  before: ReadonlyMap<Mutant, T>,
  judged: readonly Judged[],
  mutants: readonly Mutant[],
  killerOf: (judged: Judged) => T | null,
): Map<Mutant, T> {
  const marked = byMark(mutants);
  const tried = new Set(judged.map(({ mutant }) => mutant));
  const kills = new Map([...before].filter(([mutant]) => !tried.has(mutant)));
  for (const each of judged) {
    const killer = killerOf(each);
    if (killer !== null && marked.get(markOf(each.mutant)) === each.mutant) kills.set(each.mutant, killer);
  }
  return kills;
}

/** Each of these takes a sample in place of what is recorded of the folders that it has; `mutants` are all that there are. */
type Recorder = (judged: readonly Judged[], mutants: readonly Mutant[]) => void;

/** Takes it for what the nearest tests kill. */
export const recordNearest: Recorder = (judged) => {
  const before = recorded();
  write({ ...before, nearest: ascending({ ...before.nearest, ...countsOf(judged) }) });
};

/** Takes it for what the simulator kills alone. */
export const recordSimulator: Recorder = (judged, mutants) => {
  const before = recorded();
  const simulator = ascending({ ...before.simulator, ...countsOf(judged) });
  write({ ...before, simulator, found: foundBy(judged, mutants) });
};

/** Takes it for what all tests kill, and for what is known of the mutants that it has; of others that stays. */
export const record: Recorder = (judged, mutants) => {
  const before = recorded();
  const folders = ascending({ ...before.folders, ...countsOf(judged) });
  const sum = (name: keyof Counts) => Object.values(folders).reduce((all, counts) => all + counts[name], 0);
  const kills = renewed(recordedKills(mutants), judged, mutants, ({ units }) => {
    const killer = units?.killer;
    return typeof killer === 'object' && killer !== null && killer.title !== '' ? killer : null;
  });
  const byFile = Map.groupBy(kills, ([, { file }]) => file);
  const killed = Array.from(byFile, ([file, some]) => [file, ascending(marksBy(some, ({ title }) => title))]);
  write({
    ...before,
    all: { mutants: sum('mutants'), killed: sum('killed') },
    folders,
    survivors: survivorsOf(before.survivors, judged, mutants),
    killed: ascending(Object.fromEntries(killed)),
    found: foundBy(judged, mutants),
  });
};

function foundBy(judged: readonly Judged[], mutants: readonly Mutant[]): Record<string, string> {
  const played = judged.filter(({ simulator }) => simulator !== null);
  const found = renewed(recordedFinds(mutants), played, mutants, ({ simulator }) =>
    typeof simulator?.killer === 'number' ? simulator.killer : null,
  );
  return marksBy(found, String);
}

function survivorsOf(before: Recorded['survivors'], judged: readonly Judged[], mutants: readonly Mutant[]) {
  const there = new Set(mutants.map(markOf));
  const survivors = new Map(Object.entries(before).filter(([mark]) => there.has(mark)));
  for (const each of judged) {
    const { file, within, original, replacement } = each.mutant;
    const mark = markOf(each.mutant);
    const why = before[mark]?.why ?? '';
    const mutant = `${file}: ${within}: ${original} → ${replacement}`.replaceAll(/\s+/g, ' ');
    if (isKilled(each)) survivors.delete(mark);
    else survivors.set(mark, { mutant, why });
  }
  return Object.fromEntries([...survivors].sort(([, a], [, b]) => (a.mutant < b.mutant ? -1 : 1)));
}
