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

/** Waits for the data that this thread begins with. `main`: its port to who has started it. */
export async function startOfThread<Data>(): Promise<{ readonly data: Data; readonly main: MessagePort }> {
  const main = defined(parentPort, 'this file is the entry of a thread');
  const start: MessagePort = workerData;
  const data = await new Promise<Data>((resolve) => start.once('message', resolve));
  return { data, main };
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
