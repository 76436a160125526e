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
  testFiles,
} from './coverage.ts';
import type { Mutant } from './instrument.ts';
import { cache, digestOf } from './kept.ts';
import { SimulatorLane } from './simulator-lane.ts';
import type { Met } from './switch.ts';
import { partsFor, UnitLane } from './unit-tests.ts';

export interface Result {
  /** The test file or the seed. */
  readonly killer: string | number | null;
  readonly isCovered: boolean;
}

interface Kept {
  readonly of: string;
  /** Of the tests that it was tried with, or of the file that fails. */
  readonly digest: string;
  readonly killer: string | number | null;
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
  readonly #seeds: readonly number[];
  readonly #files: TestFile[] = [];
  readonly #bySeed = new Map<number, Met>();
  #atLoad: Met = {};

  constructor(seeds: readonly number[]) {
    this.#seeds = seeds;
  }

  /** Learns what tests and seeds come upon. */
  async measure(lanes: readonly JudgeLane[], progress: (done: number, of: number) => void): Promise<void> {
    const waiting: ((lane: JudgeLane) => Promise<unknown>)[] = [
      async ({ units }) => {
        this.#atLoad = await metAtLoad(units.lane);
      },
      ...this.#seeds.map((seed) => async ({ simulator }: JudgeLane) => {
        this.#bySeed.set(seed, await coverageOfSeed(seed, simulator.lane));
      }),
      ...testFiles.map((file) => async ({ units }: JudgeLane) => {
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
    const parts = partsFor(this.#files, mutant, actsAtLoad);
    const all = digestOf(...parts.map(({ digest }) => digest).sort());
    const isCovered = parts.length > 0;
    const of = `${mutant.name} units`;
    const kept = this.#kept.get(of);
    const digest = parts.find(({ file }) => file === kept?.killer)?.digest ?? all;
    if (kept?.digest === digest) return { killer: kept.killer, isCovered };
    const startedAt = performance.now();
    const part = await units.killerOf(mutant, parts, actsAtLoad);
    note({ of, digest: part?.digest ?? all, killer: part?.file ?? null, ms: performance.now() - startedAt });
    return { killer: part?.file ?? null, isCovered };
  }

  async bySimulator(mutant: Mutant, { simulator }: JudgeLane): Promise<Result> {
    const actsAtLoad = isMet(this.#atLoad, mutant);
    const seeds = this.#seeds.filter((seed) => actsAtLoad || isMet(this.#bySeed.get(seed)!, mutant));
    const isCovered = seeds.length > 0;
    const of = `${mutant.name} simulator`;
    const digest = digestOf(simulatorDigest, String(this.#seeds.length));
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
