// Runs tests of many files for one mutant after the other, and without one tells which mutants each of them comes upon. The
// sources are loaded once, a test file anew for each mutant, so that it begins with what it makes itself.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from './node-test.ts';
import { count, switchOn } from './switch.ts';

/** With a mutant its tests run until one fails; without one it is measured what they come upon. */
export interface Question {
  readonly file: string;
  readonly mutant?: string;
  /** Places in the order of the file; all where there are none. */
  readonly tests?: readonly number[];
  readonly isMeasured?: boolean;
}

export interface MeasuredTest {
  readonly ms: number;
  /** Of the processor. */
  readonly busyMs: number;
  readonly covered: readonly string[];
}

export interface Answer {
  /** The place of the test that fails, and why; -1 where it is not known. */
  readonly failed: number | null;
  readonly why: string;
  readonly measured: readonly MeasuredTest[];
  /** What was come upon while sources were loaded. */
  readonly atLoad: readonly string[];
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
const folder = mkdtempSync(join(tmpdir(), 'payments-mutation-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let imports = 0;

/** What processes and threads that a test has started, and that have ended, have come upon. */
function coveredElsewhere(): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const ids: string[] = JSON.parse(readFileSync(path, 'utf8'));
    rmSync(path);
    return ids;
  });
}

async function testsOf(file: string): Promise<readonly Test[]> {
  begin();
  await import(new URL(`${file}?${imports++}`, root).href);
  return collected();
}

const failedAt = (place: number, error: unknown) => ({
  failed: place,
  why: String((error as Error | undefined)?.stack ?? error),
});

async function run({ file, mutant, tests }: Question): Promise<Answer> {
  switchOn(mutant);
  let current = 0;
  try {
    const all = await testsOf(file);
    const some = all.filter((_, place) => tests?.includes(place) ?? true);
    const began = (test: Test | null) => {
      if (test !== null) current = all.indexOf(test);
    };
    await runTests(some, { began, ended() {} });
  } catch (error) {
    return { ...failedAt(current, error), measured: [], atLoad: [] };
  }
  return { failed: null, why: '', measured: [], atLoad: [] };
}

async function measure({ file }: Question): Promise<Answer> {
  switchOn(undefined);
  const [atLoad, ofAll] = [new Set<string>(), new Set<string>()];
  process.env.MUTATION_COVERAGE = folder;
  // Once for what it loads, which stays loaded, and once for what it does itself.
  count(atLoad);
  await testsOf(file);
  count(ofAll);
  const tests = await testsOf(file);
  const measured: MeasuredTest[] = [];
  let why = '';
  while (measured.length < tests.length) {
    try {
      await measureFrom(tests, measured, ofAll);
    } catch (error) {
      why = failedAt(measured.length, error).why;
      measured.push({ ms: Number.MAX_VALUE, busyMs: Number.MAX_VALUE, covered: [] });
    }
  }
  count(null);
  delete process.env.MUTATION_COVERAGE;
  const shared = [...ofAll, ...coveredElsewhere()];
  const each = measured.map((test) => ({ ...test, covered: [...new Set([...test.covered, ...shared])] }));
  return { failed: null, why, measured: each, atLoad: [...atLoad].filter((id) => !ofAll.has(id)) };
}

/** Those that follow what is measured, until one fails. */
async function measureFrom(
  tests: readonly Test[],
  measured: MeasuredTest[],
  ofAll: Set<string>,
): Promise<void> {
  let [covered, startedAt, busySince] = [ofAll, performance.now(), process.cpuUsage()];
  await runTests(tests.slice(measured.length), {
    began(test) {
      covered = test === null ? ofAll : new Set();
      count(covered);
      [startedAt, busySince] = [performance.now(), process.cpuUsage()];
    },
    ended() {
      const ms = performance.now() - startedAt;
      const { user, system } = process.cpuUsage(busySince);
      const ids = [...covered, ...coveredElsewhere()];
      measured.push({ ms, busyMs: (user + system) / 1000, covered: ids });
    },
  });
}

// What nobody has waited for comes of a test that may have ended, and after it nothing is sure here.
for (const name of ['uncaughtException', 'unhandledRejection'])
  process.on(name, (error) => {
    process.send!({ ...failedAt(-1, error), measured: [], atLoad: [] }, () => process.exit(1));
  });
process.on('message', async (question: Question) => {
  process.send!(await (question.isMeasured ? measure(question) : run(question)));
});
process.on('disconnect', () => process.exit());
