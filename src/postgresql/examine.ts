// What `payments doctor` says of PostgreSQL: whether a primary is there, what it promises, who
// follows it, and whether the role has the rights that it needs.

import type { Database } from './database.ts';
import { type DurabilitySettings, durabilityColumns, durabilityDefect } from './durability.ts';
import { textOf } from './journal-url.ts';
import { type PostgresOptions, type Primary, withPrimary } from './primary.ts';

interface Examined {
  readonly ok: boolean;
  readonly detail: string;
}

interface Found extends DurabilitySettings {
  readonly version: string;
  readonly standby_count: string;
  readonly lag_bytes: string | null;
  readonly may_create: boolean;
  readonly log_bytes: string;
  readonly [column: string]: unknown;
}

const megabyte = 1024 * 1024;

/** How a database is called: with its partitions where there are several. */
export function nameOfDatabase({ partitions }: Pick<Database, 'partitions'>): string {
  return partitions === null ? 'postgresql' : `postgresql ${textOf(partitions)}`;
}

export async function examinePostgres(options: PostgresOptions, isSingle: boolean): Promise<Examined> {
  const examined = await withPrimary(options, async (primary) => {
    try {
      return describe(primary, await look(primary), isSingle);
    } catch (error) {
      return { ok: false, detail: `${primary.name}: ${(error as Error).message}` };
    }
  });
  if (typeof examined !== 'string') return examined;
  const detail = `${examined}: start the primary, or promote a standby (docs/operations.md, Failing over)`;
  return { ok: false, detail };
}

async function look(primary: Primary): Promise<Found | undefined> {
  const [found] = await primary.query<Found>({
    text: `select ${durabilityColumns}, current_setting('server_version') as version,
             (select count(*) from pg_stat_replication
                where coalesce(state, 'streaming') in ('catchup', 'streaming')) as standby_count,
             (select max(pg_wal_lsn_diff(sent_lsn, flush_lsn)) from pg_stat_replication) as lag_bytes,
             coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'payments'),
                      has_database_privilege(current_database(), 'create')) as may_create,
             (select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)
                from pg_class join pg_namespace on pg_namespace.oid = relnamespace
                where nspname = 'payments' and relkind = 'r') as log_bytes`,
  });
  return found;
}

function describe(primary: Primary, found: Found | undefined, isSingle: boolean): Examined {
  if (found === undefined) return { ok: false, detail: `${primary.name} does not answer` };
  const defect = durabilityDefect(found, isSingle);
  if (defect !== null) return { ok: false, detail: `${primary.name}: ${defect}` };
  if (!found.may_create)
    return {
      ok: false,
      detail: `${primary.name}: the role may not create tables: "grant create on schema payments to" it`,
    };
  if (!isSingle && found.standby_count === '0')
    return {
      ok: false,
      detail: `${primary.name}: no standby follows it, so writes wait: start one, or have one follow it (docs/operations.md, Failing over)`,
    };
  const standbys = isSingle ? 'one server alone, as configured' : describeStandbys(found);
  const size = Math.ceil(Number(found.log_bytes) / megabyte);
  return {
    ok: true,
    detail: `PostgreSQL ${found.version} at ${primary.name}, timeline ${primary.timeline}; ${standbys}; the log takes ${size} MiB`,
  };
}

function describeStandbys({ standby_count: count, lag_bytes: lag }: Found): string {
  const standbys = count === '1' ? '1 standby' : `${count} standbys`;
  // A role without pg_monitor sees only that they are there.
  if (lag === null) return `${standbys}, whose lag the role may not see (grant pg_monitor to it)`;
  return `${standbys}, at most ${lag} bytes behind`;
}
