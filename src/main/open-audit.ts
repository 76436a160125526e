// Opens the audit record of the service.

import type { Config } from '../config/config-schema.ts';
import { scrub } from '../core/secret-text.ts';
import { Audit } from '../operator/audit/audit.ts';
import type { Logger } from '../telemetry/logger.ts';
import { BlockingPool } from '../threads/blocking-pool.ts';

/** The audit record, whose rows go to the log too. */
export async function openAudit(
  dataDir: string,
  { audit: { keptDays } }: Config,
  logger: Logger,
  closers: (() => Promise<unknown>)[],
): Promise<Audit> {
  const pool = new BlockingPool((err) => logger.error({ err }, 'the thread of the pool has ended'));
  closers.push(() => pool.close());
  const audit = await Audit.open({
    dataDir,
    now: Date.now,
    keptMs: keptDays * 86_400_000,
    reader: pool.auditReader,
    scrub,
    onRow: (row) => logger.info({ audit: row }, 'audit'),
    onFailure: (error) => logger.error({ err: error }, 'the audit record could not be written'),
  });
  closers.push(() => audit.close());
  return audit;
}
