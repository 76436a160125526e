// Which mutants the tests and the seeds come upon, kept for each test file and each seed until it or what it imports changes.

import { globSync } from 'node:fs';
import { folders, type Mutant, mutatedFiles } from './instrument.ts';
import { closureOf, digestOf, kept, root, textOf } from './kept.ts';
import type { Lane } from './lane.ts';
import type { Question as Play, Answer as Played } from './simulator-process.ts';
import type { Met, Place } from './switch.ts';
import type { Answer, MeasuredFile, Question } from './unit-process.ts';

/** What starts the service in a process of its own, where no mutant is on. */
const startsService = (file: string) => closureOf(file).includes('test/service.ts');
/** They start other processes, need PostgreSQL for long, or play chance: they would cost more than they tell. */
const leftOut = [
  'test/domain/model.test.ts',
  'test/journal/crash.test.ts',
  'test/networks/cmi/renamed-fields.test.ts',
  'test/postgresql/connection.test.ts',
  'test/postgresql/engine.test.ts',
  'test/threads/blocking-pool.test.ts',
  'test/threads/loaded-at-start.test.ts',
  'test/threads/stripped-sources.test.ts',
];
/** What lies next to the folders with mutants in them: what they write on the disk. */
const testFolders = [...folders, 'disk'];
const longestFileMs = 60_000;

export interface TestFile extends MeasuredFile {
  readonly file: string;
  /** Of the tests alone, whatever sources they import. */
  readonly digest: string;
}

export const testFiles = testFolders
  .flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root }))
  .filter((file) => !leftOut.includes(file) && !startsService(file))
  .sort();

/** Of the digest belongs what makes the mutants, since they are known by their places in the order of a file. */
function digestOfAll(paths: readonly string[]): string {
  const makers = ['mutators.ts', 'instrument.ts', 'switch.ts', 'unit-process.ts'];
  return digestOf(...[...paths, ...makers.map((name) => `test/mutation/${name}`)].map(textOf));
}

export async function coverageOfFile(file: string, lane: Lane<Question, Answer>): Promise<TestFile> {
  const closure = closureOf(file);
  const measured = await kept(`coverage/${file}`, digestOfAll(closure), async () => {
    const ask = async () => (await lane.ask({ measure: file }, longestFileMs))?.measured;
    let measured = await ask();
    if (measured === undefined) {
      // What a file before has left behind may have ended the process.
      lane.end();
      measured = await ask();
    }
    return measured ?? { why: 'it ends the process or takes too long', tests: [], met: {} };
  });
  return {
    file,
    digest: digestOf(...closure.filter((path) => path.startsWith('test/')).map(textOf)),
    ...measured,
  };
}

/** Mutants that are come upon while the sources are loaded. */
export async function metAtLoad(lane: Lane<Question, Answer>): Promise<Met> {
  return kept('coverage/load', digestOfAll(mutatedFiles), async () => {
    const answer = await lane.ask({ load: mutatedFiles }, longestFileMs);
    if (answer === null) throw new Error('The sources with mutants in them cannot be loaded.');
    return answer.met;
  });
}

const simulator = ['run.ts', 'plan.ts', 'stand-ins.ts'].flatMap((name) =>
  closureOf(`test/simulator/${name}`),
);
export const simulatorDigest = digestOf(...simulator.filter((path) => path.startsWith('test/')).map(textOf));

export async function coverageOfSeed(seed: number, lane: Lane<Play, Played>): Promise<Met> {
  return kept(`coverage/seed-${seed}`, digestOfAll(simulator), async () => {
    const answer = await lane.ask({ seeds: [seed], mutant: null }, longestFileMs);
    if (answer === null || answer.found !== null)
      throw new Error(`Seed ${seed} finds something without a mutant: ${answer?.what ?? 'it ended'}`);
    return answer.met;
  });
}

export function isMet(met: Met, { file, id }: Pick<Mutant, keyof Place>): boolean {
  return met[file]?.includes(id) ?? false;
}
