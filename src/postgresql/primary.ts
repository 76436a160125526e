// A connection to the primary among several servers. One owner or reader uses it alone, and never
// again after an error: that one then begins anew with another.

import pg from 'pg';
import type { Timers } from '../core/scheduler.ts';
import { type JournalAddress, nameOf, type PostgresHost } from './journal-url.ts';

export interface PostgresOptions {
  readonly address: JournalAddress;
  /** Null: PGPASSWORD, if that is set. */
  readonly password: string | null;
  /** The certificates that are trusted, PEM; null: the connection is not encrypted. */
  readonly ca: string | null;
  readonly timers: Timers;
  /** Aborted when nobody waits for a server any more. */
  readonly closing?: AbortSignal;
}

const connectMs = 2_000;
/**
 * A node that stands still within a transaction keeps its locks, for which the others wait, for so
 * long. Then the server ends the connection, which it would otherwise keep for hours.
 */
const idleMs = 2_000;
/**
 * By these the server notices that a node was cut off. Otherwise it would keep its connections for
 * two hours, or for a quarter of one where an answer is on its way. It has room for few, and a node
 * that is back needs new ones.
 */
const [keepAliveSeconds, keepAlivesMax] = [10, 3];

const nodesChannel = 'payments_nodes';
/**
 * A column that a statement returns: with it all nodes are told to look at once at what they look
 * at every second otherwise.
 */
export const tellNodes = `pg_notify('${nodesChannel}', '')`;

export class Primary {
  readonly client: pg.Client;
  readonly host: PostgresHost;
  /** It grows by one with each promotion. */
  readonly timeline: number;
  /** What no other database of any server has. */
  readonly database: string;
  #reason: Error | null = null;
  #warning: string | null = null;

  private constructor(client: pg.Client, host: PostgresHost, timeline: number, database: string) {
    this.client = client;
    this.host = host;
    this.timeline = timeline;
    this.database = database;
    client.on('notice', ({ severity, message }) => {
      if (severity !== 'NOTICE' && severity !== 'INFO') this.#warning ??= `${severity}: ${message}`;
    });
  }

  /** The server at `host` if it takes writes; else why it does not. */
  static async at(host: PostgresHost, options: PostgresOptions): Promise<Primary | string> {
    const client = clientFor(host, options);
    // It may end before anybody waits for it.
    client.on('error', () => {});
    // A server that stands still answers nothing, at any step.
    const cancel = endAfter(2 * connectMs, options, () => destroy(client));
    try {
      await client.connect();
      const { rows } = await client.query<{ standby: boolean; wal: string | null; database: string }>(
        `select pg_is_in_recovery() as standby,
           case when pg_is_in_recovery() then null else pg_walfile_name(pg_current_wal_lsn()) end as wal,
           (select oid || ' since ' || extract(epoch from pg_postmaster_start_time())
              from pg_database where datname = current_database()) as database,
           set_config('idle_in_transaction_session_timeout', $1, false),
           set_config('tcp_keepalives_idle', $2, false), set_config('tcp_keepalives_interval', $2, false),
           set_config('tcp_keepalives_count', $3, false), set_config('tcp_user_timeout', $4, false)`,
        [idleMs, keepAliveSeconds, keepAlivesMax, 1_000 * keepAliveSeconds * (keepAlivesMax + 1)],
      );
      const [found] = rows;
      if (found?.wal) {
        const timeline = Number.parseInt(found.wal.slice(0, 8), 16);
        return new Primary(client, host, timeline, found.database);
      }
      destroy(client);
      return `${nameOf(host)} is a standby`;
    } catch (error) {
      destroy(client);
      return `${nameOf(host)}: ${(error as Error).message}`;
    } finally {
      cancel();
    }
  }

  get name(): string {
    return nameOf(this.host);
  }

  /** Hears of each `tellNodes` for as long as the connection lasts; of none behind some poolers. */
  async listen(onTold: () => void): Promise<void> {
    this.client.on('notification', onTold);
    await this.query({ text: `listen ${nodesChannel}` });
  }

  /** The first warning since the last call; null: there was none. */
  takeWarning(): string | null {
    const warning = this.#warning;
    this.#warning = null;
    return warning;
  }

  /** Whether the server is at work for another connection, or waits for its standbys there. */
  async isAtWorkFor(other: Primary): Promise<boolean> {
    const { processID } = other.client as unknown as { processID: number };
    const rows = await this.query({
      text: "select 1 from pg_stat_activity where pid = $1 and state = 'active'",
      values: [processID],
    });
    return rows.length > 0;
  }

  /** Rejects also when the connection ends. */
  async query<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<Row[]> {
    try {
      return (await this.client.query<Row>(config)).rows;
    } catch (error) {
      throw this.#reason ?? error;
    }
  }

  /** Why this side has ended the connection; null: it has not. */
  get reason(): Error | null {
    return this.#reason;
  }

  /** Ends a connection that nobody needs any more. */
  close(): void {
    destroy(this.client);
  }

  /** Ends one that can't be used any more, which whatever is asked over it is told. */
  destroy(reason: Error): void {
    this.#reason ??= reason;
    destroy(this.client);
  }
}

/** Calls `end` after so long, or when nobody waits any more. Returns what cancels that. */
export function endAfter(ms: number, { timers, closing }: PostgresOptions, end: () => void): () => void {
  const cancel = timers.after(ms, end);
  closing?.addEventListener('abort', end);
  return () => {
    cancel();
    closing?.removeEventListener('abort', end);
  };
}

/** The others may take so much longer to answer than the first server that takes writes. */
const othersMs = 300;

/** The writable server with the newest timeline, or why there is none. */
export async function findPrimary(options: PostgresOptions): Promise<Primary | string> {
  const found: (Primary | string)[] = [];
  const isEnough = Promise.withResolvers<void>();
  let isDecided = false;
  let cancel = () => {};
  const asked = options.address.hosts.map(async (host, place) => {
    const each = await Primary.at(host, options);
    if (isDecided) return void (typeof each !== 'string' && each.close());
    // Whoever hears the reasons again and again sees whether they have changed.
    found[place] = each;
    if (typeof each !== 'string') cancel = options.timers.after(othersMs, isEnough.resolve);
  });
  await Promise.race([Promise.all(asked), isEnough.promise]);
  isDecided = true;
  cancel();
  const primaries = found.filter((each) => typeof each !== 'string');
  const newest = primaries.toSorted((a, b) => b.timeline - a.timeline)[0];
  if (newest === undefined) return `no PostgreSQL takes writes: ${found.join('; ')}`;
  for (const other of primaries) if (other !== newest) other.close();
  return newest;
}

/** Has `use` ask the primary, on a connection of its own. A text says why there is none. */
export async function withPrimary<T>(
  options: PostgresOptions,
  use: (primary: Primary) => Promise<T>,
): Promise<T | string> {
  const primary = await findPrimary(options);
  if (typeof primary === 'string') return primary;
  try {
    return await use(primary);
  } finally {
    primary.close();
  }
}

function clientFor({ host, port }: PostgresHost, options: PostgresOptions): pg.Client {
  const { address, password, ca } = options;
  return new pg.Client({
    host,
    port,
    user: address.user,
    database: address.database,
    ...(password === null ? {} : { password }),
    ssl: ca === null ? false : { ca, host },
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: connectMs,
    application_name: 'payments',
  });
}

/** Closes the socket without a word, because the server may never answer again. */
function destroy(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
