// Plays seeds for one mutant after the other, and without one tells which mutants each seed comes upon.

import '../simulator/stand-ins.ts';
import { count, switchOn } from './switch.ts';

const atLoad = new Set<string>();
count(atLoad);

const { planOf } = await import('../simulator/plan.ts');
const { run } = await import('../simulator/run.ts');

export interface Question {
  /** None to ask what the seeds come upon. */
  readonly mutant?: string;
  readonly seeds: readonly number[];
}

export interface Answer {
  /** The seed that finds something, and what. */
  readonly found: number | null;
  readonly what: string;
  /** By seed, with what was met while the sources were loaded under `load`. */
  readonly covered: Readonly<Record<string, readonly string[]>>;
}

async function answer({ mutant, seeds }: Question): Promise<Answer> {
  switchOn(mutant);
  const covered: Record<string, readonly string[]> = { load: [...atLoad] };
  for (const seed of seeds) {
    const ids = new Set<string>();
    count(mutant === undefined ? ids : null);
    const { finding } = await run(planOf(String(seed)));
    if (finding !== null) return { found: seed, what: finding.assertion, covered: {} };
    covered[seed] = [...ids];
  }
  return { found: null, what: '', covered: mutant === undefined ? covered : {} };
}

process.on('message', (question: Question) => {
  answer(question).then((answered) => process.send!(answered));
});
process.on('disconnect', () => process.exit());
