// PostgreSQL as the configuration names it.

import { readFileSync } from 'node:fs';
import type { ServiceIdentity } from '../cluster/node.ts';
import { systemTimers } from '../core/scheduler.ts';
import { parseJournalUrl } from '../postgresql/journal-url.ts';
import type { OwnerOptions } from '../postgresql/owner-connection.ts';
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

/** What an owner in PostgreSQL needs; null where the data folder alone holds the log. */
export function ownerOptionsOf(
  config: Config,
  service: ServiceIdentity,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'],
): OwnerOptions | null {
  const options = postgresOf(config);
  const { node } = config.cluster;
  return options && { ...options, service, lease, node, isSingle: config.journal.single, onTrouble };
}
