// What PostgreSQL holds for a data folder, where it is configured: the logs of the shards, the
// directory, and the audit record.

import type { ServiceIdentity } from '../cluster/node.ts';
import type { Config } from '../config/config-schema.ts';
import { ownerOfLog, ownersOf } from '../config/postgresql.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { PostgresText } from '../postgresql/audit-text.ts';
import { PostgresRows } from '../postgresql/directory-rows.ts';
import type { OwnerOptions } from '../postgresql/owner-connection.ts';
import { PostgresLog } from '../postgresql/partition-log.ts';
import type { DataFolder } from './data-folder.ts';

export function serviceOf({ id, generation, shards }: DataFolder): ServiceIdentity {
  return { folder: id, generation, shards };
}

/** Null where the data folder alone holds the log. */
export function remoteLogOf(
  config: Config,
  { folder, generation, shard }: ShardIdentity,
  shards: number,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'],
): PostgresLog | null {
  const owners = ownersOf(config, { folder, generation, shards }, lease, onTrouble);
  return owners.length === 0 ? null : new PostgresLog({ ...ownerOfLog(owners, shard), partition: shard });
}

/** Null where the data folder alone holds the directory. */
export function remoteRowsOf(
  config: Config,
  folder: DataFolder,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'],
): PostgresRows | null {
  const [first] = ownersOf(config, serviceOf(folder), lease, onTrouble);
  return first === undefined ? null : new PostgresRows(first);
}

/** Null where the data folder alone holds the audit record. */
export function remoteAuditOf(
  config: Config,
  folder: DataFolder,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'],
): PostgresText | null {
  const [first] = ownersOf(config, serviceOf(folder), lease, onTrouble);
  return first === undefined ? null : new PostgresText(first);
}
