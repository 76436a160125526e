// Prints what was killed by what, folder by folder, and what survives.

import type { Mutant } from './instrument.ts';
import type { Result } from './judge.ts';

export interface Judged {
  readonly mutant: Mutant;
  readonly result: Result;
}

const killers = {
  'unit tests': ({ units }: Result) => units !== null,
  simulator: ({ simulator }: Result) => simulator !== null,
  together: ({ units, simulator }: Result) => units !== null || simulator !== null,
};

export type Killer = keyof typeof killers;

export function shareKilled(judged: readonly Judged[], by: Killer): number {
  return judged.filter(({ result }) => killers[by](result)).length / judged.length;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function printScore(judged: readonly Judged[]): void {
  const names = Object.keys(killers) as Killer[];
  console.log(`\n${''.padEnd(18)}${['mutants', ...names].map((name) => name.padStart(12)).join('')}`);
  const byFolder = Object.groupBy(judged, ({ mutant }) => mutant.file.split('/').slice(0, 2).join('/'));
  for (const [folder, some] of [...Object.entries(byFolder).sort(), ['all', judged] as const]) {
    const cells = [String(some!.length), ...names.map((name) => percent(shareKilled(some!, name)))];
    console.log(`${folder.padEnd(18)}${cells.map((cell) => cell.padStart(12)).join('')}`);
  }
  const survivors = judged.filter(({ result }) => !killers.together(result));
  console.log(`\n${survivors.length} survivors by kind:`);
  const byKind = Object.entries(Object.groupBy(survivors, ({ mutant }) => mutant.kind));
  for (const [kind, some] of byKind.sort(([, a], [, b]) => b!.length - a!.length))
    console.log(`${String(some!.length).padStart(6)}  ${kind}`);
  console.log('');
  const place = ({ mutant: { file, line } }: Judged) => `${file}:${String(line).padStart(4, '0')}`;
  for (const survivor of survivors.sort((a, b) => (place(a) < place(b) ? -1 : 1))) {
    const { file, line, column, original, replacement, kind } = survivor.mutant;
    const notReached = survivor.result.isCovered ? '' : ' (no test comes upon it)';
    console.log(`${file}:${line}:${column} ${kind}${notReached}`);
    console.log(`  - ${oneLine(original)}\n  + ${oneLine(replacement)}`);
  }
}

function oneLine(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 140 ? `${line.slice(0, 139)}…` : line;
}
