// PostgreSQL for the comparison, where it is installed: a cluster of its own in a temporary folder, with the settings
// that Debian ships (fsync and synchronous commit on), the Fastify server in front of it, and the worker that delivers webhooks.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../test/free-port.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { processSeconds } from './processor-time.ts';
import { caFile } from './receiver.ts';
import { type PaymentsTarget, startScript, startWorker } from './targets.ts';

const packages = '/usr/lib/postgresql';
const readyMsMax = 20_000;

/** Where the programs of the newest installed version lie; null when there is none. */
export function postgresPrograms(): string | null {
  const versions = existsSync(packages)
    ? readdirSync(packages)
        .map(Number)
        .sort((a, b) => b - a)
    : [];
  const folder = versions
    .map((version) => join(packages, String(version), 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  return folder ?? null;
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package has made. */
function asItsUser(program: string, args: readonly string[]): [string, string[]] {
  return process.getuid?.() === 0
    ? ['runuser', ['-u', 'postgres', '--', program, ...args]]
    : [program, [...args]];
}

const settledPollMs = 250;

/** Fastify and PostgreSQL with the service's payments, lists and webhooks. */
export async function startPostgres(programs: string): Promise<PaymentsTarget> {
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  const data = join(folder, 'data');
  const [initdb, initArgs] = asItsUser(join(programs, 'initdb'), [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'bench',
    '-N',
  ]);
  execFileSync(initdb, initArgs, { stdio: 'ignore' });
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const [postgres, args] = asItsUser(join(programs, 'postgres'), [
    '-D',
    data,
    ...settings.flatMap((each) => ['-c', each]),
  ]);
  const child = spawn(postgres, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  process.on('exit', () => child.kill('SIGQUIT'));
  const check = asItsUser(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port), '-q']);
  for (const deadline = performance.now() + readyMsMax; ; await wait(100)) {
    try {
      execFileSync(...check);
      break;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
  const postmaster = postmasterOf(data);
  const target = await startFastify(`postgres://bench@127.0.0.1:${port}/postgres`, {
    PostgreSQL: postmaster,
  });
  return {
    ...target,
    async stop() {
      await target.stop();
      process.kill(postmaster, 'SIGINT');
      await exited;
    },
  };
}

/** Fastify in front of a PostgreSQL that runs, and its worker. `others`: processes whose time is counted in. */
export async function startFastify(
  connection: string,
  others: Readonly<Record<string, number>>,
): Promise<PaymentsTarget> {
  const server = await startScript('postgres-server.ts', [connection], '/waiting');
  const worker = startWorker('postgres-deliveries.ts', [connection, caFile]);
  const answer = async (path: string) => (await fetch(server.url + path)).text();
  const processes = { Fastify: server.pid, 'delivery worker': worker.pid, ...others };
  const secondsOf = (pid: number) => processSeconds(pid) ?? Number.NaN;
  return {
    url: server.url,
    newKey: () => answer('/key'),
    cpuSeconds: () => Object.values(processes).reduce((sum, pid) => sum + secondsOf(pid), 0),
    threads: async () =>
      Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, secondsOf(pid)])),
    bytes: async () => Number(await answer('/bytes')),
    async settled() {
      while ((await answer('/waiting')) !== '0') await wait(settledPollMs);
    },
    kill: () => server.kill(),
    async stop() {
      await worker.stop();
      await server.stop();
    },
  };
}

function postmasterOf(data: string): number {
  const pid = execFileSync('head', ['-n', '1', join(data, 'postmaster.pid')], { encoding: 'utf8' });
  return Number(pid);
}
