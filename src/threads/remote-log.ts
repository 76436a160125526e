// The log in PostgreSQL as the configuration names it; none where the data folder alone holds it.

import { readFileSync } from 'node:fs';
import type { Config } from '../config/config-schema.ts';
import { systemTimers } from '../core/scheduler.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { parseJournalUrl } from '../postgresql/journal-url.ts';
import { PostgresLog } from '../postgresql/partition-log.ts';
import type { Logger } from '../telemetry/logger.ts';

export function remoteLogOf(
  { journal: { url, passwordFile, caFile, single } }: Config,
  identity: ShardIdentity,
  shards: number,
  logger: Logger,
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
    onTrouble(trouble) {
      if (trouble === null) logger.info('the partition is acquired in PostgreSQL');
      else logger.warn(`the partition can't be acquired in PostgreSQL, which is tried again: ${trouble}`);
    },
  });
}
