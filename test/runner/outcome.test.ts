// The exit code of a run of tests, of files with each kind of failure.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';

const folder = temporaryFolder();

const outcome = new URL('outcome.ts', import.meta.url).href;

const file = join(folder, 'one.test.mjs');
const runner = join(folder, 'runner.mjs');
writeFileSync(
  runner,
  `import { run } from 'node:test';
   import { setExitCode } from '${outcome}';
   const events = run({ files: [${JSON.stringify(file)}] });
   setExitCode(events);
   events.resume();`,
);

/** The exit code of a run of one file with this text. */
function exitCodeOf(text: string): number | null {
  writeFileSync(file, `import { after, suite, test } from 'node:test';\n${text}`);
  // In a process that runs tests itself, node:test would run none.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, [runner], { env }).status;
}

const failing = "() => { throw new Error('no') }";

for (const [name, text, expected] of [
  ['tests that pass', "test('a', () => {})", 0],
  ['a test that fails', `test('a', ${failing})`, 1],
  [
    'a suite whose hook after its tests fails',
    `suite('s', () => { test('a', () => {}); after(${failing}) })`,
    1,
  ],
  ["a suite that can't be loaded", `suite('s', async () => void (await import('./gone.mjs')))`, 1],
  ["a file that can't be loaded", "await import('./gone.mjs')", 1],
] as const)
  test(`a run of ${name} ends with ${expected}`, () => assert.equal(exitCodeOf(text), expected));
