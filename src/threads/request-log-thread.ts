// The entry of the thread of the request logs: it writes what the edges hand over, and drops what
// is too old. Nothing waits for it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import Registry from 'prom-client/lib/registry.js';
import { freeBytesIn, freeBytesMin } from '../data-folder/disk-space.ts';
import type { BatchWritten, EntryBatch } from '../request-logs/client.ts';
import type { LogQuestions } from '../request-logs/query.ts';
import { RequestLogs } from '../request-logs/request-logs.ts';
import { requestLogsOf } from '../request-logs/segment.ts';
import { type Answers, answerQuestion, type Question } from '../rpc/questions.ts';
import { createLogger } from '../telemetry/logger.ts';
import { countLostEntries } from '../telemetry/metrics.ts';
import { countThreadTime } from '../telemetry/thread-time.ts';
import type { Instruction, Notice, RequestLogThreadData, ThreadQuestions } from './thread-protocol.ts';
import { commonAnswers, startOfThread } from './thread-side.ts';
import { Visits } from './visits.ts';

const { data, main } = await startOfThread<RequestLogThreadData>();
const { config } = data;
const tell = (notice: Notice) => main.postMessage(notice);
const logger = await createLogger({ level: config.logLevel, thread: 'request-logs' });
const registry = new Registry();
countThreadTime(registry, 'request-logs');
const countLost = countLostEntries(registry);
const visits = new Visits(registry, logger, 'request-logs', ['request_log']);

const { keptDays, mibMax } = config.requestLogs;
const roomLookMs = 1_000;
/** The journal is to have the last room on a disk. */
const roomBytesMin = 2 * freeBytesMin;
const loggedEveryMs = 60_000;
const sweepMs = 3_600_000;

let hasRoom = true;
let lookedAtMs = Number.NEGATIVE_INFINITY;
let loggedAtMs = Number.NEGATIVE_INFINITY;

const folder = requestLogsOf(config.dataDir);
const logs = new RequestLogs({
  folder,
  keptMs: keptDays * 86_400_000,
  bytesMax: mibMax * 1024 * 1024,
  hasRoom() {
    const nowMs = performance.now();
    if (nowMs - lookedAtMs < roomLookMs) return hasRoom;
    lookedAtMs = nowMs;
    hasRoom = freeBytesIn(config.dataDir) >= roomBytesMin;
    return hasRoom;
  },
  onFailed: (error) => visits.failed(error, 'request_log', null),
  onLost(entries, reason) {
    countLost(entries);
    const nowMs = performance.now();
    if (nowMs - loggedAtMs < loggedEveryMs) return;
    loggedAtMs = nowMs;
    logger.error({ entries }, `entries of the request logs can't be written, and are not kept: ${reason}`);
  },
});

const sweep = () => {
  try {
    logs.sweep(Date.now());
  } catch (error) {
    logger.error({ err: error }, 'old request logs could not be removed');
  }
};
sweep();
setInterval(sweep, sweepMs).unref();

const ports = new Set<MessagePort>();

function write(port: MessagePort, { isCopy, buffer, bytes, senders }: EntryBatch): void {
  logs.write(Buffer.from(buffer, 0, bytes), senders);
  const written: BatchWritten = { written: isCopy ? null : buffer };
  port.postMessage(written, isCopy ? [] : [buffer]);
}

/** Loaded with the first question: searches need the schemas of all routes, a third of the heap. */
let answersOfLogs: Promise<Answers<LogQuestions>> | null = null;
const loadAnswers = async () => {
  const { answerLogQuestions } = await import('../request-logs/query.ts');
  return answerLogQuestions(folder, nextTurn);
};

async function take(port: MessagePort, message: EntryBatch | Question<LogQuestions>): Promise<void> {
  if ('buffer' in message) return write(port, message);
  answersOfLogs ??= loadAnswers();
  await answerQuestion(await answersOfLogs, message, (answer) => port.postMessage(answer), cantRead);
}

function cantRead(error: unknown): string {
  logger.error({ err: error }, 'the request logs could not be read');
  return String(error);
}

function connect(port: MessagePort): void {
  ports.add(port);
  port.on('message', (message: EntryBatch | Question<LogQuestions>) => void take(port, message));
  port.on('close', () => ports.delete(port));
}

function stop(): void {
  for (const port of ports) {
    for (let last = receiveMessageOnPort(port); last !== undefined; last = receiveMessageOnPort(port))
      void take(port, last.message);
    port.close();
  }
  logs.close();
}

const answers: Answers<ThreadQuestions> = {
  ...commonAnswers(logger, registry),
  stop,
};
main.on('message', async (instruction: Instruction) => {
  if (instruction.type === 'connect_request_logs') connect(instruction.port);
  else if ('question' in instruction) await answerQuestion(answers, instruction, tell);
  if (instruction.type === 'stop') process.exit(0);
});
tell({ type: 'ready' });
