// What kills a mutant. It is kept until the tests change, and tried first after that.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Coverage } from './coverage.ts';
import { cache, digestOf, type Mutant, readJson } from './instrument.ts';
import { SimulatorLane } from './simulator-lane.ts';
import { UnitLane, UnitTests } from './unit-tests.ts';

export interface Result {
  /** The test file that fails. */
  readonly units: string | null;
  /** The seed that finds it. */
  readonly simulator: number | null;
  readonly isCovered: boolean;
}

interface Kept extends Result {
  /** Of all unit tests, or of the file that fails. */
  readonly unitsDigest: string;
  readonly simulatorDigest: string;
}

const path = join(cache, 'results.json');

export class Judge {
  readonly #coverage: Coverage;
  readonly #units: UnitTests;
  readonly #digests: ReadonlyMap<string, string>;
  readonly #allUnits: string;
  readonly #kept = readJson<Record<string, Kept>>(path) ?? {};

  constructor(coverage: Coverage) {
    this.#coverage = coverage;
    this.#units = new UnitTests(coverage.files);
    this.#digests = new Map(coverage.files.map(({ file, digest }) => [file, digest]));
    this.#allUnits = digestOf(...[...this.#digests.values()].sort());
  }

  save(): void {
    writeFileSync(path, JSON.stringify(this.#kept));
  }

  lane() {
    const [units, simulator] = [new UnitLane(), new SimulatorLane()];
    return {
      judge: async (mutant: Mutant): Promise<Result> => {
        const kept = this.#kept[mutant.name];
        const ofUnits = await this.#ofUnits(mutant, kept, units);
        const ofSimulator = await this.#ofSimulator(mutant, kept, simulator);
        this.#kept[mutant.name] = {
          ...ofUnits,
          ...ofSimulator,
          isCovered: ofUnits.isCovered || ofSimulator.isCovered,
        };
        return this.#kept[mutant.name]!;
      },
      end: () => {
        units.end();
        simulator.end();
      },
    };
  }

  async #ofUnits(mutant: Mutant, kept: Kept | undefined, lane: UnitLane) {
    const actsAtLoad = this.#coverage.atLoad.has(mutant.id);
    const digestOfKiller = (file: string | null) =>
      file === null ? this.#allUnits : this.#digests.get(file)!;
    const parts = this.#units.partsFor(mutant, actsAtLoad, kept?.units ?? null);
    const isKnown = kept !== undefined && kept.unitsDigest === digestOfKiller(kept.units);
    const units = isKnown ? kept.units : await lane.killerOf(mutant, parts, actsAtLoad);
    return { units, unitsDigest: digestOfKiller(units), isCovered: parts.length > 0 };
  }

  async #ofSimulator(mutant: Mutant, kept: Kept | undefined, lane: SimulatorLane) {
    const { simulatorAtLoad, simulatorDigest, bySeed } = this.#coverage;
    const actsAtLoad = simulatorAtLoad.has(mutant.id);
    const last = kept?.simulator ?? null;
    const seeds = [...bySeed].flatMap(([seed, ids]) => (actsAtLoad || ids.has(mutant.id) ? [seed] : []));
    seeds.sort((a, b) => Number(b === last) - Number(a === last) || a - b);
    const isKnown = kept?.simulatorDigest === simulatorDigest;
    const simulator = isKnown ? kept.simulator : await lane.killerOf(mutant.id, seeds, actsAtLoad);
    return { simulator, simulatorDigest, isCovered: seeds.length > 0 };
  }
}
