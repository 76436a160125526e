// Plays seeds for one mutant after the other, and without one tells which mutants each seed comes upon.

import '../simulator/stand-ins.ts';
import { namespace } from './namespace.ts';

const { planOf } = await import('../simulator/plan.ts');
const { run } = await import('../simulator/run.ts');

export interface Question {
  /** Null to ask what the seeds come upon. */
  readonly mutant: string | null;
  readonly seeds: readonly number[];
}

export interface Answer {
  readonly found: string | null;
  /** By seed, with what was met while the sources were loaded under `load`. */
  readonly covered: Readonly<Record<string, readonly string[]>>;
}

async function answer({ mutant, seeds }: Question): Promise<Answer> {
  const space = namespace();
  if (mutant !== null) space.activeMutant = mutant;
  else delete space.activeMutant;
  for (const seed of seeds) {
    if (mutant === null) space.currentTestId = String(seed);
    const { finding } = await run(planOf(String(seed)));
    if (finding !== null) return { found: finding.assertion, covered: {} };
  }
  delete space.currentTestId;
  if (mutant !== null) return { found: null, covered: {} };
  const { static: load, perTest } = space.mutantCoverage!;
  const bySeed = Object.entries(perTest).map(([seed, counts]) => [seed, Object.keys(counts)]);
  return { found: null, covered: Object.fromEntries([...bySeed, ['load', Object.keys(load)]]) };
}

process.on('message', (question: Question) => {
  answer(question).then((answered) => process.send!(answered));
});
process.on('disconnect', () => process.exit());
