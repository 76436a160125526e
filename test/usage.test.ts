// The commands that say how they are used.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { usageIn } from './usage.ts';

const run = promisify(execFile);

for (const [file, line] of [
  ['simulator/main.ts', 'npm run simulate -- --seeds 1..2000       many; stops at the first finding'],
  ['mutation/main.ts', 'npm run mutate -- --sample 40             so many of each folder'],
] as const)
  test(`${file} names its options, and does nothing else, with --help`, async () => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, file), '--help']);
    assert(stdout.split('\n').includes(`  ${line}`), stdout);
    assert(!stdout.includes('import'));
  });

test('the usage is the comment that a file begins with', () => {
  assert.equal(
    usageIn('// A command.\n//\n//   run --all   all\n\nrun();\n// Not this.\n'),
    'A command.\n\n  run --all   all\n',
  );
  assert.equal(usageIn('run();\n'), '');
});
