// Runs the tests: all, or the files and with the options of node:test that are named. Their processes get modules that were
// prepared once (prepare-modules.ts), and where all tests run, V8 keeps what it has compiled until the end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../service.ts';
import { prepareModules } from './prepare-modules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'payments-tests-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const prepared = join(scratch, 'modules');
await prepareModules(prepared);
const env: Record<string, string | undefined> = {
  ...process.env,
  PREPARED_MODULES: prepared,
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('prepared-modules.mjs', import.meta.url).href}`,
};
const given = process.argv.slice(2);
if (given.length === 0) {
  env.NODE_COMPILE_CACHE ??= join(scratch, 'compiled');
  // The first service writes what V8 has compiled of each module when it stops, which must not hold up one that a test times.
  const service = await startService({ env: env as Record<string, string> });
  await service.stop();
}

const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${availableParallelism()}`,
    '--test-timeout=600000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./test/runner/skipped-reporter.ts',
    '--test-reporter-destination=stdout',
    ...(given.length > 0 ? given : ['test/**/*.test.ts']),
  ],
  { cwd: root, stdio: 'inherit', env },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
