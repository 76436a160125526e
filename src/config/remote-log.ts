// The log in PostgreSQL as the configuration names it.

import { readFileSync } from 'node:fs';
import { systemTimers } from '../core/scheduler.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { parseJournalUrl } from '../postgresql/journal-url.ts';
import { type PartitionLogOptions, PostgresLog } from '../postgresql/partition-log.ts';
import type { Config } from './config-schema.ts';

/** Undefined where the data folder alone holds the log. */
export function remoteLogOf(
  { journal: { url, passwordFile, caFile, single } }: Config,
  identity: ShardIdentity,
  shards: number,
  onTrouble: PartitionLogOptions['onTrouble'],
): PostgresLog | undefined {
  if (url === null) return undefined;
  const address = parseJournalUrl(url);
  if (typeof address === 'string') throw new Error(`PAYMENTS_JOURNAL_URL ${address}`);
  return new PostgresLog({
    address,
    password: passwordFile === null ? null : readFileSync(passwordFile, 'utf8').trimEnd(),
    ca: caFile === null ? null : readFileSync(caFile, 'utf8'),
    timers: systemTimers,
    identity,
    shards,
    isSingle: single,
    onTrouble,
  });
}
