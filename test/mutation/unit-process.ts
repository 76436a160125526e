// Runs tests of many files for one mutant after the other, and without one tells which mutants each of them comes upon. The
// sources are loaded once, a test file anew for each mutant, so that it begins with what it makes itself.

import { registerHooks } from 'node:module';
import type { Test } from './node-test.ts';
import { type Met, type Place, switchOn, takeMet } from './switch.ts';

/**
 * With a mutant tests of a file run until one fails, by their places or by their title (all where none has it); else it is measured
 * what all of them, or the sources, come upon.
 */
export type Question =
  | { readonly file: string; readonly mutant: Place | null; readonly tests: readonly number[] | string }
  | { readonly measure: string }
  | { readonly load: readonly string[] };

export interface MeasuredFile {
  /** A failure without a mutant. */
  readonly why: string;
  readonly tests: readonly {
    readonly title: string;
    readonly ms: number;
    /** Of the processor. */
    readonly busyMs: number;
  }[];
  /** By source and mutant the places of the tests that come upon it. */
  readonly met: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>>;
}

export interface Answer {
  /** The place of the test that fails; -1 where it is not known. */
  readonly failed?: number;
  readonly measured?: MeasuredFile;
  readonly met: Met;
}

const standIn = new URL('node-test.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'node:test'
      ? { url: standIn, format: 'module', shortCircuit: true }
      : next(specifier, context),
});
const { begin, collected, runTests } = await import('./node-test.ts');

const root = new URL('../..', import.meta.url);
let imports = 0;

async function testsOf(file: string): Promise<readonly Test[]> {
  begin();
  await import(new URL(`${file}?${imports++}`, root).href);
  return collected();
}

function chosenOf(all: readonly Test[], tests: readonly number[] | string): readonly Test[] {
  if (typeof tests !== 'string') return tests.map((at) => all[at]!);
  const titled = all.filter(({ name }) => name === tests);
  return titled.length > 0 ? titled : all;
}

async function failureOf(file: string, tests: readonly number[] | string): Promise<number | undefined> {
  let place = -1;
  try {
    const all = await testsOf(file);
    const began = (test: Test | null) => {
      if (test !== null) place = all.indexOf(test);
    };
    await runTests(chosenOf(all, tests), { began, ended() {} });
    return undefined;
  } catch {
    return place;
  }
}

async function measure(file: string): Promise<MeasuredFile> {
  // Once for what it loads, which stays loaded, and once for what it does itself.
  await testsOf(file);
  takeMet();
  const all = await testsOf(file);
  const tests: MeasuredFile['tests'][number][] = [];
  const titleOf = (at: number) => all[at]!.name;
  const met: Record<string, Record<number, number[]>> = {};
  const note = (places: readonly number[]) => {
    for (const [source, ids] of Object.entries(takeMet()))
      for (const id of ids) {
        met[source] ??= {};
        met[source][id] = [...new Set([...(met[source][id] ?? []), ...places])];
      }
  };
  const every = [...all.keys()];
  let [why, startedAt, busySince] = ['', performance.now(), process.cpuUsage()];
  const progress = {
    // What is between two tests may belong to any of them.
    began(test: Test | null) {
      note(every);
      if (test !== null) [startedAt, busySince] = [performance.now(), process.cpuUsage()];
    },
    ended() {
      const { user, system } = process.cpuUsage(busySince);
      note([tests.length]);
      const title = titleOf(tests.length);
      tests.push({ title, ms: performance.now() - startedAt, busyMs: (user + system) / 1000 });
    },
  };
  while (tests.length < all.length) {
    try {
      await runTests(all.slice(tests.length), progress);
    } catch (error) {
      why ||= String((error as Error | undefined)?.stack ?? error);
      const title = titleOf(tests.length);
      tests.push({ title, ms: Number.MAX_VALUE, busyMs: Number.MAX_VALUE });
    }
  }
  note(every);
  return { why, tests, met };
}

async function answer(question: Question): Promise<Answer> {
  if ('load' in question) {
    for (const file of question.load) await import(new URL(file, root).href);
    return { met: takeMet() };
  }
  if ('measure' in question) {
    switchOn(null);
    return { measured: await measure(question.measure), met: {} };
  }
  switchOn(question.mutant);
  const failed = await failureOf(question.file, question.tests);
  return failed === undefined ? { met: {} } : { failed, met: {} };
}

// What nobody has waited for comes of a test that may have ended, and after it nothing is sure here.
for (const name of ['uncaughtException', 'unhandledRejection'])
  process.on(name, () => process.send!({ failed: -1, met: {} } satisfies Answer, () => process.exit(1)));
process.on('message', async (question: Question) => {
  process.send!(await answer(question));
});
process.on('disconnect', () => process.exit());
