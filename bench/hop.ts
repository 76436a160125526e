// `node bench/hop.ts`: the way between an edge and its shard, and back, without what either does: processor time of both
// threads for a request, with as many requests to a batch as given. Beside the service's own way, which hands buffers
// over in messages, stands a ring in shared memory for each direction, where a message is only the doorbell of a side
// that sleeps, and the way to a shard that another node runs, over a link. The ways take turns, so that what else the
// machine does falls on all alike.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { Link } from '../src/cluster/link.ts';
import { connectToNode, createNodeServer, proofByKey } from '../src/cluster/node-tls.ts';
import { AnswerWriter, RequestWriter, readAnswers } from '../src/shard/frames.ts';
import { freePort } from '../test/free-port.ts';
import { readRequests } from '../test/shard/read-requests.ts';
import { bench, counts, positive } from './options.ts';
import { median } from './report.ts';

const ways = ['messages', 'ring', 'link'] as const;
type Way = (typeof ways)[number];

interface Far {
  readonly end: 'shard';
  readonly way: Way;
  readonly port: MessagePort;
  readonly requests: SharedArrayBuffer;
  readonly answers: SharedArrayBuffer;
}

/** An end of a link: the one that listens tells the port that comes out there. */
interface LinkEnd {
  readonly end: 'listened' | 'dialed';
  readonly tcpPort: number;
  readonly key: Uint8Array;
  /** That of the one that dials, which is to come out there. */
  readonly port: MessagePort | null;
}

type Send = (batch: ArrayBuffer) => void;

const ringBytes = 1024 * 1024;
/** For the time of one that nothing else waits for. */
const aloneBatches = 500;
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
  if (way !== 'ring') {
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

async function runLinkEnd({ end, tcpPort, key, port }: LinkEnd): Promise<void> {
  const options = {
    onControl() {},
    onOpened: (_: unknown, opened: MessagePort) => parentPort!.postMessage(opened, [opened]),
    silentMsMax: 600_000,
    onEnded() {},
  };
  if (end === 'listened') {
    const server = createNodeServer(proofByKey(Buffer.from(key)), (socket) => {
      socket.setNoDelay(true);
      new Link(socket, end, options);
    });
    server.listen(tcpPort, '127.0.0.1', () => parentPort!.postMessage('ready'));
  } else {
    const link = new Link(
      await connectToNode({ host: '127.0.0.1', port: tcpPort }, 'b', proofByKey(Buffer.from(key))),
      end,
      options,
    );
    link.open(null, port!);
  }
}

function start(data: Far | LinkEnd): Worker {
  const transferList = data.port === null ? [] : [data.port];
  return new Worker(new URL(import.meta.url), { workerData: data, transferList });
}

/** Leads `port` over a link; resolves with its other end, and the threads of the link. */
async function overLink(port: MessagePort): Promise<{ port: MessagePort; threads: readonly Worker[] }> {
  const both = { tcpPort: await freePort(), key: randomBytes(32) };
  const listened = start({ ...both, end: 'listened', port: null });
  await once(listened, 'message');
  const dialed = start({ ...both, end: 'dialed', port });
  const [opened] = await once(listened, 'message');
  return { port: opened, threads: [listened, dialed] };
}

interface Measured {
  /** Microseconds of processor time a request, of all threads. */
  readonly microseconds: number;
  /** Milliseconds from a batch to its answers. */
  readonly medianMs: number;
}

/** With so many batches on their way at a time. */
async function measure(way: Way, size: number, batches: number, ahead: number): Promise<Measured> {
  const [requests, answers] = [0, 0].map(() => new SharedArrayBuffer(headBytes + ringBytes)) as [
    SharedArrayBuffer,
    SharedArrayBuffer,
  ];
  const { port1, port2 } = new MessageChannel();
  const led = way === 'link' ? await overLink(port2) : { port: port2, threads: [] };
  const far = start({ end: 'shard', way, port: led.port, requests, answers });
  await once(far, 'message');
  const writer = new RequestWriter();
  const done = Promise.withResolvers<void>();
  let [left, waiting] = [batches, 0];
  const sentMs: number[] = [];
  const tookMs: number[] = [];
  const send = connect(way, port1, [requests, answers], (batch) => {
    readAnswers(batch, () => waiting--);
    tookMs.push(performance.now() - sentMs.shift()!);
    setImmediate(go);
  });
  function go(): void {
    for (; left > 0 && waiting <= size * (ahead - 1); left--) {
      for (let i = 0; i < size; i++) writer.put(i, request);
      waiting += size;
      sentMs.push(performance.now());
      send(writer.take());
    }
    if (waiting === 0) done.resolve();
  }
  const before = process.cpuUsage();
  go();
  await done.promise;
  const { user, system } = process.cpuUsage(before);
  port1.close();
  await Promise.all([far, ...led.threads].map((thread) => thread.terminate()));
  return { microseconds: (user + system) / (batches * size), medianMs: median(tookMs) };
}

async function main(): Promise<void> {
  const { rounds, sizes, requests } = bench('hop', 'processor time of the way to a shard and back')
    .option('--rounds <n>', 'rounds, of which the median counts', positive, 7)
    .option('--sizes <n,…>', 'requests to a batch', counts, [8, 32, 128])
    .option('--requests <n>', 'requests in a round', positive, 100_000)
    .parse()
    .opts<{ rounds: number; sizes: number[]; requests: number }>();
  for (const size of sizes) {
    const found: Record<Way, Measured[]> = { messages: [], ring: [], link: [] };
    const alone: Record<Way, Measured[]> = { messages: [], ring: [], link: [] };
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) {
        found[way].push(await measure(way, size, Math.ceil(requests / size), 2));
        alone[way].push(await measure(way, size, aloneBatches, 1));
      }
    }
    const microseconds = (way: Way) => median(found[way].map((each) => each.microseconds));
    const ms = (way: Way) => median(alone[way].map(({ medianMs }) => medianMs));
    const told = ways.map(
      (way) => `${way} ${microseconds(way).toFixed(2)} µs a request (${ms(way).toFixed(2)} ms alone)`,
    );
    const atEachNode = (microseconds('link') - microseconds('messages')) / 2;
    process.stdout.write(
      `batches of ${size}: ${told.join(', ')}; a link adds ${atEachNode.toFixed(2)} µs at each node\n`,
    );
  }
}

if (isMainThread) await main();
else {
  const data = workerData as Far | LinkEnd;
  if (data.end === 'shard') answerAll(data);
  else await runLinkEnd(data);
}
