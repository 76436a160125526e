// A thread as the main thread sees it: it is started, told to begin, asked, and told to stop.
// Instructions can be sent at once; the thread handles them when it is ready. A question that is
// open when the thread ends is rejected. What must not share this process's memory runs in a
// process of its own, and is a thread to the rest of the service all the same.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { MessagePort, type TransferListItem } from 'node:worker_threads';
import type { WireEnd } from '../cluster/wires.ts';
import { Questions } from '../rpc/questions.ts';
import { InstructionGate } from './instruction-gate.ts';
import { startWorker, type WaitingWorker } from './start-worker.ts';
import type { Connection, Instruction, News, Notice, ThreadQuestions } from './thread-protocol.ts';
import { startDataVariable } from './thread-side.ts';

// V8 collects a small heap in full whenever that, with the buffers beside it, has grown by some
// megabytes. A shard holds tens of megabytes of buffers until its checkpoint has them, so V8 would
// mark its heap every few thousand requests and free nothing. Below this size, or half of a smaller
// limit, it leaves the old generation alone.
const quietHeapMib = 128;

/** Longer than a link that is lost takes to show. */
const unansweredMsMax = 5_000;
/** A node that takes longer to begin with a thread may never do so, as when its disk hangs. */
export const startMsMax = 60_000;

/** Has V8 leave small heaps alone. To be called before the first thread is started. */
export function quietHeaps(): void {
  setFlagsFromString(`--initial-old-space-size=${quietHeapMib}`);
}

export class ThreadFailure extends Error {
  override name = 'ThreadFailure';
  /** Another start of the thread can't help, on the same node unless `isRemote`. */
  readonly fatal: boolean;
  /** Other machines have failed, not the node that it ran on. */
  readonly isRemote: boolean;
  constructor(message: string, fatal: boolean, isRemote = false) {
    super(message);
    this.fatal = fatal;
    this.isRemote = isRemote;
  }

  /** The node that it ran on can't run the thread, and another one may. */
  get isOfNode(): boolean {
    return this.fatal && !this.isRemote;
  }
}

/** The port comes from the node where the thread runs. */
type WireInstruction = Connection & { readonly count: number; readonly wire: WireEnd };

/** What a thread runs in. */
interface Carrier {
  /** It waits until this is called; null: it has begun. */
  readonly waiting: Pick<WaitingWorker, 'begin' | 'abandon'> | null;
  postMessage(message: Instruction | WireInstruction, transfer?: readonly TransferListItem[]): void;
  onMessage(listener: (notice: Notice) => void): void;
  onError(listener: (error: NodeJS.ErrnoException) => void): void;
  onExit(listener: (code: number | null) => void): void;
}

/** A kind of thread of this process. */
export interface WorkerKind {
  readonly name: string;
  readonly entry: URL;
  /** The largest size of its heap: a thread that needs more ends. */
  readonly heapMib?: number;
}

function carrierThread({ name, entry, heapMib }: WorkerKind): Carrier {
  const limits = heapMib === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMib } };
  const waiting = startWorker(entry, { name, ...limits });
  const { worker } = waiting;
  return {
    waiting,
    postMessage: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) => worker.on('message', listener),
    onError: (listener) => worker.on('error', listener),
    onExit: (listener) => worker.on('exit', listener),
  };
}

/** A process of its own. It ends with this one. */
function carrierProcess(entry: URL, data: unknown): Carrier {
  const env = { ...process.env, [startDataVariable]: JSON.stringify(data) };
  const child = fork(fileURLToPath(entry), [], { env, execArgv: [] });
  return {
    waiting: null,
    postMessage: (message) => void (child.connected && child.send(message)),
    onMessage: (listener) => child.on('message', listener),
    onError: (listener) => child.on('error', listener),
    onExit: (listener) => child.on('exit', listener),
  };
}

/**
 * A thread of another node, over a port that comes out there. `where`: how that node is called. It
 * has ended when it says so, or when the port is closed.
 */
function carrierElsewhere(port: MessagePort, where: string): Carrier {
  const ended = Promise.withResolvers<number>();
  let onError: (error: Error) => void = () => {};
  port.on('message', (message: FromElsewhere) => {
    if (message.type === 'exit') ended.resolve(message.code);
  });
  port.on('close', () => {
    onError(new Error(`the link to ${where} is lost`));
    ended.resolve(1);
  });
  return {
    waiting: null,
    postMessage: (message, transfer) => port.postMessage(message, transfer),
    onMessage: (listener) =>
      port.on('message', (message: FromElsewhere) => {
        if (message.type !== 'exit') listener(message);
      }),
    onError: (listener) => {
      onError = listener;
    },
    onExit: (listener) => void ended.promise.then(listener),
  };
}

/** Where a thread of another node runs. */
interface Place {
  readonly process: string;
  /** Ends all that has to do with that node. */
  readonly giveUp: () => void;
}

/** What comes of a thread of another node. */
type FromElsewhere = Notice | { readonly type: 'exit'; readonly code: number };

export class Thread {
  readonly #carrier: Carrier;
  /** Where it runs; null: on this node. */
  readonly #place: Place | null;
  /** How many times it was connected. */
  #connections = 0;
  /** Hears everything that the thread says; null: nobody does. */
  #follower: MessagePort | null = null;
  #waiting: Carrier['waiting'];
  #onNews: (news: News) => void = () => {};
  #questions: Questions<ThreadQuestions>;
  #isReady = false;
  /** It was not ready in time. */
  #isLate = false;
  /** It was told to stop. */
  #isStopped = false;
  #failure: ThreadFailure | null = null;
  /** Why it answers nothing any more; null: it has not ended. */
  #gone: ThreadFailure | null = null;
  /**
   * Resolves when the thread has ended: with the failure, or with null when it was told to stop.
   */
  readonly ended: Promise<ThreadFailure | null>;
  /** Resolves when the thread is ready; rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly #waits = Promise.withResolvers<void>();
  /** Resolves when its start is seen to wait for other machines, nobody knows for how long. */
  readonly waits: Promise<void> = this.#waits.promise;

  /** One that loads its files, and then waits until it is to begin. */
  static worker(kind: WorkerKind): Thread {
    return new Thread(carrierThread(kind), kind.heapMib);
  }

  /** One that runs in a process of its own, and begins at once; `data` is plain JSON. */
  static process(entry: URL, data: unknown): Thread {
    return new Thread(carrierProcess(entry, data));
  }

  /** One that another node runs, which has begun; `name`: how that node is called. */
  static elsewhere(port: MessagePort, { name, ...place }: Place & { readonly name: string }): Thread {
    return new Thread(carrierElsewhere(port, name), undefined, place);
  }

  private constructor(carrier: Carrier, heapMib?: number, place: Place | null = null) {
    this.#carrier = carrier;
    this.#place = place;
    this.#waiting = carrier.waiting;
    this.#questions = new Questions((question) => carrier.postMessage(question));
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    // The promise may reject when nobody waits for it any more.
    this.ready.catch(() => {});
    this.#carrier.onMessage((notice) => {
      this.#follower?.postMessage(notice);
      if (notice.type === 'ready') {
        this.#isReady = true;
        ready.resolve();
      } else if (notice.type === 'waits') this.#waits.resolve();
      else if (notice.type === 'failed') {
        const { message, fatal, isRemote } = notice;
        this.#failure = new ThreadFailure(message, fatal, isRemote);
      } else if ('question' in notice) this.#questions.take(notice);
      else this.#onNews(notice);
    });
    this.#carrier.onError((error) => {
      const advice = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `; its heap may take ${heapMib} MiB` : '';
      this.#failure ??= new ThreadFailure(error.message + advice, false);
    });
    this.ended = new Promise((resolve) => {
      this.#carrier.onExit((code) => {
        this.#isReady = false;
        if (code !== 0) this.#failure ??= new ThreadFailure(`the thread ended with code ${code}`, false);
        this.#gone = this.#failure ?? new ThreadFailure('the thread has ended', false);
        this.#questions.end(this.#gone);
        ready.reject(this.#gone);
        this.#tellEnd(code ?? 1);
        resolve(this.#failure);
      });
    });
  }

  #tellEnd(code: number): void {
    this.#follower?.postMessage({ type: 'exit', code } satisfies FromElsewhere);
    this.#follower?.close();
  }

  begin(data: unknown, onNews: (news: News) => void = () => {}): this {
    this.#onNews = onNews;
    this.#waiting?.begin(data);
    this.#waiting = null;
    return this;
  }

  /**
   * Lets another node have the thread, over a port that comes out there, as soon as it begins.
   * `instructions`: what comes over the port, if something else has taken it until now.
   */
  giveAway(port: MessagePort, instructions = new InstructionGate(port)): void {
    this.#follower = port;
    // It may have failed while it waited.
    if (this.#gone !== null) this.#tellEnd(1);
    this.#questions = new Questions((question) => this.#carrier.postMessage(question), undefined, -1);
    instructions.open((instruction) =>
      this.#carrier.postMessage(instruction, 'port' in instruction ? [instruction.port] : []),
    );
  }

  /** Hears when the thread ends though nobody has told it to stop. `name`: how it is called. */
  onLost(name: string, listener: (failure: ThreadFailure) => void): void {
    void this.ended.then((failure) => {
      if (!this.#isStopped) listener(failure ?? new ThreadFailure(`${name} has ended`, false));
    });
  }

  /** It runs on another node. */
  get isElsewhere(): boolean {
    return this.#place !== null;
  }

  /** The process of the other node that it runs on; null: it runs on this one. */
  get process(): string | null {
    return this.#place?.process ?? null;
  }

  /** It has become ready and has not ended. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The thread's own node turns the end of a wire into a port. */
  connect(connection: Connection, over: MessagePort | WireEnd): void {
    const count = ++this.#connections;
    if (over instanceof MessagePort) this.#carrier.postMessage({ ...connection, count, port: over }, [over]);
    else this.#carrier.postMessage({ ...connection, count, wire: over });
  }

  /** Asks a question. Rejects when the thread has ended, or ends before it has answered. */
  get ask(): Questions<ThreadQuestions>['ask'] {
    const gone = this.#gone;
    if (gone !== null) return () => Promise.reject(gone);
    return this.#questions.ask.bind(this.#questions);
  }

  /**
   * Asks what somebody waits for: a node that has not answered for a while is given up, so that
   * one that hangs does not hold up the service. A thread that still starts answers later.
   */
  async askSoon<N extends 'account' | 'keys' | 'stop'>(
    type: N,
    asks: ThreadQuestions[N]['asks'],
  ): Promise<void> {
    const msMax = this.#isReady || this.#isLate ? unansweredMsMax : startMsMax;
    const timer = this.#place === null ? undefined : setTimeout(this.#place.giveUp, msMax);
    try {
      await this.ask(type, asks);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Stops the thread unless it is ready in time, or has as long again because it is excused.
   * `onLate` hears of that first.
   */
  startWithin(msMax: number, isExcused: () => boolean, onLate: () => void): void {
    let timer: NodeJS.Timeout;
    const wait = () => {
      timer = setTimeout(() => {
        if (isExcused()) return wait();
        this.#isLate = true;
        onLate();
        void this.stop();
      }, msMax);
    };
    wait();
    const isOver = () => clearTimeout(timer);
    this.ready.then(isOver, isOver);
  }

  /**
   * Lets the thread finish its work, and its start before that. Resolves when it has ended. No
   * thread is terminated: within LMDB's library that would end the process.
   */
  async stop(how: ThreadQuestions['stop']['asks'] = {}): Promise<void> {
    this.#isStopped = true;
    if (this.#waiting !== null) this.#waiting.abandon();
    else await this.askSoon('stop', how).catch(() => {});
    await this.ended;
  }
}
