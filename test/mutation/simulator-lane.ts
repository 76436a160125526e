// Whether a seed of the simulator finds a mutant.

import type { Mutant } from './instrument.ts';
import { Lane } from './lane.ts';
import type { Answer, Question } from './simulator-process.ts';
import type { Place } from './switch.ts';

export class SimulatorLane {
  readonly lane = new Lane<Question, Answer>('simulator-process.ts');

  /** The first of the seeds that finds something, or with which the process ends or takes too long. */
  async killerOf(
    { file, id }: Mutant,
    seeds: readonly number[],
    actsAtLoad: boolean,
  ): Promise<number | null> {
    if (seeds.length === 0) return null;
    const mutant = { file, id };
    if (actsAtLoad) this.lane.begin(mutant);
    const answer = await this.#try(seeds, mutant);
    if (actsAtLoad) this.lane.end();
    if (answer === null) return seeds[0]!;
    if (answer.found === null || actsAtLoad) return answer.found;
    // What the mutants before have left behind may have been found: then it is left to a new process.
    if ((await this.#try([answer.found], null))?.found === null) return answer.found;
    this.lane.end();
    const again = await this.#try(seeds, mutant);
    this.lane.end();
    return again === null ? seeds[0]! : again.found;
  }

  #try(seeds: readonly number[], mutant: Place | null): Promise<Answer | null> {
    return this.lane.ask({ seeds, mutant }, 15_000 + 3_000 * seeds.length);
  }
}
