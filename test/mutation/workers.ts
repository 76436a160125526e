// Lanes, one a processor, that try mutants side by side, and tell how far they are.

import { availableParallelism } from 'node:os';
import { testFiles } from './coverage.ts';
import type { Mutant } from './instrument.ts';
import { Judge, JudgeLane } from './judge.ts';
import { closureOf } from './kept.ts';
import { nearestTests } from './nearest.ts';
import { Progress } from './progress.ts';
import { isKilled, type Judged } from './score.ts';

interface Options {
  readonly simulatorAlone: boolean;
  readonly nearestAlone: boolean;
  readonly seeds: number;
  readonly timeS: number;
}

export class Workers {
  readonly judge: Judge;
  readonly #options: Options;
  readonly #lanes = Array.from({ length: availableParallelism() }, () => new JudgeLane());
  readonly #progress = new Progress();
  readonly #startedAt = performance.now();

  constructor(options: Options) {
    this.#options = options;
    this.judge = new Judge(options.seeds, options.nearestAlone);
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  end(): void {
    for (const lane of this.#lanes) lane.end();
  }

  /** Learns what the tests and seeds come upon with which these mutants may be tried. */
  async measure(mutants: readonly Mutant[]): Promise<void> {
    const { simulatorAlone, nearestAlone } = this.#options;
    const sources = new Set(mutants.map(({ file }) => file));
    const loadsOne = (test: string) => closureOf(test).some((path) => sources.has(path));
    const tests = nearestAlone ? [...sources].flatMap(nearestTests) : testFiles.filter(loadsOne);
    const files = new Set(simulatorAlone ? [] : tests);
    this.#progress.begin();
    await this.judge.measure([...files], this.#lanes, (done, of) =>
      this.#progress.tell(done, of, () => ' test files and seeds'),
    );
    for (const why of this.judge.failing) console.log(`fails without a mutant: ${why}`);
    console.log(`It is known what the tests come upon; ${this.#seconds.toFixed(0)} s`);
  }

  /** Those of the mutants that were tried, by unit tests and, when these let one live, by seeds. */
  async judgeEach(mutants: readonly Mutant[]): Promise<Judged[]> {
    const { judge } = this;
    const judged: Judged[] = [];
    await this.#each(mutants, async (mutant, lane) => {
      const units = this.#options.simulatorAlone ? null : await judge.byUnits(mutant, lane);
      const simulator = (units?.killer ?? null) === null ? await judge.bySimulator(mutant, lane) : null;
      const now = { mutant, units, simulator };
      judged.push(now);
      return isKilled(now);
    });
    return judged;
  }

  /** Those of the mutants that live, and how many were tried. */
  async alive(
    mutants: readonly Mutant[],
    isKilled: (mutant: Mutant, lane: JudgeLane) => Promise<boolean>,
  ): Promise<{ readonly alive: Mutant[]; readonly tried: number }> {
    const alive: Mutant[] = [];
    const tried = await this.#each(mutants, async (mutant, lane) => {
      const killed = await isKilled(mutant, lane);
      if (!killed) alive.push(mutant);
      return killed;
    });
    return { alive, tried };
  }

  /** Gives each lane one mutant after the other until there is no time left. Returns how many were tried. */
  async #each(
    mutants: readonly Mutant[],
    isKilled: (mutant: Mutant, lane: JudgeLane) => Promise<boolean>,
  ): Promise<number> {
    const waiting = [...mutants];
    let [tried, killed] = [0, 0];
    console.log(`${waiting.length} mutants; ${this.#seconds.toFixed(0)} s`);
    this.#progress.begin();
    const work = async (lane: JudgeLane) => {
      while (this.#seconds < this.#options.timeS) {
        const mutant = waiting.shift();
        if (mutant === undefined) break;
        if (await isKilled(mutant, lane)) killed++;
        tried++;
        this.#progress.tell(
          tried,
          mutants.length,
          () => ` mutants: ${killed} killed, ${tried - killed} survive`,
        );
      }
      // The other lanes may need its memory and its processor.
      lane.end();
    };
    await Promise.all(this.#lanes.map(work));
    console.log(`\n${waiting.length} were not run; ${this.#seconds.toFixed(0)} s`);
    return tried;
  }
}
