// One thread as the main thread sees it: started, asked questions, told to stop. A thread takes instructions from the
// moment that it is made and gets to them when it is ready. A question that is open when the thread ends is rejected.

import { type MessagePort, Worker } from 'node:worker_threads';
import type { Instruction, News, Notice } from './thread-protocol.ts';

type Question = Extract<Instruction, { question: number }>;
type Unnumbered<T> = T extends unknown ? Omit<T, 'question'> : never;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class ThreadFailure extends Error {
  override name = 'ThreadFailure';
  /** Starting the thread again can't help. */
  readonly fatal: boolean;
  constructor(message: string, fatal: boolean) {
    super(message);
    this.fatal = fatal;
  }
}

export class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #question = 0;
  #isReady = false;
  #failure: ThreadFailure | null = null;
  /** Settles when the thread has ended: with why, or null when it was told to. */
  readonly ended: Promise<ThreadFailure | null>;
  /** Settles when the thread is ready; rejects when it ends before. */
  readonly ready: Promise<void>;

  /** `heapMib`: what its heap may grow to; a thread that needs more ends. */
  constructor(entry: URL, data: unknown, onNews: (news: News) => void = () => {}, heapMib?: number) {
    const limits = heapMib === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMib } };
    this.#worker = new Worker(entry, { workerData: data, ...limits });
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    // A thread that nobody waits for any more may fail to become ready.
    this.ready.catch(() => {});
    this.#worker.on('message', (notice: Notice) => {
      if (notice.type === 'ready') {
        this.#isReady = true;
        ready.resolve();
      } else if (notice.type === 'failed') this.#failure = new ThreadFailure(notice.message, notice.fatal);
      else if (notice.type !== 'answer') onNews(notice);
      else this.#settle(notice.question, notice.value);
    });
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      const advice = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `; its heap may take ${heapMib} MiB` : '';
      this.#failure ??= new ThreadFailure(error.message + advice, false);
    });
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#isReady = false;
        if (code !== 0) this.#failure ??= new ThreadFailure(`the thread ended with code ${code}`, false);
        const failure = this.#failure ?? new ThreadFailure('the thread has ended', false);
        for (const waiting of this.#waiting.values()) waiting.reject(failure);
        this.#waiting.clear();
        ready.reject(failure);
        resolve(this.#failure);
      });
    });
  }

  /** It has become ready and has not ended. */
  get isReady(): boolean {
    return this.#isReady;
  }

  connect(number: number, port: MessagePort): void {
    this.#worker.postMessage({ type: 'connect', number, port } satisfies Instruction, [port]);
  }

  /** Asks, and settles with the answer. */
  ask(question: Unnumbered<Question>): Promise<unknown> {
    const number = ++this.#question;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ ...question, question: number });
    });
  }

  /** Has a thread that is ready finish its work; ends one that is not ready yet as it is. Settles when it has ended. */
  async stop(): Promise<void> {
    if (this.#isReady) await this.ask({ type: 'stop' }).catch(() => {});
    else await this.#worker.terminate();
    await this.ended;
  }

  #settle(question: number, value: unknown): void {
    this.#waiting.get(question)?.resolve(value);
    this.#waiting.delete(question);
  }
}
