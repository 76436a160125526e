// Which mutants the test files and the seeds come upon, kept until a source or a test changes.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cache } from './instrument.ts';
import { SimulatorLane } from './simulator-lane.ts';
import { coverageOf, type TestFile, testFiles } from './unit-tests.ts';

export interface Covered {
  readonly files: readonly (Omit<TestFile, 'covered'> & { readonly covered: ReadonlySet<string> })[];
  /** Files that say nothing about a mutant, because they fail or take too long without one. */
  readonly left: readonly string[];
  readonly bySeed: ReadonlyMap<string, ReadonlySet<string>>;
}

interface Kept {
  readonly digest: string;
  readonly files: readonly TestFile[];
  readonly left: readonly string[];
  readonly bySeed: Readonly<Record<string, readonly string[]>>;
}

const path = join(cache, 'coverage.json');

export async function covered(digest: string, seeds: readonly number[]): Promise<Covered> {
  let kept = read();
  if (kept?.digest !== digest) {
    kept = await measure(digest, seeds);
    writeFileSync(path, JSON.stringify(kept));
  }
  return {
    files: kept.files.map((file) => ({ ...file, covered: new Set(file.covered) })),
    left: kept.left,
    bySeed: new Map(Object.entries(kept.bySeed).map(([seed, ids]) => [seed, new Set(ids)])),
  };
}

function read(): Kept | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

async function measure(digest: string, seeds: readonly number[]): Promise<Kept> {
  const lane = new SimulatorLane();
  const answer = await lane.ask({ mutant: null, seeds }, 60_000 + 5_000 * seeds.length);
  lane.end();
  if (answer === null || answer.found !== null)
    throw new Error(`The simulator finds something without a mutant: ${answer?.found ?? 'it ended'}`);
  const [waiting, files, left] = [testFiles(), [] as TestFile[], [] as string[]];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const measured = await coverageOf(file);
      if (measured === null) left.push(file);
      else files.push(measured);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return { digest, files, left: left.sort(), bySeed: answer.covered };
}
