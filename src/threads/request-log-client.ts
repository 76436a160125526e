// A thread's end of the request logs as it is configured, with the log line about entries that are
// not kept.

import type { Config } from '../config/config-schema.ts';
import { RequestLogClient } from '../request-logs/client.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A flood of entries is logged once in this time. */
const loggedEveryMs = 60_000;

/** Null when no request logs are kept. */
export function createRequestLogClient(
  config: Config,
  logger: Logger,
  countLost: (entries: number) => void,
): RequestLogClient | null {
  if (config.requestLogs.keptDays === 0) return null;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return new RequestLogClient({
    clock: Date.now,
    later: (run, ms) => setTimeout(run, ms).unref(),
    onDropped(entries) {
      countLost(entries);
      const nowMs = performance.now();
      if (nowMs - loggedAtMs < loggedEveryMs) return;
      loggedAtMs = nowMs;
      logger.warn({ entries }, 'requests are not in the request logs: more came than could be written');
    },
  });
}
