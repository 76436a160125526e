// Clients that send request after request, each made from the answers before, over connections that are kept. What they begin
// becomes due at a fixed rate whatever the server does, as the business of many merchants who know nothing of each other
// would, and its latency counts from when it was due: a server that stalls is not spared what had to wait for it meanwhile
// (coordinated omission). It goes out on the first free connection. Without a rate each connection begins again at once.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Measured, quantile } from './load.ts';

const answerMsMax = 10_000;

/** The request to be sent next, given the answer to the one before; null when there is none. */
export type Flow = (answer: string | null) => string | null;

interface Pace {
  readonly connections: number;
  /** How many flows become due each second; infinite: as many as the server takes. */
  readonly perSecond: number;
  readonly seconds: number;
}

interface Connection {
  readonly socket: Socket;
  flow: Flow;
  dueAt: number;
  /** The request that waits for its answer, and what has come of that. */
  sent: string;
  answer: string;
}

/** Runs flows at this pace to their ends. Rejects when any request was not answered with success. */
export async function driveFlows(url: string, begin: () => Flow, pace: Pace): Promise<Measured> {
  const { perSecond, seconds } = pace;
  const isPaced = Number.isFinite(perSecond);
  const count = isPaced ? Math.floor(perSecond * seconds) : Number.POSITIVE_INFINITY;
  const { hostname, port } = new URL(url);
  const latenciesMs: number[] = [];
  const all: Connection[] = [];
  let free: Connection[] = [];
  const done = Promise.withResolvers<void>();
  let begun = 0;
  let startedAt = 0;
  const mayBegin = (now: number) =>
    isPaced ? begun < count && dueAt(begun) <= now : now < startedAt + seconds * 1_000;
  const dueAt = (number: number) => startedAt + (number * 1_000) / perSecond;
  const send = (connection: Connection, request: string) => {
    connection.sent = request;
    connection.socket.write(request);
  };
  const beginDue = () => {
    for (const now = performance.now(); mayBegin(now) && free.length > 0; begun++) {
      // The one that has rested longest: a server closes connections that rest for too long.
      const connection = free.shift()!;
      connection.dueAt = isPaced ? dueAt(begun) : now;
      connection.flow = begin();
      send(connection, connection.flow(null)!);
    }
    const isOver = isPaced ? begun === count : performance.now() >= startedAt + seconds * 1_000;
    if (isOver && latenciesMs.length === begun) done.resolve();
  };
  const onAnswer = (connection: Connection, answer: string) => {
    const next = connection.flow(answer);
    if (next !== null) return send(connection, next);
    latenciesMs.push(performance.now() - connection.dueAt);
    free.push(connection);
    beginDue();
  };
  for (let i = 0; i < pace.connections; i++) {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection: Connection = { socket, flow: () => null, dueAt: 0, sent: '', answer: '' };
    all.push(connection);
    socket.on('error', done.reject);
    socket.on('close', () => done.reject(new Error(`${url} closed a connection`)));
    socket.on('data', (chunk: Buffer) => {
      const answer = connection.answer + chunk.toString('latin1');
      const state = stateOfAnswer(answer);
      connection.answer = state === 'incomplete' ? answer : '';
      if (state === 'refused') done.reject(new Error(`a request was refused: ${answer}`));
      else if (state === 'answered') onAnswer(connection, answer);
    });
  }
  // The clients are connected when the load begins.
  await Promise.race([done.promise, Promise.all(all.map(({ socket }) => once(socket, 'connect')))]);
  free = [...all];
  startedAt = performance.now();
  const ticks = setInterval(beginDue, 1);
  const timer = setTimeout(
    () => {
      const waiting = all.filter((connection) => !free.includes(connection));
      const requests = waiting.map(({ sent }) => sent.slice(0, sent.indexOf('\r\n')));
      done.reject(new Error(`not answered in time by ${url}, of ${begun} flows: ${requests.join(', ')}`));
    },
    seconds * 1_000 + answerMsMax,
  );
  try {
    await done.promise;
  } finally {
    clearInterval(ticks);
    clearTimeout(timer);
    for (const { socket } of all) socket.destroy();
  }
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    requests: begun,
    requestsPerSecond: begun / elapsedSeconds,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    p999Ms: quantile(sorted, 0.999),
  };
}

/** Whether an answer with a Content-Length is all there, and has success. */
export function stateOfAnswer(answer: string): 'incomplete' | 'refused' | 'answered' {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return 'incomplete';
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  if (answer.length < headEnd + 4 + Number(length)) return 'incomplete';
  return answer.startsWith('HTTP/1.1 200') ? 'answered' : 'refused';
}
