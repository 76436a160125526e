// The entry of the command `payments`: it gives the command line the configuration and the service,
// which is loaded only to be run, so that the other commands start quickly.

import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { describeConfig, environmentOf, loadConfig } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { databasesOf } from '../config/postgresql.ts';
import { ConfigError } from '../config/settings.ts';
import { runCli } from '../operator/cli/cli.ts';
import type { CliHost } from '../operator/cli/context.ts';
import { exitCodes } from '../operator/cli/exit-codes.mjs';
import { CommandFailure } from '../operator/use-cases/failures.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));

function readConfig(dataDir: string | undefined): Config {
  const given = dataDir === undefined ? {} : { PAYMENTS_DATA_DIR: dataDir };
  return loadConfig({ ...process.env, ...given }, configDir);
}

function configFor(dataDir: string | undefined): Config {
  try {
    return readConfig(dataDir);
  } catch (error) {
    throw error instanceof ConfigError ? new CommandFailure(error.message) : error;
  }
}

async function confirm(question: string): Promise<boolean | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The end of the input is no confirmation.
    const ended = once(terminal, 'close').then(() => '');
    const answer = await Promise.race([terminal.question(question), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/**
 * Shows the progress of a long command in one line of the terminal; without a terminal, nothing.
 */
function showProgress(what: string, done: number, total: number): void {
  if (!process.stderr.isTTY) return;
  const share = total === 0 ? `${done}` : `${Math.floor((100 * Math.min(done, total)) / total)} %`;
  process.stderr.write(`\r\x1b[K${what}: ${share}`);
}

/** Removes the line. */
function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

const host: CliHost = {
  version: manifest.version,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  confirm,
  dataDir: (given) => given ?? configFor(undefined).dataDir,
  config: (dataDir) => describeConfig(configFor(dataDir)),
  async serve(dataDir, acceptLoss) {
    const { serve } = await import('./main.ts');
    await serve(configFor(dataDir), () => readConfig(dataDir), acceptLoss);
  },
  async examine(dataDir) {
    const { examineStopped } = await import('../health/examine-stopped.ts');
    return examineStopped(configFor(dataDir), environmentOf(process.env));
  },
  async reshard(dataDir, shards) {
    const { reshardStopped } = await import('../data-folder/reshard.ts');
    return reshardStopped(configFor(dataDir), shards);
  },
  async openLog(place) {
    const { openLogAt } = await import('../backup/log-folders.ts');
    return openLogAt(place);
  },
  async truncateLog(dataDir, truncation) {
    const { truncateStopped } = await import('../data-folder/truncate-log.ts');
    return truncateStopped(configFor(dataDir), truncation);
  },
  async verify(dataDir) {
    const { verifyDataFolder } = await import('../data-folder/verify-folder.ts');
    return verifyDataFolder(dataDir, showProgress).finally(endProgress);
  },
  async verifyBackup(backup) {
    const { verifyBackup } = await import('../backup/restore-command.ts');
    return verifyBackup(configFor(undefined), backup, showProgress).finally(endProgress);
  },
  async backup(dataDir, options) {
    const { backUpConfigured } = await import('../backup/backup-command.ts');
    return backUpConfigured(configFor(dataDir), options, showProgress).finally(endProgress);
  },
  async reconcile(options) {
    const { reconcile } = await import('../operator/reconciliation/reconcile.ts');
    const onDifference: typeof options.onDifference = (difference) => {
      endProgress();
      options.onDifference(difference);
    };
    return reconcile({ ...options, onDifference, onProgress: showProgress }).finally(endProgress);
  },
  async checkIntegrator(url, secret, methods) {
    const { createSend } = await import('../threads/networks.ts');
    const { checkIntegrator } = await import('../networks/http-conformance.ts');
    const integrator = { url, secret, send: createSend(configFor(undefined)), now: Date.now };
    return checkIntegrator(integrator, methods);
  },
  async compact(dataDir) {
    const { compactDataFolder } = await import('../data-folder/compact-folder.ts');
    return compactDataFolder(dataDir, showProgress).finally(endProgress);
  },
  async exportFolder(dataDir, to) {
    const { exportDataFolder } = await import('../data-folder/export-folder.ts');
    return exportDataFolder(dataDir, to, showProgress).finally(endProgress);
  },
  async moveToPostgresql(dataDir) {
    const { moveToPostgresql } = await import('../data-folder/postgresql-folder.ts');
    return moveToPostgresql(configFor(dataDir), showProgress).finally(endProgress);
  },
  async moveFromPostgresql(dataDir) {
    const { moveFromPostgresql } = await import('../data-folder/postgresql-folder.ts');
    return moveFromPostgresql(configFor(dataDir), showProgress).finally(endProgress);
  },
  async compareWithPostgresql(dataDir) {
    const { compareWithPostgresql } = await import('../data-folder/postgresql-folder.ts');
    return compareWithPostgresql(configFor(dataDir), showProgress).finally(endProgress);
  },
  async cluster(dataDir) {
    const { clusterOf } = await import('../operator/use-cases/cluster.ts');
    return clusterOf(databasesOf(configFor(dataDir)));
  },
  async certifyNode(folder, node) {
    const { certifyNode } = await import('../operator/use-cases/certify-node.ts');
    return certifyNode(folder, node, new Date());
  },
  async importFolder(from, dataDir, shards) {
    const { importDataFolder } = await import('../data-folder/import-folder.ts');
    return importDataFolder({ from, dataDir, shards, onProgress: showProgress }).finally(endProgress);
  },
  async restore(command) {
    const { restoreInto } = await import('../backup/restore-command.ts');
    return restoreInto(configFor(undefined), command, showProgress).finally(endProgress);
  },
  async resume(dataDir) {
    const { resumeStopped } = await import('../backup/restore-command.ts');
    return resumeStopped(configFor(dataDir));
  },
  async rollSecretsKey(dataDir) {
    const { rollSecretsKey } = await import('../data-folder/roll-secrets-key.ts');
    return rollSecretsKey(configFor(dataDir), environmentOf(process.env));
  },
};

// When the launcher is killed, this process must end, too; otherwise it would keep the port and the
// data folder. The launcher may have been killed while this process loaded its files.
const endAtOnce = () => void process.kill(process.pid, 'SIGKILL');
if (process.connected === false) endAtOnce();
process.once('disconnect', endAtOnce);
process.channel?.unref();

// A process that ends before the command has ended has crashed, and so has one whose command nobody
// waits for any more.
let isOver = false;
process.once('exit', () => {
  if (!isOver) process.exitCode = exitCodes.crashed;
});

function end(code: number): void {
  isOver = true;
  process.exit(code);
}

// The reader of the output may close it early, as `head` does.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
  end(code === 'EPIPE' ? exitCodes.done : exitCodes.failed),
);
process.exitCode = await runCli(process.argv.slice(2), host);
isOver = true;
