// The check of the PostgreSQL that holds the log, too: none where the data folder alone does.

import type { Config } from '../config/config-schema.ts';
import { postgresOf } from '../config/remote-log.ts';
import type { Check } from '../operator/use-cases/services.ts';
import { examinePostgres } from '../postgresql/examine.ts';

export async function postgresqlChecks(config: Config): Promise<Check[]> {
  const options = postgresOf(config);
  if (options === null) return [];
  return [{ name: 'postgresql', ...(await examinePostgres(options, config.journal.single)) }];
}
