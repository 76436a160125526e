// The log in PostgreSQL as the configuration names it.

import { readFileSync } from 'node:fs';
import { systemTimers } from '../core/scheduler.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { parseJournalUrl } from '../postgresql/journal-url.ts';
import { type PartitionLogOptions, PostgresLog } from '../postgresql/partition-log.ts';
import type { PostgresOptions } from '../postgresql/primary.ts';
import type { Config } from './config-schema.ts';

/** Null where the data folder alone holds the log. */
export function postgresOf({ journal: { url, passwordFile, caFile } }: Config): PostgresOptions | null {
  if (url === null) return null;
  const address = parseJournalUrl(url);
  if (typeof address === 'string') throw new Error(`PAYMENTS_JOURNAL_URL ${address}`);
  return {
    address,
    password: passwordFile === null ? null : readFileSync(passwordFile, 'utf8').trimEnd(),
    ca: caFile === null ? null : readFileSync(caFile, 'utf8'),
    timers: systemTimers,
  };
}

/** Undefined where the data folder alone holds the log. */
export function remoteLogOf(
  config: Config,
  identity: ShardIdentity,
  shards: number,
  onTrouble: PartitionLogOptions['onTrouble'],
): PostgresLog | undefined {
  const options = postgresOf(config);
  if (options === null) return undefined;
  return new PostgresLog({ ...options, identity, shards, isSingle: config.journal.single, onTrouble });
}
