// The main thread as a thread sees it: what the thread was started with, and what all threads
// answer alike.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Registry } from 'prom-client';
import { defined } from '../core/assert.ts';
import type { Answers } from '../rpc/questions.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ThreadQuestions } from './thread-protocol.ts';

/** The environment variable with the data that a process is started with. */
export const startDataVariable = 'PAYMENTS_START_DATA';

/** How this thread was started, and its port to the thread that started it. */
export function startOfThread<Data>(): { readonly data: Data; readonly main: MessagePort } {
  const data: Data = workerData;
  return { data, main: defined(parentPort, 'this file is the entry of a thread') };
}

/** How this process was started. */
export function startOfProcess<Data>(): Data {
  return JSON.parse(defined(process.env[startDataVariable], 'this file is the entry of a process'));
}

/** `show` brings gauges up to date before the metrics are told. */
export function commonAnswers(
  logger: Logger,
  registry: Registry,
  show: () => void | Promise<void> = () => {},
) {
  return {
    reread({ config: { logLevel } }) {
      logger.level = logLevel;
      return null;
    },
    async metrics() {
      await show();
      return registry.getMetricsAsJSON();
    },
  } satisfies Answers<ThreadQuestions>;
}
