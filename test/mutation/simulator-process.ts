// Plays seeds for one mutant after the other, and without one tells which mutants they come upon.

import '../simulator/stand-ins.ts';
import { type Met, type Place, switchOn, takeMet } from './switch.ts';

const { planOf } = await import('../simulator/plan.ts');
const { run } = await import('../simulator/run.ts');

export interface Question {
  /** None to ask what the seeds come upon. */
  readonly mutant: Place | null;
  readonly seeds: readonly number[];
}

export interface Answer {
  /** The seed that finds something, and what. */
  readonly found: number | null;
  readonly what: string;
  readonly met: Met;
}

async function answer({ mutant, seeds }: Question): Promise<Answer> {
  switchOn(mutant);
  takeMet();
  for (const seed of seeds) {
    const { finding } = await run(planOf(String(seed)));
    if (finding !== null) return { found: seed, what: finding.assertion, met: {} };
  }
  return { found: null, what: '', met: mutant === null ? takeMet() : {} };
}

process.on('message', (question: Question) => {
  answer(question).then((answered) => process.send!(answered));
});
process.on('disconnect', () => process.exit());
