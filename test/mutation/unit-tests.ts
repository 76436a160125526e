// Whether a unit test fails for a mutant.

import type { TestFile } from './coverage.ts';
import type { Mutant } from './instrument.ts';
import { closureOf } from './kept.ts';
import { Lane } from './lane.ts';
import type { Place } from './switch.ts';
import type { Answer, Question } from './unit-process.ts';

export interface Part {
  readonly file: string;
  readonly digest: string;
  readonly places: readonly number[];
  readonly ms: number;
}

export interface Killer {
  readonly file: string;
  /** Of the test that fails; empty where the process ended, or took too long. */
  readonly title: string;
}

/** No test has this title, so all of a file are tried. */
const everyTest = '';

/** A test that takes longer waits for real clocks or disks, or plays chance. */
const busyMsMax = 2_000;
const testMsMax = 10_000;
/**
 * All tests that are tried for a mutant take no more of the processor without it, so that each mutant's time is bounded, and others
 * who use the machine change little of what is tried.
 */
const mutantBusyMsMax = 8_000;

/** The tests that may fail for the mutant, file by file: those of its own folder first, and then those that take less time. */
export function partsFor(files: readonly TestFile[], mutant: Mutant, actsAtLoad: boolean): Part[] {
  const own = `test/${mutant.file.split('/')[1]}/`;
  const isOwn = ({ file }: TestFile) => Number(file.startsWith(own));
  const tests = files.flatMap((file) => {
    const isLoaded = actsAtLoad && closureOf(file.file).includes(mutant.file);
    const places = isLoaded ? file.tests.keys() : (file.met[mutant.file]?.[mutant.id] ?? []);
    return Array.from(places, (at) => ({ of: file, at, ...file.tests[at]! }));
  });
  let leftMs = mutantBusyMsMax;
  const taken = tests
    .filter(({ ms, busyMs }) => ms <= testMsMax && busyMs <= busyMsMax)
    .sort((a, b) => isOwn(b.of) - isOwn(a.of) || a.busyMs - b.busyMs)
    .filter(({ busyMs }) => {
      leftMs -= busyMs;
      return leftMs >= 0;
    });
  return Array.from(
    Map.groupBy(taken, ({ of }) => of),
    ([{ file, digest }, some]) => ({
      file,
      digest,
      places: some.map(({ at }) => at).sort((a, b) => a - b),
      ms: some.reduce((sum, { ms }) => sum + ms, 0),
    }),
  );
}

export class UnitLane {
  readonly lane = new Lane<Question, Answer>('unit-process.ts');

  /** The first part with a test that fails for the mutant and passes without it, and its place; null where none does. */
  async killerOf(
    { file, id }: Mutant,
    parts: readonly Part[],
    actsAtLoad: boolean,
  ): Promise<{ readonly part: Part; readonly failed: number } | null> {
    const mutant = { file, id };
    if (actsAtLoad) this.lane.begin(mutant);
    for (const part of parts) {
      const answer = await this.#try(part, mutant);
      if (isPassed(answer)) continue;
      if (await this.#isSound(part, mutant, answer, actsAtLoad))
        return { part, failed: answer?.failed ?? -1 };
      if (actsAtLoad) this.lane.begin(mutant);
    }
    if (actsAtLoad) this.lane.end();
    return null;
  }

  /** Whether what killed the mutant kills it still: the test, or another one of its file. */
  async isKilledBy(
    { file: source, id }: Mutant,
    { file, title }: Killer,
    actsAtLoad: boolean,
  ): Promise<boolean> {
    const mutant = { file: source, id };
    const ask = (tests: string, on: Place | null) => this.lane.ask({ file, tests, mutant: on }, 20_000);
    if (!actsAtLoad && !isPassed(await ask(title, mutant)) && isPassed(await ask(title, null))) return true;
    // In a new process, in which the mutants before have left nothing behind.
    this.lane.begin(mutant);
    for (const tests of [title, everyTest]) {
      if (isPassed(await ask(tests, mutant))) continue;
      this.lane.end();
      const isSound = isPassed(await ask(tests, null));
      if (isSound) return true;
      this.lane.begin(mutant);
    }
    this.lane.end();
    return false;
  }

  /**
   * The mutant before may have left something behind that the tests fail of, or the machine may be too busy for them: then they
   * fail in a new process only if they should, and without the mutant they pass in one as well.
   */
  async #isSound(part: Part, mutant: Place, answer: Answer | null, actsAtLoad: boolean): Promise<boolean> {
    const failed = answer?.failed ?? -1;
    if (!actsAtLoad && failed >= 0 && isPassed(await this.#try({ ...part, places: [failed] }, null)))
      return true;
    this.lane.begin(mutant);
    const again = await this.#try(part, mutant);
    this.lane.end();
    return !isPassed(again) && isPassed(await this.#try(part, null));
  }

  #try({ file, places, ms }: Part, mutant: Place | null): Promise<Answer | null> {
    return this.lane.ask({ file, tests: places, mutant }, 5_000 + 4 * ms);
  }
}

function isPassed(answer: Answer | null): boolean {
  return answer !== null && answer.failed === undefined;
}
