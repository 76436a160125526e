// A reporter for node:test: at the end it tells which tests were skipped, each in a line of its own with the reason, so that
// nobody takes a run without a compiler or a browser for a whole one. `.ci/run` fails on a line that it does not list.

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const root = new URL('../..', import.meta.url).pathname;

export default async function* skippedReporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: string[] = [];
  for await (const { type, data } of source) {
    if (type !== 'test:pass' || data.skip === undefined) continue;
    const reason = typeof data.skip === 'string' && data.skip !== '' ? data.skip : 'no reason given';
    skipped.push(`skipped: ${relative(root, data.file ?? '')}: ${data.name}: ${reason}\n`);
  }
  yield skipped.length === 0 ? 'No test was skipped.\n' : skipped.sort().join('');
}
