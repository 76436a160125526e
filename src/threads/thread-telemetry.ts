// The log and the metrics of the thread that calls this.

import Registry from 'prom-client/lib/registry.js';
import type { Config } from '../config/config-schema.ts';
import { createLogger } from '../telemetry/logger.ts';
import { countThreadTime } from '../telemetry/thread-time.ts';

export async function observeThread({ logLevel }: Config, name: string) {
  const registry = new Registry();
  countThreadTime(registry, name);
  return { logger: await createLogger({ level: logLevel, thread: name }), registry };
}
