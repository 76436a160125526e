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
    if (answer?.found === null) {
      if (actsAtLoad) this.lane.end();
      return null;
    }
    if (!actsAtLoad && answer !== null && (await this.#isSilent([answer.found]))) return answer.found;
    // What the mutants before have left behind may have been found, or the machine may be too busy: see UnitLane.
    this.lane.begin(mutant);
    const again = await this.#try(seeds, mutant);
    this.lane.end();
    if (again?.found === null) return null;
    return (await this.#isSilent(again === null ? seeds : [again.found]))
      ? (again?.found ?? seeds[0]!)
      : null;
  }

  /** Whether the seeds find nothing without a mutant. */
  async #isSilent(seeds: readonly number[]): Promise<boolean> {
    return (await this.#try(seeds, null))?.found === null;
  }

  #try(seeds: readonly number[], mutant: Place | null): Promise<Answer | null> {
    return this.lane.ask({ seeds, mutant }, 15_000 + 3_000 * seeds.length);
  }
}
