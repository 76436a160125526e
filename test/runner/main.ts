// Runs the tests: all, or the files and with the options of node:test that are named. Their processes get modules that were
// prepared once (prepare-modules.ts), and where all tests run, V8 keeps what it has compiled until the end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { leftOut, prepareServers } from '../postgresql/servers.ts';
import { largeYoungHeap } from '../service.ts';
import { longestFiles } from './longest-files.ts';
import longestReporter from './longest-reporter.ts';
import { setExitCode } from './outcome.ts';
import { prepareModules } from './prepare-modules.ts';
import { scratchFolder } from './scratch.ts';
import { sharedProcesses } from './shared-processes.ts';
import skippedReporter from './skipped-reporter.ts';
import { warmUp } from './warm-up.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = scratchFolder();
const temporary = join(scratch, 'tmp');
mkdirSync(temporary);
const prepared = join(scratch, 'modules');
const given = process.argv.slice(2);
Object.assign(process.env, { TMPDIR: temporary, TMPDIR_ON_DISK: tmpdir() });
const servers = given.length > 0 || leftOut ? undefined : prepareServers();
await prepareModules(prepared);
Object.assign(process.env, withoutCertificates(process.env), {
  PREPARED_MODULES: prepared,
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --use-openssl-ca --require="${join(import.meta.dirname, 'prepared-modules.cjs')}"`,
});
if (given.length === 0) {
  process.env.NODE_COMPILE_CACHE ??= join(scratch, 'compiled');
  await warmUp();
}
if (servers !== undefined) process.env.PREPARED_POSTGRESQL = await servers;

/**
 * What has no process that is started from here on read those certificates that Node brings, or that the machine names, which
 * takes a process with OpenSSL a fortieth of a second: no test meets an authority that any of them knows. Only npm may go elsewhere.
 */
function withoutCertificates({ NODE_EXTRA_CA_CERTS: extra, SSL_CERT_FILE: file }: NodeJS.ProcessEnv) {
  const named = extra || file;
  return {
    SSL_CERT_FILE: '/dev/null',
    SSL_CERT_DIR: '/dev/null',
    NODE_EXTRA_CA_CERTS: '',
    ...(named && { npm_config_cafile: named }),
  };
}

const timeout = 600_000;
/** More than there are processors, because most files also wait: for a timer, or for the end of a process. */
const concurrency = 3 * availableParallelism();

/** Runs what is named by the command line of node:test, whose options may be among it. */
async function runNamed(): Promise<void> {
  const options = [
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${timeout}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./test/runner/skipped-reporter.ts',
    '--test-reporter-destination=stdout',
  ];
  const child = spawn(process.execPath, ['--test', ...options, ...given], {
    cwd: root,
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
}

/** Runs every file, the longest first: the command line of node:test would sort them by their names. */
async function runAll(): Promise<void> {
  const found = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const gone = longestFiles.filter((file) => !found.includes(file));
  if (gone.length > 0)
    throw new Error(`test/runner/longest-files.ts names files that are gone: ${gone.join(', ')}`);
  const others = found.filter((file) => !longestFiles.includes(file));
  const files = [...longestFiles.map((file) => join(root, file)), ...sharedProcesses(others, root, scratch)];
  process.chdir(root);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort());
  const { signal } = ending;
  const execArgv = [largeYoungHeap, `--test-timeout=${timeout}`];
  const events = run({ files, concurrency, timeout, execArgv, signal });
  // Each reporter listens to the end several times.
  events.setMaxListeners(30);
  setExitCode(events);
  for (const reporter of [new spec(), longestReporter, skippedReporter])
    events.compose<NodeJS.ReadWriteStream>(reporter as never).pipe(process.stdout);
}

await (given.length > 0 ? runNamed() : runAll());
