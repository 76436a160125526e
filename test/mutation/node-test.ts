// Stands in for node:test in a process that runs the tests of many files for one mutant after the other: it collects the tests of
// a file and runs those that are asked for, until one fails. It has what the tests measured by mutants use, and no more.

import type { TestContext, TestOptions } from 'node:test';

type Body = (context: TestContext) => unknown;
type Hook = () => unknown;
type Hooks = Record<'before' | 'after' | 'beforeEach' | 'afterEach', Hook[]>;

interface Suite extends Hooks {
  /** Those that it is in, from the outermost, and itself. */
  readonly chain: readonly Suite[];
}

export interface Test {
  readonly name: string;
  readonly suite: Suite;
  readonly body: Body;
}

function suiteIn(chain: readonly Suite[]): Suite {
  const inner: Suite[] = [...chain];
  const suite = { before: [], after: [], beforeEach: [], afterEach: [], chain: inner };
  inner.push(suite);
  return suite;
}

let suite = suiteIn([]);
let tests: Test[] = [];
/** What the test that runs has said to do after it. */
let endsOfRunning: Hook[] | null = null;

/** Forgets what the file before has. */
export function begin(): void {
  suite = suiteIn([]);
  tests = [];
}

/** What the file that was imported since `begin` has. */
export function collected(): readonly Test[] {
  return tests;
}

function partsOf<T>(options: TestOptions | T, body: T | undefined): [TestOptions, T] {
  return body === undefined ? [{}, options as T] : [options as TestOptions, body];
}

export function test(name: string, options: TestOptions | Body, body?: Body): void {
  const [{ skip }, run] = partsOf(options, body);
  if (skip === undefined || skip === false) tests.push({ name, suite, body: run });
}

export function describe(_name: string, options: TestOptions | Hook, body?: Hook): void {
  const [{ skip }, fill] = partsOf(options, body);
  if (skip !== undefined && skip !== false) return;
  const outer = suite;
  suite = suiteIn(outer.chain);
  fill();
  suite = outer;
}

export const before = (hook: Hook): void => void suite.before.push(hook);
export const after = (hook: Hook): void => void (endsOfRunning ?? suite.after).push(hook);
export const beforeEach = (hook: Hook): void => void suite.beforeEach.push(hook);
export const afterEach = (hook: Hook): void => void suite.afterEach.push(hook);

export interface Progress {
  /** Called before what belongs to a test, or with null before what belongs to several. */
  began(test: Test | null): void;
  ended(test: Test): void;
}

/** Runs the tests in their order. Throws what the first one that fails throws. */
export async function runTests(some: readonly Test[], { began, ended }: Progress): Promise<void> {
  const open: Suite[] = [];
  const leave = async (staying: readonly Suite[]) => {
    while (open.length > 0 && !staying.includes(open.at(-1)!))
      for (const hook of open.pop()!.after) await hook();
  };
  try {
    for (const each of some) {
      const { chain } = each.suite;
      began(null);
      await leave(chain);
      for (const entered of chain.slice(open.length)) {
        open.push(entered);
        for (const hook of entered.before) await hook();
      }
      began(each);
      await runOne(each, chain);
      ended(each);
    }
  } finally {
    began(null);
    await leave([]);
  }
}

async function runOne({ name, body }: Test, chain: readonly Suite[]): Promise<void> {
  const ends: Hook[] = chain.toReversed().flatMap(({ afterEach }) => afterEach);
  endsOfRunning = ends;
  const { mock } = process.getBuiltinModule('node:test');
  ends.push(() => mock.reset());
  const context = {
    name,
    mock,
    after: (hook: Hook) => ends.push(hook),
    diagnostic() {},
    skip() {},
  } as unknown as TestContext;
  try {
    for (const { beforeEach } of chain) for (const hook of beforeEach) await hook();
    await body(context);
  } finally {
    endsOfRunning = null;
    for (const hook of ends) await hook();
  }
}
