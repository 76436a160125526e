// `node bench/hop.ts`: the way between an edge and its shard, and back, without what either does: processor time of both
// threads for a request, with as many requests to a batch as given. Beside the service's own way, which hands buffers
// over in messages, stands a ring in shared memory for each direction, where a message is only the doorbell of a side
// that sleeps. The ways take turns, so that what else the machine does falls on both alike.

import { once } from 'node:events';
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { AnswerWriter, RequestWriter, readAnswers, readRequests } from '../src/shard/frames.ts';
import { bench, counts, positive } from './options.ts';

type Way = 'messages' | 'ring';

interface Far {
  readonly way: Way;
  readonly port: MessagePort;
  readonly requests: SharedArrayBuffer;
  readonly answers: SharedArrayBuffer;
}

type Send = (batch: ArrayBuffer) => void;

const ringBytes = 1024 * 1024;
const headBytes = 64;
/** Words of a ring's head: how far it was written and read, and whether its reader sleeps. */
const [written, read, asleep] = [0, 1, 2];

/** Batches in shared memory: one side writes, the other reads in the same order. Each starts with its length. */
class Ring {
  readonly #words: Int32Array;
  readonly #memory: Uint8Array;
  readonly #lengths: DataView;
  #at = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory, 0, headBytes / 4);
    this.#memory = new Uint8Array(memory, headBytes);
    this.#lengths = new DataView(memory, headBytes);
  }

  /** Writes a batch; true: the reader sleeps. */
  write(batch: Uint8Array): boolean {
    const start = this.#at % ringBytes;
    const skipped = start + batch.length > ringBytes ? ringBytes - start : 0;
    const length = (batch.length + 7) & ~7;
    if (this.#at + skipped + length - Atomics.load(this.#words, read) > ringBytes)
      throw new Error('the ring is full');
    if (skipped > 0) this.#lengths.setUint32(start, 0, true);
    this.#memory.set(batch, (start + skipped) % ringBytes);
    this.#at += skipped + length;
    Atomics.store(this.#words, written, this.#at);
    return Atomics.exchange(this.#words, asleep, 0) === 1;
  }

  /** Reads all that is there, then sleeps. */
  readAll(each: (batch: ArrayBuffer) => void): void {
    do {
      Atomics.store(this.#words, asleep, 0);
      while (this.#at !== Atomics.load(this.#words, written)) this.#readOne(each);
      Atomics.store(this.#words, asleep, 1);
    } while (this.#at !== Atomics.load(this.#words, written));
  }

  #readOne(each: (batch: ArrayBuffer) => void): void {
    const start = this.#at % ringBytes;
    const length = this.#lengths.getUint32(start, true);
    if (length === 0) {
      this.#at += ringBytes - start;
      return;
    }
    // A request waits in its shard's mailbox, and an answer is written to a socket: neither may stay in the ring.
    each(this.#memory.slice(start, start + length).buffer as ArrayBuffer);
    this.#at += (length + 7) & ~7;
    Atomics.store(this.#words, read, this.#at);
  }
}

/** Connects one side; returns how it sends a batch. */
function connect(
  way: Way,
  port: MessagePort,
  [out, into]: [SharedArrayBuffer, SharedArrayBuffer],
  onBatch: (batch: ArrayBuffer) => void,
): Send {
  if (way === 'messages') {
    port.on('message', onBatch);
    return (batch) => port.postMessage(batch, [batch]);
  }
  const [to, from] = [new Ring(out), new Ring(into)];
  port.on('message', () => from.readAll(onBatch));
  from.readAll(onBatch);
  return (batch) => {
    const used = new DataView(batch).getUint32(0, true);
    if (to.write(new Uint8Array(batch, 0, used))) port.postMessage(0);
  };
}

const request = {
  route: 0,
  flags: 2,
  language: 0,
  version: 255,
  org: 'org_000000000000000000000001',
  requestId: 'req_0000000000000000000000001',
  id: '',
  query: '',
  idempotencyKey: 'order-1042-000001234567',
  member: '',
  body: Buffer.alloc(110, 'x'),
};
const answer = {
  status: 200,
  flags: 0,
  errorNumber: 0,
  limit: 1,
  remaining: 1,
  resetSeconds: 1,
  retryAfterSeconds: 0,
  originalRequest: '',
};
const answerBody = 'x'.repeat(560);

/** The far side answers each batch of requests with one of answers. */
function answerAll({ way, port, requests, answers }: Far): void {
  const writer = new AnswerWriter();
  const send = connect(way, port, [answers, requests], (batch) => {
    readRequests(batch, ({ correlation }) => writer.put(correlation, answer, answer, answerBody));
    send(writer.take());
  });
  parentPort!.postMessage('ready');
}

/** Microseconds of processor time a request, with two batches on their way. */
async function measure(way: Way, size: number, batches: number): Promise<number> {
  const [requests, answers] = [0, 0].map(() => new SharedArrayBuffer(headBytes + ringBytes)) as [
    SharedArrayBuffer,
    SharedArrayBuffer,
  ];
  const { port1, port2 } = new MessageChannel();
  const data: Far = { way, port: port2, requests, answers };
  const worker = new Worker(new URL(import.meta.url), { workerData: data, transferList: [port2] });
  await once(worker, 'message');
  const writer = new RequestWriter();
  const done = Promise.withResolvers<void>();
  let [left, waiting] = [batches, 0];
  const send = connect(way, port1, [requests, answers], (batch) => {
    readAnswers(batch, () => waiting--);
    setImmediate(go);
  });
  function go(): void {
    for (; left > 0 && waiting <= size; left--) {
      for (let i = 0; i < size; i++) writer.put(i, request);
      waiting += size;
      send(writer.take());
    }
    if (waiting === 0) done.resolve();
  }
  const before = process.cpuUsage();
  go();
  await done.promise;
  const { user, system } = process.cpuUsage(before);
  port1.close();
  await worker.terminate();
  return (user + system) / (batches * size);
}

async function main(): Promise<void> {
  const { rounds, sizes, requests } = bench('hop', 'processor time of the way to a shard and back')
    .option('--rounds <n>', 'rounds, of which the median counts', positive, 7)
    .option('--sizes <n,…>', 'requests to a batch', counts, [8, 32, 128])
    .option('--requests <n>', 'requests in a round', positive, 100_000)
    .parse()
    .opts<{ rounds: number; sizes: number[]; requests: number }>();
  for (const size of sizes) {
    const found: Record<Way, number[]> = { messages: [], ring: [] };
    for (let round = 0; round < rounds; round++) {
      for (const way of ['messages', 'ring'] as const) {
        found[way].push(await measure(way, size, Math.ceil(requests / size)));
      }
    }
    const [messages, ring] = [found.messages, found.ring].map((each) =>
      each.sort((a, b) => a - b)[each.length >> 1]!.toFixed(2),
    );
    process.stdout.write(`batches of ${size}: messages ${messages} µs a request, ring ${ring} µs\n`);
  }
}

if (isMainThread) await main();
else answerAll(workerData as Far);
