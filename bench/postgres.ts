// PostgreSQL for the comparison, where it is installed: a cluster of its own in a temporary folder, with the settings
// that Debian ships (fsync and synchronous commit on), and the Fastify server in front of it.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { processSeconds } from './processor-time.ts';
import { freePort, startScript, type Target, temporaryFolder } from './targets.ts';

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

export interface PostgresTarget extends Target {
  readonly key: string;
}

/** Fastify and PostgreSQL with the service's create, retrieve, list and replay. */
export async function startPostgres(programs: string): Promise<PostgresTarget> {
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
  const server = await startScript(
    'postgres-server.ts',
    [`postgres://bench@127.0.0.1:${port}/postgres`],
    '/key',
  );
  return {
    url: server.url,
    key: await (await fetch(`${server.url}/key`)).text(),
    cpuSeconds() {
      const [ours, theirs] = [server.cpuSeconds(), processSeconds(postmaster)];
      return ours === null || theirs === null ? null : ours + theirs;
    },
    kill: () => server.kill(),
    async stop() {
      await server.stop();
      process.kill(postmaster, 'SIGINT');
      await exited;
    },
  };
}

function postmasterOf(data: string): number {
  const pid = execFileSync('head', ['-n', '1', join(data, 'postmaster.pid')], { encoding: 'utf8' });
  return Number(pid);
}
