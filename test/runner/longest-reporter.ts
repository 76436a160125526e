// A reporter for node:test: at the end it tells which files took longest, in seconds that passed while their tests ran.

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const root = new URL('../..', import.meta.url).pathname;
const filesMax = 30;

export default async function* longestReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seconds = new Map<string, number>();
  for await (const { type, data } of source) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0 || data.file === undefined)
      continue;
    // Of a file that shares a process there is a suite, with its name.
    const file = data.name.endsWith('.test.ts') ? data.name : relative(root, data.file);
    seconds.set(file, (seconds.get(file) ?? 0) + data.details.duration_ms / 1000);
  }
  const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, filesMax);
  const lines = longest.map(([file, took]) => `${took.toFixed(1).padStart(7)}  ${file}\n`);
  yield `The files that took longest, in seconds:\n${lines.join('')}`;
}
