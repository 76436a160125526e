// The entry of the thread of the request logs: it writes what the edges of its node hand over,
// drops what is too old, and searches, with those of other nodes. Nothing waits for it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { within } from '../core/scheduler.ts';
import { believedAfterMs } from '../core/service-clock.ts';
import { freeBytesIn, freeBytesMin } from '../data-folder/disk-space.ts';
import type { BatchWritten, EntryBatch } from '../request-logs/client.ts';
import type { AskLog, LogOfNodeQuestions, LogQuestions } from '../request-logs/query.ts';
import { RequestLogs } from '../request-logs/request-logs.ts';
import { requestLogsOf } from '../request-logs/segment.ts';
import { type Answer, type Answers, answerQuestion, type Question, Questions } from '../rpc/questions.ts';
import { countLostEntries } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/once-a-minute.ts';
import { systemClocks } from '../telemetry/system-clocks.ts';
import { Newest } from './connect-threads.ts';
import type { Connected, RequestLogThreadData, ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';
import { Visits } from './visits.ts';

const { data, main, tell } = await startOfThread<RequestLogThreadData>();
const { config } = data;
const { logger, registry } = await observeThread(config, 'request-logs');
const countLost = countLostEntries(registry);
const visits = new Visits(registry, logger, 'request-logs', ['request_log']);

const { keptDays, mibMax } = config.requestLogs;
const roomLookMs = 1_000;
/** The journal is to have the last room on a disk. */
const roomBytesMin = 2 * freeBytesMin;
const sweepMs = 3_600_000;
const otherMsMax = 2_000;
/** To one other node at a time. Those that it takes too long for stay open. */
const questionsMax = 64;

let hasRoom = true;
let lookedAtMs = Number.NEGATIVE_INFINITY;
const isLossLogged = onceAMinute(() => performance.now());

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
    if (!isLossLogged()) return;
    logger.error({ entries }, `entries of the request logs can't be written, and are not kept: ${reason}`);
  },
});

const clocks = systemClocks();
const sweep = () => {
  try {
    logs.sweep(clocks);
  } catch (error) {
    logger.error({ err: error }, 'old request logs could not be removed');
  }
};
// Where none are kept nothing is written, and what others have searched stays.
if (keptDays > 0) {
  sweep();
  setTimeout(sweep, believedAfterMs).unref();
  setInterval(sweep, sweepMs).unref();
}

const ports = new Set<MessagePort>();

function write(port: MessagePort, { buffer, bytes, senders }: EntryBatch): void {
  logs.write(Buffer.from(buffer, 0, bytes), senders);
  port.postMessage({ written: buffer } satisfies BatchWritten, [buffer]);
}

interface OtherLog {
  /** Null: there was none yet. */
  readonly port: MessagePort | null;
  /** Null: its node is not there any more. */
  readonly questions: Questions<LogOfNodeQuestions> | null;
}

const newest = new Newest<string>();
/** By the names of nodes. */
const others = new Map<string, OtherLog>();
if (data.missing !== null && data.missing !== config.cluster.node)
  others.set(data.missing, { port: null, questions: null });

interface LogAnswers {
  readonly ofThisNode: Answers<LogOfNodeQuestions>;
  readonly ofAll: Answers<LogQuestions>;
}

/** Loaded with the first question: searches need the schemas of all routes, a third of the heap. */
let logAnswers: Promise<LogAnswers> | null = null;
const loadAnswers = async (): Promise<LogAnswers> => {
  const { answerLogQuestions } = await import('../request-logs/query.ts');
  const { answersOfAll } = await import('../request-logs/all-nodes.ts');
  const ofThisNode = answerLogQuestions(folder, nextTurn);
  const own = new Questions<LogOfNodeQuestions>(
    (asked) => void answerQuestion(ofThisNode, asked, (answer) => own.take(answer), String),
  );
  const otherLogs = () =>
    [...others].map(([node, { questions }]) => ({
      node,
      ask: (async (name, asks) => (questions === null ? null : askOther(questions, name, asks))) as AskLog,
    }));
  const ofAll = answersOfAll({ node: config.cluster.node ?? '', ask: own.ask.bind(own) }, otherLogs);
  return { ofThisNode, ofAll };
};

/** Null: the node can't be asked, has too much to do, or takes too long. */
async function askOther<N extends keyof LogOfNodeQuestions>(
  log: Questions<LogOfNodeQuestions>,
  name: N,
  asks: LogOfNodeQuestions[N]['asks'],
) {
  if (log.size >= questionsMax) return null;
  return within(
    otherMsMax,
    log.ask(name, asks).catch(() => null),
  );
}

async function take(port: MessagePort, message: EntryBatch | Question<LogQuestions>): Promise<void> {
  if ('buffer' in message) return write(port, message);
  logAnswers ??= loadAnswers();
  const { ofAll } = await logAnswers;
  await answerQuestion(ofAll, message, (answer) => port.postMessage(answer), cantRead);
}

async function takeOfOther(port: MessagePort, message: Question<LogOfNodeQuestions>): Promise<void> {
  logAnswers ??= loadAnswers();
  const { ofThisNode } = await logAnswers;
  await answerQuestion(ofThisNode, message, (answer) => port.postMessage(answer), cantRead);
}

function cantRead(error: unknown): string {
  logger.error({ err: error }, 'the request logs could not be read');
  return String(error);
}

/** Both ask each other over the port. */
function connectOther(node: string, port: MessagePort): void {
  const questions = new Questions<LogOfNodeQuestions>((question) => port.postMessage(question));
  others.get(node)?.port?.close();
  others.set(node, { port, questions });
  port.on('message', (message: Question<LogOfNodeQuestions> | Answer) => {
    if ('value' in message) questions.take(message);
    else void takeOfOther(port, message);
  });
  port.on('close', () => {
    questions.end(new Error(`node ${node} is away`));
    if (others.get(node)?.questions === questions) others.set(node, { port, questions: null });
  });
}

function connectEdge(port: MessagePort): void {
  ports.add(port);
  port.on('message', (message: EntryBatch | Question<LogQuestions>) => void take(port, message));
  port.on('close', () => ports.delete(port));
}

function connect(connected: Connected): void {
  if (connected.type === 'connect_request_logs') connectEdge(connected.port);
  else if (connected.type === 'connect_other_logs' && newest.takes(connected.node, connected))
    connectOther(connected.node, connected.port);
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
main.on('message', carryOut(answers, tell, { connect }));
tell({ type: 'ready' });
