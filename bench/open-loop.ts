// Load in an open loop: requests become due at a fixed rate whatever the server does, as those of many merchants who
// know nothing of each other would, and the latency of each counts from when it was due. A server that stalls is not
// spared the requests that had to wait for it meanwhile (coordinated omission). What is due goes out on the first free
// connection, and waits for one when all are taken.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Load, type Measured, quantile } from './load.ts';
import { requestText } from './request-text.ts';

const answerMsMax = 10_000;

interface Connection {
  readonly socket: Socket;
  dueAt: number;
  answer: string;
}

/** Drives a server at a rate for some seconds. Rejects when any request was not answered with success. */
export async function driveOpen(
  load: Load,
  connections: number,
  perSecond: number,
  seconds: number,
): Promise<Measured> {
  const { hostname, port } = new URL(load.url);
  const templates = load.requests.map((template) => ({ template, text: requestText(template) }));
  const count = Math.floor(perSecond * seconds);
  const latenciesMs = new Float64Array(count);
  const free: Connection[] = [];
  const done = Promise.withResolvers<void>();
  let sent = 0;
  let answered = 0;
  let startedAt = 0;
  const dueAt = (number: number) => startedAt + (number * 1_000) / perSecond;
  const sendDue = () => {
    for (const now = performance.now(); sent < count && dueAt(sent) <= now && free.length > 0; sent++) {
      const connection = free.pop()!;
      connection.dueAt = dueAt(sent);
      const { template, text } = templates[sent % templates.length]!;
      connection.socket.write(text[0] + (template.varying?.next() ?? '') + text[1]);
    }
  };
  const onAnswer = (connection: Connection) => {
    latenciesMs[answered++] = performance.now() - connection.dueAt;
    free.push(connection);
    if (answered === count) done.resolve();
    else sendDue();
  };
  for (let i = 0; i < connections; i++) {
    const connection = {
      socket: connect({ host: hostname, port: Number(port), noDelay: true }),
      dueAt: 0,
      answer: '',
    };
    free.push(connection);
    connection.socket.on('error', done.reject);
    connection.socket.on('data', (chunk: Buffer) => {
      connection.answer += chunk.toString('latin1');
      const state = stateOfAnswer(connection.answer);
      if (state === 'incomplete') return;
      if (state === 'refused') done.reject(new Error(`a request was refused: ${connection.answer}`));
      connection.answer = '';
      onAnswer(connection);
    });
  }
  // The clients are connected when the load begins.
  await Promise.race([done.promise, Promise.all(free.map(({ socket }) => once(socket, 'connect')))]);
  startedAt = performance.now();
  const ticks = setInterval(sendDue, 1);
  const timer = setTimeout(
    () => done.reject(new Error(`${count - answered} of ${count} requests were not answered in time`)),
    seconds * 1_000 + answerMsMax,
  );
  try {
    await done.promise;
  } finally {
    clearInterval(ticks);
    clearTimeout(timer);
    for (const { socket } of free) socket.destroy();
  }
  const sorted = latenciesMs.sort();
  return {
    requests: count,
    requestsPerSecond: count / ((performance.now() - startedAt) / 1_000),
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
