// PostgreSQL as the configuration names it.

import { readFileSync } from 'node:fs';
import type { ServiceIdentity } from '../cluster/node.ts';
import { defined } from '../core/assert.ts';
import { systemTimers } from '../core/scheduler.ts';
import { type Database, hasLog } from '../postgresql/database.ts';
import { parseJournalDatabases, textOf } from '../postgresql/journal-url.ts';
import type { OwnerOptions } from '../postgresql/owner-connection.ts';
import type { Config } from './config-schema.ts';
import { ConfigError } from './settings.ts';

/** The databases that hold the logs, the first one first; none where the data folder alone does. */
export function databasesOf({ journal: { url, passwordFile, caFile } }: Config): readonly Database[] {
  if (url === null) return [];
  const listed = parseJournalDatabases(url);
  if (typeof listed === 'string') throw new ConfigError(`PAYMENTS_JOURNAL_URL ${listed}`);
  const common = {
    password: passwordFile === null ? null : readFileSync(passwordFile, 'utf8').trimEnd(),
    ca: caFile === null ? null : readFileSync(caFile, 'utf8'),
    timers: systemTimers,
  };
  const ranges = listed.flatMap(({ partitions }) => (partitions === null ? [] : [textOf(partitions)]));
  const division = ranges.length === 0 ? null : ranges.join(' ');
  const [first, ...rest] = listed.map((each) => ({ ...common, ...each, division }));
  if (first === undefined) return [];
  const others = rest.map((each): Database => ({ ...each, first, others: [] }));
  return [{ ...first, first: null, others }, ...others];
}

/** The first one; null where the data folder alone holds the log. */
export function firstDatabaseOf(config: Config): Database | null {
  return databasesOf(config)[0] ?? null;
}

/** Throws `ConfigError` where the databases are not for a service of so many partitions. */
export function refuseDatabases(config: Config, shards: number): void {
  const databases = databasesOf(config);
  refuseOtherPartitions(databases, shards);
  // Whoever has no lease has no epoch of it that the others could note.
  if (databases.length > 1 && config.cluster.node === null)
    throw new ConfigError(
      'PAYMENTS_JOURNAL_URL names several databases, which are for nodes that share a service: set PAYMENTS_CLUSTER_NODE',
    );
}

function refuseOtherPartitions(databases: readonly Database[], shards: number): void {
  const last = databases.at(-1)?.partitions?.last ?? shards - 1;
  if (last === shards - 1) return;
  throw new ConfigError(
    `PAYMENTS_JOURNAL_URL names databases of the partitions 0-${last}, and the service has 0-${shards - 1}`,
  );
}

/** What an owner in each of the databases needs. Throws `ConfigError`. */
export function ownersOf(
  config: Config,
  service: ServiceIdentity,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'],
): readonly OwnerOptions[] {
  const { node } = config.cluster;
  const databases = databasesOf(config);
  refuseOtherPartitions(databases, service.shards);
  return databases.map((database) => ({
    ...database,
    service,
    lease,
    node,
    isSingle: config.journal.single,
    onTrouble,
  }));
}

/** The one of them that has the log of a partition. */
export function ownerOfLog(owners: readonly OwnerOptions[], partition: number): OwnerOptions {
  const found = owners.find((owner) => hasLog(owner, partition));
  return defined(found, 'each partition has a database');
}
