// Clients that ask for more than a service can do, in a process of their own. A parent tells what they ask and how often, and
// is told what became of each request.
//
// The process shares its processors with the service, so it is made light: each connection has the bytes of its request, in
// which only a number changes, one request is under way on each, and all read into one buffer. It is also bounded: what can't be
// written within a short time of when it was due, because this process was late or no connection was free, is left out and
// counted, so no arrears grow, and the parent sees how much was really asked.

import { connect, type Socket } from 'node:net';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { FixedQueue } from '../src/core/fixed-queue.ts';
import { stateOfAnswer } from './flows.ts';
import { timeNow } from './time.ts';

/** A text in a request for which another one stands each time: one of some that are as long, or the request's number. */
export interface Part {
  readonly text: string;
  readonly texts: readonly string[] | 'number';
}

export interface FloodOrder {
  readonly port: number;
  readonly connections: number;
  readonly request: string;
  readonly parts: readonly Part[];
  readonly seconds: number;
  /** Requests a second; null: each client sends its next request when the one before was answered. */
  readonly perSecond: number | null;
  /** After this time without an answer a client hangs up. */
  readonly patienceMs: number;
}

/** What became of a request. Refused is a 503; failed are other answers, and connections that the service has closed. */
export const fates = {
  answered: 'a',
  refused: 'r',
  abandoned: 'h',
  failed: 'f',
  leftOut: '-',
} as const;
type Fate = (typeof fates)[keyof typeof fates];

export interface Quantiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface FloodResult {
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** From here on nothing more was asked. */
  readonly endedAt: number;
  readonly lastAnswerAt: number;
  /** A letter for each request, in the order of their numbers. */
  readonly fates: string;
  /** Answers with success until `endedAt`. */
  readonly answeredInTime: number;
  /** From when a request was written; null when there was none. */
  readonly answered: Quantiles | null;
  readonly refused: Quantiles | null;
  /** How long after they were due the requests were written. */
  readonly lateness: Quantiles | null;
  /** Processor time of this process until `endedAt`. */
  readonly cpuSeconds: number;
  /** One of the failed answers. */
  readonly odd: string | null;
}

const tickMs = 1;
const arrearsMsMax = 100;
const writtenAtOnceMax = 64;
const patienceCheckMs = 20;
const answerMsMax = 35_000;
const connectMsMax = 60_000;
const connectedAtOnce = 256;
const reopenMs = 50;
const readBytes = 64 * 1024;
const readInto = Buffer.alloc(readBytes);

/** One request at a time on one connection, which is opened again when it has ended. */
class Client {
  readonly #port: number;
  readonly #bytes: Buffer;
  readonly #parts: readonly { readonly at: number; readonly part: Part }[];
  readonly #onReady: (client: Client) => void;
  readonly #onFate: (client: Client, fate: Fate, answer: string) => void;
  #socket: Socket | null = null;
  #answer = '';
  isConnected = false;
  /** The request that it waits for; null when it is free. */
  request: number | null = null;
  sentAt = 0;

  constructor(
    { port, request, parts }: FloodOrder,
    onReady: (client: Client) => void,
    onFate: (client: Client, fate: Fate, answer: string) => void,
  ) {
    this.#port = port;
    this.#bytes = Buffer.from(request, 'latin1');
    this.#parts = parts.flatMap((part) => placesOf(part.text, request).map((at) => ({ at, part })));
    this.#onReady = onReady;
    this.#onFate = onFate;
  }

  open(): void {
    const callback = (length: number, buffer: Uint8Array) => {
      this.#read((buffer as Buffer).toString('latin1', 0, length));
      return true;
    };
    const onread = { buffer: readInto, callback };
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread });
    this.#socket = socket;
    socket.on('connect', () => {
      this.isConnected = true;
      this.#onReady(this);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isConnected = false;
      this.#settle(fates.failed);
      setTimeout(() => this.open(), reopenMs);
    });
  }

  send(number: number): void {
    this.request = number;
    this.sentAt = performance.now();
    for (const { at, part } of this.#parts) this.#bytes.write(textOf(part, number), at, 'latin1');
    this.#socket!.write(this.#bytes);
  }

  #read(piece: string): void {
    this.#answer += piece;
    const state = stateOfAnswer(this.#answer);
    if (state === 'incomplete') return;
    const isRefused = this.#answer.startsWith('HTTP/1.1 503');
    this.#settle(state === 'answered' ? fates.answered : isRefused ? fates.refused : fates.failed);
    this.#onReady(this);
  }

  #settle(fate: Fate): void {
    const answer = this.#answer;
    this.#answer = '';
    if (this.request === null) return;
    this.#onFate(this, fate, answer);
    this.request = null;
  }

  hangUp(): void {
    this.#settle(fates.abandoned);
    this.isConnected = false;
    this.#socket!.destroy();
  }
}

function placesOf(part: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function textOf({ text, texts }: Part, number: number): string {
  return texts === 'number' ? String(number).padStart(text.length, '0') : texts[number % texts.length]!;
}

class FloodClients {
  readonly #order: FloodOrder;
  readonly #clients: readonly Client[];
  /** The longest free is first, so none is idle for long. Some may have lost their connection, or be busy again. */
  readonly #free = new FixedQueue<Client>();
  readonly #fates: Fate[] = [];
  readonly #answered = createHistogram();
  readonly #refused = createHistogram();
  readonly #lateness = createHistogram();
  #answeredInTime = 0;
  #lastAnswerAt = 0;
  #odd: string | null = null;
  #next = 0;
  #isAsking = false;

  constructor(order: FloodOrder) {
    this.#order = order;
    const ready = (client: Client) => this.#ready(client);
    const settled = (client: Client, fate: Fate, answer: string) => this.#settled(client, fate, answer);
    this.#clients = Array.from({ length: order.connections }, () => new Client(order, ready, settled));
  }

  async connect(): Promise<void> {
    const deadline = performance.now() + connectMsMax;
    for (let at = 0; at < this.#clients.length; at += connectedAtOnce) {
      const some = this.#clients.slice(at, at + connectedAtOnce);
      for (const client of some) client.open();
      while (!some.every(({ isConnected }) => isConnected)) {
        if (performance.now() > deadline) throw new Error('the clients could not connect in time');
        await wait(5);
      }
    }
  }

  async run(): Promise<FloodResult> {
    const { seconds, patienceMs } = this.#order;
    const startedAt = timeNow();
    const from = performance.now();
    const cpuBefore = process.cpuUsage();
    this.#isAsking = true;
    const patience = setInterval(() => this.#hangUpAfter(patienceMs), patienceCheckMs);
    await this.#ask(from, from + seconds * 1_000);
    this.#isAsking = false;
    const endedAt = timeNow();
    const { user, system } = process.cpuUsage(cpuBefore);
    const answeredInTime = this.#answeredInTime;
    for (const deadline = performance.now() + answerMsMax; performance.now() < deadline; await wait(5))
      if (this.#clients.every(({ request }) => request === null)) break;
    clearInterval(patience);
    this.#hangUpAfter(0);
    return {
      startedAt,
      endedAt,
      lastAnswerAt: this.#lastAnswerAt,
      fates: this.#fates.join(''),
      answeredInTime,
      answered: quantilesOf(this.#answered),
      refused: quantilesOf(this.#refused),
      lateness: quantilesOf(this.#lateness),
      cpuSeconds: (user + system) / 1e6,
      odd: this.#odd,
    };
  }

  /** Sends what becomes due until the time is over. */
  async #ask(from: number, until: number): Promise<void> {
    const { perSecond } = this.#order;
    if (perSecond === null) {
      for (const client of this.#clients) this.#send(client);
      await wait(until - performance.now());
      return;
    }
    const done = Promise.withResolvers<void>();
    const count = Math.floor(((until - from) * perSecond) / 1_000);
    const sendDue = () => {
      for (let written = 0; this.#next < count; written++) {
        const lateMs = performance.now() - (from + (this.#next * 1_000) / perSecond);
        if (lateMs < 0) break;
        // The answers that have come meanwhile are read first.
        if (written === writtenAtOnceMax) return void setImmediate(sendDue);
        const client = lateMs > arrearsMsMax ? null : this.#freeClient();
        if (client === null) this.#fates[this.#next++] = fates.leftOut;
        else {
          record(this.#lateness, lateMs);
          this.#send(client);
        }
      }
      if (this.#next >= count) done.resolve();
      else setTimeout(sendDue, tickMs);
    };
    sendDue();
    await done.promise;
  }

  #send(client: Client): void {
    client.send(this.#next++);
  }

  #freeClient(): Client | null {
    for (;;) {
      const client = this.#free.shift();
      if (client === undefined) return null;
      if (client.isConnected && client.request === null) return client;
    }
  }

  #ready(client: Client): void {
    if (this.#order.perSecond === null && this.#isAsking) this.#send(client);
    else this.#free.push(client);
  }

  #settled({ request, sentAt }: Client, fate: Fate, answer: string): void {
    const now = performance.now();
    this.#fates[request!] = fate;
    if (fate === fates.answered) {
      record(this.#answered, now - sentAt);
      if (this.#isAsking) this.#answeredInTime++;
    } else if (fate === fates.refused) {
      record(this.#refused, now - sentAt);
    } else if (fate === fates.failed) {
      this.#odd ??= answer || 'the service closed the connection';
    }
    if (fate !== fates.abandoned) this.#lastAnswerAt = performance.timeOrigin + now;
  }

  #hangUpAfter(ms: number): void {
    const sentBefore = performance.now() - ms;
    for (const client of this.#clients)
      if (client.request !== null && client.sentAt < sentBefore) client.hangUp();
  }
}

function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.max(1, Math.round(ms * 1_000)));
}

function quantilesOf(histogram: RecordableHistogram): Quantiles | null {
  if (histogram.count === 0) return null;
  return { p50Ms: histogram.percentile(50) / 1_000, p99Ms: histogram.percentile(99) / 1_000 };
}

process.once('message', async (order: FloodOrder) => {
  const flood = new FloodClients(order);
  await flood.connect();
  process.once('message', async () => process.send!(await flood.run()));
  process.send!('connected');
});
process.once('disconnect', () => process.exit(0));
