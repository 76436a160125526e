// Runs the `payments` command for tests: in this process, with its output caught, or for `listen` as a process of its own.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { verifyDataFolder } from '../../../src/data-folder/verify-folder.ts';
import { runCli } from '../../../src/operator/cli/cli.ts';
import type { CliHost } from '../../../src/operator/cli/context.ts';

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command line. What it may use of the process is in `host`: nothing unless given, and there is no terminal. */
export async function runCommandLine(args: readonly string[], host: Partial<CliHost>): Promise<Printed> {
  let out = '';
  let error = '';
  const code = await runCli(args, {
    version: '0',
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      error += text;
    },
    confirm: async () => null,
    dataDir: () => assert.fail('the data folder is not needed'),
    config: () => assert.fail('the configuration is not needed'),
    cluster: () => assert.fail('no nodes are looked at'),
    certifyNode: () => assert.fail('no certificate is made'),
    serve: () => assert.fail('nothing is served'),
    examine: () => assert.fail('nothing is examined'),
    reshard: () => assert.fail('nothing is resharded'),
    compact: () => assert.fail('nothing is compacted'),
    reconcile: () => assert.fail('nothing is reconciled'),
    checkIntegrator: () => assert.fail('no integrator is checked'),
    exportFolder: () => assert.fail('nothing is exported'),
    importFolder: () => assert.fail('nothing is imported'),
    moveToPostgresql: () => assert.fail('nothing moves'),
    moveFromPostgresql: () => assert.fail('nothing moves'),
    compareWithPostgresql: () => assert.fail('nothing is compared'),
    verify: () => assert.fail('no folder is verified'),
    verifyBackup: () => assert.fail('no backup is verified'),
    backup: () => assert.fail('no backup is made'),
    openLog: () => assert.fail('no log is read'),
    truncateLog: () => assert.fail('no log is truncated'),
    restore: () => assert.fail('nothing is restored'),
    resume: () => assert.fail('nothing is resumed'),
    rollSecretsKey: () => assert.fail('no key is rolled'),
    ...host,
  });
  return { code, out, error };
}

/** `payments verify --json`: most of what it takes as a process of its own is to start. */
export function verifyCommand(dataDir: string): Promise<Printed> {
  return runCommandLine(['verify', '--json'], {
    dataDir: () => dataDir,
    verify: (folder) => verifyDataFolder(folder, () => {}),
  });
}

const entry = fileURLToPath(new URL('../../../src/main/payments.ts', import.meta.url));

interface Listening {
  /** The next object that it prints. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
  next(): Promise<any>;
  stop(): Promise<void>;
}

/** Starts `payments listen`. */
export function startListen(...args: readonly string[]): Listening {
  const child: ChildProcess = spawn(process.execPath, [entry, 'listen', ...args, '--json'], {
    env: { ...process.env, NODE_ENV: 'test' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    next: async () => JSON.parse((await lines.next()).value),
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
