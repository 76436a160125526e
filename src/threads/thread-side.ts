// The main thread as a thread sees it: what the thread was started with, and what all threads
// answer alike.

import { type MessagePort, parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import type { Registry } from 'prom-client';
import { defined } from '../core/assert.ts';
import { type Answers, answerQuestion } from '../rpc/questions.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WorkerStart } from './start-worker.ts';
import { TaskGate } from './task-gate.ts';
import type { Connected, Instruction, Notice, ThreadQuestions } from './thread-protocol.ts';

/** The environment variable with the data that a process is started with. */
export const startDataVariable = 'PAYMENTS_START_DATA';

type Tell = (notice: Notice, transfer?: readonly TransferListItem[]) => void;

interface StartOfThread<Data> {
  readonly data: Data;
  /** The port to who has started it. */
  readonly main: MessagePort;
  readonly tell: Tell;
  /** Who has started this thread shuts it before the thread is stopped. */
  readonly gate: TaskGate;
}

/** Waits for the data that this thread begins with. To be called once all is loaded. */
export async function startOfThread<Data>(): Promise<StartOfThread<Data>> {
  const main = defined(parentPort, 'this file is the entry of a thread');
  const start: WorkerStart = workerData;
  const { port } = start;
  const gate = new TaskGate(start.gate);
  gate.leave();
  start.isLoaded = true;
  const abandoned = () => process.exit(0);
  port.once('close', abandoned);
  const data = await new Promise<Data>((resolve) => {
    port.once('message', (message: Data) => {
      port.off('close', abandoned);
      resolve(message);
    });
  });
  return { data, main, tell: (notice, transfer = []) => main.postMessage(notice, transfer), gate };
}

/** How this process was started. */
export function startOfProcess<Data>(): Data {
  return JSON.parse(defined(process.env[startDataVariable], 'this file is the entry of a process'));
}

/**
 * Carries out what the main thread says: answers its questions, and passes on what this thread is
 * connected with. A thread that has answered `stop` ends.
 */
export function carryOut(
  answers: Answers<ThreadQuestions>,
  tell: Tell,
  others: {
    readonly connect?: (connected: Connected) => void;
    readonly failureOf?: (error: unknown) => unknown;
  } = {},
): (instruction: Instruction) => Promise<void> {
  const { connect = () => {}, failureOf } = others;
  return async (instruction) => {
    if ('question' in instruction) await answerQuestion(answers, instruction, tell, failureOf);
    else connect(instruction);
    if (instruction.type === 'stop') process.exit(0);
  };
}

/** Ends this thread. `fatal`: another start can't help. `isRemote`: other machines have failed. */
export function failThread(tell: Tell, message: string, fatal: boolean, isRemote = false): void {
  tell({ type: 'failed', message, fatal, isRemote });
  setImmediate(() => process.exit(1));
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
