// Whether a seed of the simulator finds a mutant.

import type { Mutant } from './instrument.ts';
import { Lane } from './lane.ts';
import type { Answer, Question } from './simulator-process.ts';

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
    const answer = await this.lane.ask({ seeds, mutant }, limitMs(seeds));
    if (actsAtLoad) this.lane.end();
    if (answer?.found === null) return null;
    if (!actsAtLoad && answer !== null && (await this.#msWithout([answer.found])) !== null)
      return answer.found;
    // What the mutants before have left behind may have been found, or the machine may be too busy: how much so is told by the
    // time that it takes without the mutant.
    this.lane.end();
    const ms = await this.#msWithout(answer === null ? seeds : [answer.found]);
    if (ms === null) return null;
    this.lane.begin(mutant);
    const again = await this.lane.ask({ seeds, mutant }, limitMs(seeds) + 3 * ms);
    this.lane.end();
    return again === null ? seeds[0]! : again.found;
  }

  /** How long the seeds take without a mutant; null: they find something. */
  async #msWithout(seeds: readonly number[]): Promise<number | null> {
    const startedAt = performance.now();
    const answer = await this.lane.ask({ seeds, mutant: null }, longestMs);
    return answer?.found === null ? performance.now() - startedAt : null;
  }
}

/** Without a mutant seeds end, however busy the machine is. */
const longestMs = 600_000;

function limitMs(seeds: readonly number[]): number {
  return 15_000 + 3_000 * seeds.length;
}
