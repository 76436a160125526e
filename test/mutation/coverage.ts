// Which mutants the tests and the seeds come upon, kept for each until it, what helps it or a source changes.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cache, digestOf, folders, readJson, root } from './instrument.ts';
import { Lane } from './lane.ts';
import type { Question as Play, Answer as Played } from './simulator-process.ts';
import type { Answer, MeasuredTest, Question } from './unit-process.ts';

/** A test that takes longer waits for real clocks, disks or processes, or plays chance: it would cost more than it tells. */
const busyMsMax = 2_000;
const longestTestMs = 8_000;
const longestFileMs = 60_000;

interface KeptFile {
  readonly digest: string;
  readonly why: string;
  readonly tests: readonly MeasuredTest[];
  readonly atLoad: readonly string[];
}

interface KeptSeeds {
  readonly digest: string;
  readonly covered: Readonly<Record<string, readonly string[]>>;
}

export interface TestFile {
  readonly file: string;
  readonly digest: string;
  readonly tests: readonly (Omit<MeasuredTest, 'covered'> & { readonly covered: ReadonlySet<string> })[];
}

export interface Coverage {
  readonly files: readonly TestFile[];
  /** What is not used, and why. */
  readonly left: readonly string[];
  /** Mutants that are come upon while sources are loaded. */
  readonly atLoad: ReadonlySet<string>;
  readonly simulatorDigest: string;
  readonly bySeed: ReadonlyMap<number, ReadonlySet<string>>;
  readonly simulatorAtLoad: ReadonlySet<string>;
}

const path = join(cache, 'coverage.json');

function textsOf(pattern: string): string[] {
  return globSync(pattern, { cwd: root })
    .sort()
    .map((file) => readFileSync(join(root, file), 'utf8'));
}

export async function coverage(sources: string, seeds: readonly number[]): Promise<Coverage> {
  const kept = readJson<{ files: Record<string, KeptFile>; seeds: KeptSeeds }>(path);
  const files = await coverageOfFiles(sources, kept?.files ?? {});
  const digest = digestOf(sources, String(seeds.length), ...textsOf('test/simulator/**/*.ts'));
  const ofSeeds =
    kept?.seeds.digest === digest ? kept.seeds : { digest, covered: await coverageOfSeeds(seeds) };
  writeFileSync(path, JSON.stringify({ files, seeds: ofSeeds }));
  const measured = Object.entries(files).map(([file, { tests, digest }]): TestFile => {
    return { file, digest, tests: tests.map((test) => ({ ...test, covered: new Set(test.covered) })) };
  });
  const left = Object.entries(files).flatMap(([file, { why, tests }]) => [
    ...(why === '' ? [] : [`${file}: ${why.split('\n', 2).join(' ')}`]),
    ...tests.flatMap((test, place) =>
      isShort(test) ? [] : [`${file}: test ${place + 1}, which takes too long`],
    ),
  ]);
  return {
    files: measured,
    left,
    atLoad: new Set(Object.values(files).flatMap(({ atLoad }) => atLoad)),
    simulatorDigest: digest,
    bySeed: new Map(seeds.map((seed) => [seed, new Set(ofSeeds.covered[seed])])),
    simulatorAtLoad: new Set(ofSeeds.covered.load),
  };
}

export function isShort({ ms, busyMs }: Pick<MeasuredTest, 'ms' | 'busyMs'>): boolean {
  return ms <= longestTestMs && busyMs <= busyMsMax;
}

async function coverageOfSeeds(seeds: readonly number[]): Promise<KeptSeeds['covered']> {
  if (seeds.length === 0) return {};
  const lane = new Lane<Play, Played>('simulator-process.ts');
  const answer = await lane.ask({ seeds }, 120_000 + 5_000 * seeds.length);
  lane.end();
  if (answer === null || answer.found !== null)
    throw new Error(`The simulator finds something without a mutant: ${answer?.what ?? 'it ended'}`);
  return answer.covered;
}

async function coverageOfFiles(
  sources: string,
  kept: Record<string, KeptFile>,
): Promise<Record<string, KeptFile>> {
  const helpers = digestOf(...textsOf(`test/{${folders}}/**/!(*.test).ts`));
  const measured: Record<string, KeptFile> = {};
  const waiting = folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root })).sort();
  const work = async () => {
    const lane = new Lane<Question, Answer>('unit-process.ts');
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const digest = digestOf(sources, helpers, readFileSync(join(root, file), 'utf8'));
      const known = kept[file];
      measured[file] = known?.digest === digest ? known : { digest, ...(await coverageOf(file, lane)) };
    }
    lane.end();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return measured;
}

async function coverageOf(file: string, lane: Lane<Question, Answer>): Promise<Omit<KeptFile, 'digest'>> {
  const answer = await lane.ask({ file, isMeasured: true }, longestFileMs);
  if (answer?.failed === null) return { why: answer.why, tests: answer.measured, atLoad: answer.atLoad };
  lane.end();
  const why = answer === null ? 'it ends the process or takes too long' : `fails: ${answer.why}`;
  return { why, tests: answer?.measured ?? [], atLoad: answer?.atLoad ?? [] };
}
