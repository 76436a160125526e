// Opens the audit record of the service.

import { scrub } from '../core/secret-text.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { remoteAuditOf } from '../data-folder/remote-stores.ts';
import { Audit, auditKeptMs, putAsideWarning } from '../operator/audit/audit.ts';
import { BlockingPool } from '../threads/blocking-pool.ts';
import { type Owning, tellTrouble, tellUnwritten } from './owning.ts';

/**
 * The audit record, whose rows go to the log too. `lease`: its epoch; null where no nodes share the
 * service.
 */
export async function openAudit(
  { config, logger, closers }: Owning,
  folder: DataFolder,
  lease: number | null,
): Promise<Audit> {
  const pool = new BlockingPool((err) => logger.error({ err }, 'the thread of the pool has ended'));
  closers.push(() => pool.close());
  const remote = remoteAuditOf(config, folder, lease, tellTrouble(logger, 'the audit record'));
  if (remote !== null) closers.push(() => remote.close());
  const audit = await Audit.open({
    dataDir: folder.path,
    now: Date.now,
    keptMs: auditKeptMs(config.audit.keptDays),
    reader: pool.auditReader,
    scrub,
    onRow: (row) => logger.info({ audit: row }, 'audit'),
    remote,
    onPutAside: (aside) => logger.warn({ folder: aside }, putAsideWarning),
    onFailure: tellUnwritten(logger, 'the audit record'),
  });
  closers.push(() => audit.close());
  return audit;
}
