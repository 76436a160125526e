// Runs the tests: all, or the files and with the options of node:test that are named. What hundreds of processes would do alike
// is done once: types are taken out of the project's files (without-types.mjs), and for all tests V8 keeps what it compiles.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'payments-tests-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const withoutTypes = join(scratch, 'without-types');
const sources = glob('{src,test,bench,clients}/**/*.ts', {
  cwd: root,
  exclude: (path) => path.includes('node_modules'),
});
for await (const path of sources) {
  if (path.endsWith('.d.ts')) continue;
  const kept = join(withoutTypes, path);
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, stripTypeScriptTypes(readFileSync(join(root, path), 'utf8')));
}

const env: Record<string, string | undefined> = {
  ...process.env,
  WITHOUT_TYPES: withoutTypes,
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('without-types.mjs', import.meta.url).href}`,
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
