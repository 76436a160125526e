// The tables of the log, with their versions. Whoever finds them older brings them up to date under
// an advisory lock, and the days of the log with them; an older service refuses tables that are
// newer than it knows.

import type { Client } from 'pg';
import { forgetRemovedRows, keepDays, missingDays } from './retention.ts';

/** Any number that nobody else uses: the lock of the migrations. */
const migrationLock = 7_262_905_117;
/** How long a migration waits for the lock, and for each table; then it is tried again. */
const lockMs = 1_000;

/**
 * The statements that lead from each version to the next. `partitions` has a row for each owner to
 * lock, so its pages keep room for new versions of the rows.
 */
const migrations: readonly (readonly string[])[] = [
  [
    `create table payments.service (
       only_row boolean primary key default true check (only_row),
       folder text not null,
       generation integer not null,
       shards integer not null)`,
    `create table payments.partitions (
       partition integer primary key,
       epoch bigint not null default 0,
       next_sequence bigint not null default 1,
       checksum bigint not null default 0,
       mirrored bigint not null default 0) with (fillfactor = 30)`,
    `create table payments.log (
       day date not null,
       partition integer not null,
       first_sequence bigint not null,
       last_sequence bigint not null,
       epoch bigint not null,
       checksum bigint not null,
       bytes bytea not null,
       primary key (partition, first_sequence, day)) partition by range (day)`,
    'alter table payments.log alter column bytes set storage external',
    `create table payments.log_other partition of payments.log default`,
    `create table payments.metadata (
       partition integer not null,
       name text not null,
       value bytea not null,
       primary key (partition, name))`,
  ],
  [
    `create table payments.directory (
       name text primary key,
       content bytea,
       sequence bigint not null)`,
    'create index directory_by_sequence on payments.directory (sequence, name)',
    `create table payments.directory_writes (
       sequence bigint primary key,
       checksum bigint not null,
       at timestamptz not null default now())`,
    `create table payments.lease (
       only_row boolean primary key default true check (only_row),
       epoch bigint not null,
       beat bigint not null default 0,
       node text not null,
       process text not null,
       released boolean not null default false,
       successor text) with (fillfactor = 30)`,
    `create table payments.takeovers (
       epoch bigint primary key,
       node text not null,
       previous text,
       reason text not null,
       at timestamptz not null default now())`,
    `create table payments.nodes (
       process text primary key,
       node text not null,
       address text,
       followed jsonb,
       started_at timestamptz not null default now(),
       seen_at timestamptz not null default now()) with (fillfactor = 30)`,
  ],
  [
    // The oldest version whose services can go on with these tables: nodes of two releases do.
    'alter table payments.version add column oldest integer not null default 3',
    'alter table payments.lease add column dialect jsonb',
    'alter table payments.nodes add column release text',
  ],
  [
    'alter table payments.nodes add column link text, add column drained boolean not null default false',
    // Who has taken it, for people to read.
    'alter table payments.partitions add column node text',
  ],
  [
    // The process that operators want it to run at; one that is gone or drained counts for nobody.
    'alter table payments.partitions add column wanted text',
  ],
  [
    // The text of the audit record, as it was appended.
    'create table payments.audit (place bigint primary key, bytes bytea not null)',
  ],
  ['alter table payments.nodes add column leaving boolean not null default false'],
  // Releases that do not note it know the secrets key alone.
  ["alter table payments.nodes add column links_by text not null default 'secrets key'"],
  ["alter table payments.nodes add column damaged integer[] not null default '{}'"],
  // Those whose logs are here where they lie in several databases, and the ranges of all of these.
  ['alter table payments.service add column partitions text, add column division text'],
];

const schemaVersion = migrations.length;
/** Releases that know it know that logs may lie in several databases. */
export const listVersion = 10;
/** Later migrations only add what a service that does not know of it can leave alone. */
const oldestVersion = 3;

/**
 * Has the tables, and those of the days, as this release needs them. Almost every connection finds
 * them so, and waits for nobody. Throws an error of PostgreSQL's, or one that says that the tables
 * are newer.
 */
export async function migrate(client: Client): Promise<void> {
  const isThere = (await versionOf(client)) >= schemaVersion && (await missingDays(client)).length === 0;
  if (!isThere) await keepTables(client);
}

/** Brings the tables up to date, those of the days among them, and drops what is kept no longer. */
export async function keepTables(client: Client): Promise<void> {
  await client.query('begin');
  try {
    // The server ends this wait itself: it would not notice that nobody waits any more.
    await client.query(`set local lock_timeout = ${lockMs}`);
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    const version = await versionOf(client);
    if (version === 0) await createVersion(client);
    for (const statement of migrations.slice(version).flat()) await client.query(statement);
    if (version < schemaVersion) {
      const { rows } = await client.query<{ oldest?: number }>('delete from payments.version returning *');
      const oldest = Math.max(oldestVersion, rows[0]?.oldest ?? 0);
      await client.query('insert into payments.version values ($1, $2)', [schemaVersion, oldest]);
    }
    await keepDays(client);
    await forgetRemovedRows(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** 0: there are no tables yet. */
async function versionOf(client: Client): Promise<number> {
  const { rows: found } = await client.query<{ there: boolean }>(
    "select to_regclass('payments.version') is not null as there",
  );
  if (!found[0]?.there) return 0;
  const { rows } = await client.query<{ version: number; oldest?: number }>('select * from payments.version');
  const { version = 0, oldest = version } = rows[0] ?? {};
  if (oldest <= schemaVersion) return version;
  throw new NewerSchema(
    `its tables have version ${version}, and this service knows ${schemaVersion}: start the newer service`,
  );
}

async function createVersion(client: Client): Promise<void> {
  const { rows: schemas } = await client.query("select 1 from pg_namespace where nspname = 'payments'");
  if (schemas.length === 0) await client.query('create schema payments');
  await client.query('create table if not exists payments.version (version integer not null)');
}

export class NewerSchema extends Error {
  override name = 'NewerSchema';
}
