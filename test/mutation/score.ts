// Prints what was killed by what, folder by folder, and what survives.

import type { Mutant } from './instrument.ts';

export interface Result {
  /** The test file that fails. */
  readonly units: string | null;
  readonly simulator: boolean;
  readonly isCovered: boolean;
}

export interface Judged {
  readonly mutant: Mutant;
  readonly result: Result;
}

export function printScore(judged: readonly Judged[]): void {
  const folderOf = ({ mutant }: Judged) => mutant.file.split('/').slice(0, 2).join('/');
  console.log('\n                    mutants  unit tests   simulator    together');
  const byFolder = Object.entries(Object.groupBy(judged, folderOf)).sort();
  for (const [folder, some] of [...byFolder, ['all', judged] as const]) {
    const share = (isKilled: (result: Result) => boolean) =>
      `${((100 * some!.filter(({ result }) => isKilled(result)).length) / some!.length).toFixed(1)} %`.padStart(
        12,
      );
    const units = share(({ units }) => units !== null);
    const simulator = share(({ simulator }) => simulator);
    const together = share(({ units, simulator }) => units !== null || simulator);
    console.log(`${folder.padEnd(18)}${String(some!.length).padStart(9)}${units}${simulator}${together}`);
  }
  const survivors = judged.filter(({ result }) => result.units === null && !result.simulator);
  console.log(`\n${survivors.length} survivors by kind:`);
  const byKind = Object.entries(Object.groupBy(survivors, ({ mutant }) => mutant.kind));
  for (const [kind, some] of byKind.sort(([, a], [, b]) => b!.length - a!.length))
    console.log(`${String(some!.length).padStart(6)}  ${kind}`);
  const place = ({ mutant }: Judged) => `${mutant.file}:${mutant.line}:${mutant.column}`;
  console.log('');
  for (const survivor of survivors.sort((a, b) => (place(a) < place(b) ? -1 : 1))) {
    const { original, replacement, kind } = survivor.mutant;
    const notReached = survivor.result.isCovered ? '' : ' (no test comes upon it)';
    console.log(
      `${place(survivor)} ${kind}${notReached}\n  - ${oneLine(original)}\n  + ${oneLine(replacement)}`,
    );
  }
}

function oneLine(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 140 ? `${line.slice(0, 139)}…` : line;
}
