// The audit record of commands that change a data folder while no service runs on it.

import { scrub } from '../core/secret-text.ts';
import { Audit } from '../operator/audit/audit.ts';
import { asker } from '../operator/socket/operator-client.ts';

/** Carries out such a command between its two rows. This process has locked the data folder `dataDir`. */
export async function recordOffline<T>(
  dataDir: string,
  action: string,
  params: object,
  warn: (message: string, fields: object) => void,
  run: () => Promise<T>,
): Promise<T> {
  const audit = await Audit.open({
    dataDir,
    now: Date.now,
    // The service knows how long they are kept, and drops what is older.
    keptMs: Number.POSITIVE_INFINITY,
    scrub,
    onRow: () => {},
    onFailure: (error) => warn('the audit record could not be written', { err: String(error) }),
  });
  return audit.record(asker(), action, params, run).finally(() => audit.close());
}
