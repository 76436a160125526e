// Prints what was killed by what, folder by folder, and what survives.

import type { Mutant } from './instrument.ts';
import type { Result } from './judge.ts';

export interface Judged {
  readonly mutant: Mutant;
  /** Null where it was not tried. */
  readonly units: Result | null;
  readonly simulator: Result | null;
}

export function isKilled({ units, simulator }: Judged): boolean {
  return (units?.killer ?? simulator?.killer ?? null) !== null;
}

export function folderOf({ mutant }: Pick<Judged, 'mutant'>): string {
  return mutant.file.split('/')[1]!;
}

function share(some: readonly Judged[], holds: (judged: Judged) => boolean = isKilled): number {
  return some.filter(holds).length / some.length;
}

/** Half the width of what 95 of 100 samples have within. */
function errorOf(share: number, sample: number): number {
  return 1.96 * Math.sqrt((share * (1 - share)) / sample);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function printScore(judged: readonly Judged[]): void {
  if (judged.length === 0) return;
  const heads = ['mutants', 'by units', 'killed', '±', 'not reached'];
  console.log(`\n${''.padEnd(12)}${heads.map((name) => name.padStart(12)).join('')}`);
  for (const [folder, some] of [
    ...Object.entries(Object.groupBy(judged, folderOf)).sort(),
    ['all', judged] as const,
  ]) {
    const killed = share(some!);
    const cells = [
      String(some!.length),
      percent(share(some!, ({ units }) => (units?.killer ?? null) !== null)),
      percent(killed),
      percent(errorOf(killed, some!.length)),
      percent(share(some!, (each) => !isCovered(each))),
    ];
    console.log(`${folder.padEnd(12)}${cells.map((cell) => cell.padStart(12)).join('')}`);
  }
  printSurvivors(judged.filter((each) => !isKilled(each)));
}

function isCovered({ units, simulator }: Judged): boolean {
  return (units?.isCovered ?? false) || (simulator?.isCovered ?? false);
}

function printSurvivors(survivors: Judged[]): void {
  console.log(`\n${survivors.length} survivors by kind:`);
  const byKind = Object.entries(Object.groupBy(survivors, ({ mutant }) => mutant.kind));
  for (const [kind, some] of byKind.sort(([, a], [, b]) => b!.length - a!.length))
    console.log(`${String(some!.length).padStart(6)}  ${kind}`);
  console.log('');
  const place = ({ mutant: { file, line } }: Judged) => `${file}:${String(line).padStart(4, '0')}`;
  for (const survivor of survivors.sort((a, b) => (place(a) < place(b) ? -1 : 1))) {
    const { file, line, column, original, replacement, kind } = survivor.mutant;
    console.log(`${file}:${line}:${column} ${kind}${isCovered(survivor) ? '' : ' (no test comes upon it)'}`);
    console.log(`  - ${oneLine(original)}\n  + ${oneLine(replacement)}`);
  }
}

function oneLine(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 140 ? `${line.slice(0, 139)}…` : line;
}
