// What kills a mutant. Each result is kept as soon as it is known, until the tests that decide about it change.

import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  coverageOfFile,
  coverageOfSeed,
  isMet,
  metAtLoad,
  simulatorDigest,
  type TestFile,
} from './coverage.ts';
import type { Mutant } from './instrument.ts';
import { cache, digestOf } from './kept.ts';
import { nearestTests } from './nearest.ts';
import { SimulatorLane } from './simulator-lane.ts';
import type { Met } from './switch.ts';
import { type Killer, type Part, partsFor, UnitLane } from './unit-tests.ts';

export interface Result {
  /** The test or the seed. */
  readonly killer: Killer | number | null;
  readonly isCovered: boolean;
}

interface Kept {
  readonly of: string;
  /** Of the tests that it was tried with, or of the file that fails. */
  readonly digest: string;
  readonly killer: Killer | number | null;
  readonly ms: number;
}

const path = join(cache, 'results.jsonl');

function keptResults(): Map<string, Kept> {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return new Map(lines.map((line) => JSON.parse(line)).map((kept: Kept) => [kept.of, kept]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return new Map();
  }
}

function note(kept: Kept): void {
  appendFileSync(path, `${JSON.stringify({ ...kept, ms: Math.round(kept.ms) })}\n`);
}

export class Judge {
  readonly #kept = keptResults();
  /** How many seeds that come upon a mutant are tried. */
  readonly #seedsMax: number;
  readonly #seeds: readonly number[];
  /** Whether only the tests that lie nearest to a mutant are tried. */
  readonly #isNear: boolean;
  readonly #files: TestFile[] = [];
  readonly #bySeed = new Map<number, Met>();
  #atLoad: Met = {};

  constructor(seedsMax: number, isNear: boolean) {
    this.#seedsMax = seedsMax;
    this.#isNear = isNear;
    this.#seeds = Array.from({ length: 10 * seedsMax }, (_, at) => at + 1);
  }

  /** Learns which mutants act while sources are loaded. */
  async measureLoad({ units }: JudgeLane): Promise<void> {
    this.#atLoad = await metAtLoad(units.lane);
  }

  /** Learns what the tests of these files, and seeds, come upon. */
  async measure(
    files: readonly string[],
    lanes: readonly JudgeLane[],
    progress: (done: number, of: number) => void,
  ): Promise<void> {
    const waiting: ((lane: JudgeLane) => Promise<unknown>)[] = [
      (lane) => this.measureLoad(lane),
      ...this.#seeds.map((seed) => async ({ simulator }: JudgeLane) => {
        this.#bySeed.set(seed, await coverageOfSeed(seed, simulator.lane));
      }),
      ...files.map((file) => async ({ units }: JudgeLane) => {
        this.#files.push(await coverageOfFile(file, units.lane));
      }),
    ];
    const of = waiting.length;
    const work = async (lane: JudgeLane) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await next(lane);
        progress(of - waiting.length, of);
      }
    };
    await Promise.all(lanes.map(work));
  }

  /** Tests that cannot be used. */
  get failing(): string[] {
    return this.#files
      .filter(({ why }) => why !== '')
      .map(({ file, why }) => `${file}: ${why.split('\n')[0]}`);
  }

  async byUnits(mutant: Mutant, { units }: JudgeLane): Promise<Result> {
    const actsAtLoad = isMet(this.#atLoad, mutant);
    const files = this.#isNear
      ? this.#files.filter(({ file }) => nearestTests(mutant.file).includes(file))
      : this.#files;
    const parts = partsFor(files, mutant, actsAtLoad);
    const all = digestOf(...parts.map(({ digest }) => digest).sort());
    const isCovered = parts.length > 0;
    const of = `${mutant.name} units`;
    const kept = this.#kept.get(of);
    const killedBy = typeof kept?.killer === 'object' ? kept.killer?.file : null;
    const digest = parts.find(({ file }) => file === killedBy)?.digest ?? all;
    if (kept?.digest === digest) return { killer: kept.killer, isCovered };
    const startedAt = performance.now();
    const found = await units.killerOf(mutant, parts, actsAtLoad);
    const killer = found && this.#titled(found.part, found.failed);
    note({ of, digest: found?.part.digest ?? all, killer, ms: performance.now() - startedAt });
    return { killer, isCovered };
  }

  #titled({ file }: Part, place: number): Killer {
    const measured = this.#files.find((each) => each.file === file);
    return { file, title: measured?.tests[place]?.title ?? '' };
  }

  /** Whether what is recorded to have killed the mutant kills it still. Only what is loaded need have been measured. */
  isKilledBy(mutant: Mutant, killer: Killer, { units }: JudgeLane): Promise<boolean> {
    return units.isKilledBy(mutant, killer, isMet(this.#atLoad, mutant));
  }

  /** Whether the seed that is recorded to have found the mutant finds it still, or else one of some others. */
  async isFoundBy(mutant: Mutant, seed: number, { simulator }: JudgeLane): Promise<boolean> {
    const seeds = [seed, ...this.#seeds.slice(0, this.#seedsMax)];
    return (await simulator.killerOf(mutant, seeds, isMet(this.#atLoad, mutant))) !== null;
  }

  async bySimulator(mutant: Mutant, { simulator }: JudgeLane): Promise<Result> {
    const actsAtLoad = isMet(this.#atLoad, mutant);
    const seeds = this.#seeds
      .filter((seed) => actsAtLoad || isMet(this.#bySeed.get(seed)!, mutant))
      .slice(0, this.#seedsMax);
    const isCovered = seeds.length > 0;
    const of = `${mutant.name} simulator`;
    const digest = digestOf(simulatorDigest, seeds.join());
    const kept = this.#kept.get(of);
    if (kept?.digest === digest) return { killer: kept.killer, isCovered };
    const startedAt = performance.now();
    const killer = await simulator.killerOf(mutant, seeds, actsAtLoad);
    note({ of, digest, killer, ms: performance.now() - startedAt });
    return { killer, isCovered };
  }
}

/** The processes in which one mutant at a time is tried. */
export class JudgeLane {
  readonly units = new UnitLane();
  readonly simulator = new SimulatorLane();

  end(): void {
    this.units.lane.end();
    this.simulator.lane.end();
  }
}
