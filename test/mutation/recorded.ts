// What the tests are known to kill (recorded.json, from a sample of each folder): the score by folder, and of each mutant that a
// unit test kills which test that is. So others can ask of some of them whether they still die, without measuring anything.

import { readFileSync, writeFileSync } from 'node:fs';
import type { Mutant } from './instrument.ts';
import { digestOf } from './kept.ts';
import { folderOf, isKilled, type Judged } from './score.ts';
import type { Killer } from './unit-tests.ts';

interface Counts {
  readonly mutants: number;
  readonly killed: number;
}

interface Recorded {
  readonly all: Counts;
  readonly folders: Readonly<Record<string, Counts>>;
  /** What the simulator kills alone. */
  readonly simulator: Readonly<Record<string, Counts>>;
  /** By test file and title: the marks of the mutants, with spaces between. */
  readonly killed: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const file = new URL('recorded.json', import.meta.url);

function recorded(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function write({ all, folders, simulator, killed }: Recorded): void {
  const text = JSON.stringify({ all, folders, simulator, killed } satisfies Recorded, null, 2);
  writeFileSync(file, `${text}\n`);
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
  const marked = byMark(mutants);
  const kills = new Map<Mutant, Killer>();
  for (const [file, titles] of Object.entries(recorded().killed))
    for (const [title, marks] of Object.entries(titles))
      for (const mark of marks.split(' ')) {
        const mutant = marked.get(mark);
        if (mutant !== undefined) kills.set(mutant, { file, title });
      }
  return kills;
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

/** Takes the sample for what the simulator alone is known to kill of the folders that it has. */
export function recordSimulator(judged: readonly Judged[]): void {
  const before = recorded();
  write({ ...before, simulator: ascending({ ...before.simulator, ...countsOf(judged) }) });
}

/**
 * Takes the sample for what the tests are known to kill of the folders that it has, and keeps which test kills others that there
 * are still; `mutants` are all that there are.
 */
export function record(judged: readonly Judged[], mutants: readonly Mutant[]): void {
  const before = recorded();
  const found = countsOf(judged);
  const folders = ascending({ ...before.folders, ...found });
  const sum = (name: keyof Counts) => Object.values(folders).reduce((all, counts) => all + counts[name], 0);
  const marked = byMark(mutants);
  const tried = new Set(judged.map(({ mutant }) => mutant));
  const kills = new Map([...recordedKills(mutants)].filter(([mutant]) => !tried.has(mutant)));
  for (const { mutant, units } of judged) {
    const killer = units?.killer;
    if (typeof killer !== 'object' || killer === null || killer.title === '') continue;
    if (marked.get(markOf(mutant)) === mutant) kills.set(mutant, killer);
  }
  const killed: Record<string, Record<string, string>> = {};
  for (const [mutant, { file, title }] of kills) {
    killed[file] ??= {};
    killed[file][title] = [killed[file][title] ?? [], markOf(mutant)].flat().join(' ');
  }
  const sorted = Object.fromEntries(Object.entries(ascending(killed)).map(([f, t]) => [f, ascending(t)]));
  write({ ...before, all: { mutants: sum('mutants'), killed: sum('killed') }, folders, killed: sorted });
}

/** What the share of killed mutants may lose before somebody must look: two points. */
const slack = 0.02;

/** The least share of the recorded mutants that must be left: of fewer a sample says little about the tests. */
const leftMin = 0.8;

/** What is wrong with a sample of mutants that are recorded as killed; null where it is as good as what is recorded. */
export function complaint(
  { recorded, left }: { readonly recorded: number; readonly left: number },
  size: number,
  lost: readonly Mutant[],
): string | null {
  const anew = 'record them anew: npm run mutate -- --sample 80 --record';
  if (left < recorded * leftMin)
    return `Only ${left} of ${recorded} mutants that are recorded as killed are left: ${anew}`;
  if (lost.length <= size * slack) return null;
  const places = lost.map(
    ({ file, line, original, replacement }) => `${file}:${line}: ${original} → ${replacement}`,
  );
  return [`${lost.length} of ${size} mutants survive that are recorded as killed:`, ...places].join('\n');
}
