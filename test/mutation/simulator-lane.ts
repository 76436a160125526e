// Whether a seed of the simulator finds a mutant.

import { Lane } from './lane.ts';
import type { Answer, Question } from './simulator-process.ts';

export class SimulatorLane {
  readonly #lane = new Lane<Question, Answer>('simulator-process.ts');

  /** The first of the seeds that finds something, or with which the process ends or takes too long. */
  async killerOf(mutant: string, seeds: readonly number[], actsAtLoad: boolean): Promise<number | null> {
    if (seeds.length === 0) return null;
    const answer = await this.#try(seeds, mutant, actsAtLoad);
    if (answer === null) return seeds[0]!;
    if (answer.found === null || actsAtLoad) return answer.found;
    // What the mutants before have left behind may have been found: then it is left to a new process.
    if ((await this.#try([answer.found], undefined, false))?.found === null) return answer.found;
    this.#lane.end();
    const again = await this.#try(seeds, mutant, false);
    this.#lane.end();
    return again === null ? seeds[0]! : again.found;
  }

  #try(seeds: readonly number[], mutant: string | undefined, actsAtLoad: boolean): Promise<Answer | null> {
    const question = mutant === undefined ? { seeds } : { seeds, mutant };
    return this.#lane.ask(question, 15_000 + 2_000 * seeds.length, actsAtLoad ? mutant : undefined);
  }

  end(): void {
    this.#lane.end();
  }
}
