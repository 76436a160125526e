// A thread's end of the request logs as it is configured, with the log line about entries that are
// not kept.

import type { Config } from '../config/config-schema.ts';
import { RequestLogClient } from '../request-logs/client.ts';
import type { Logger } from '../telemetry/logger.ts';
import { onceAMinute } from '../telemetry/once-a-minute.ts';

/** Null when no request logs are kept. */
export function createRequestLogClient(
  config: Config,
  logger: Logger,
  countLost: (entries: number) => void,
): RequestLogClient | null {
  if (config.requestLogs.keptDays === 0) return null;
  const isLogged = onceAMinute(() => performance.now());
  return new RequestLogClient({
    clock: Date.now,
    later: (run, ms) => setTimeout(run, ms).unref(),
    onDropped(entries) {
      countLost(entries);
      if (isLogged())
        logger.warn({ entries }, 'requests are not in the request logs: more came than could be written');
    },
  });
}
