// The end of the request logs in an edge, and in the main thread, where members give commands. It
// gathers entries in a buffer and hands the buffer, without a copy, to the thread that writes them,
// which gives it back. It never waits: when too much is not written yet, entries are dropped and
// counted, and the log says how many.

import { assert, defined, elementAt } from '../core/assert.ts';
import { type Answer, type Question, Questions } from '../rpc/questions.ts';
import { type AnsweredRequest, EntryWriter, gapBytes } from './entry.ts';
import type { AskLogs, LogQuestions } from './query.ts';
import type { LogScope } from './request-logs.ts';

/** From an edge: the entries of a batch, to be written and given back. */
export interface EntryBatch {
  readonly buffer: ArrayBuffer;
  readonly bytes: number;
  readonly senders: readonly LogScope[];
}

/** To an edge: the buffer of the oldest batch that was not acknowledged. */
export interface BatchWritten {
  readonly written: ArrayBuffer;
}

interface LogPort {
  postMessage(message: EntryBatch | Question<LogQuestions>, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: BatchWritten | Answer) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  close(): void;
}

interface RequestLogClientOptions {
  readonly clock: () => number;
  readonly later: (run: () => void, ms: number) => void;
  /** Called with the number of entries that were dropped. */
  readonly onDropped: (entries: number) => void;
}

/** Each batch costs the thread some 250 µs besides its entries, so there are some 1,300 in one. */
const bufferBytes = 1024 * 1024;
/** What may wait to be written: about a second of all that an edge can take. */
const batchesMax = 16;
/** When so many wait, an organization that has an equal part of their bytes or more gives way. */
const manyBatches = 12;
const spareMax = 2;
/** An entry waits this long at most before it is handed over. */
const gatherMs = 500;
const questionsMax = 256;
const gapsMax = 1_000;

/** What was handed over, by the numbers of the senders. */
interface Batch {
  readonly senders: readonly LogScope[];
  readonly counts: readonly number[];
  readonly bytes: readonly number[];
}

/** Asks nobody: no request logs are kept. */
export const askNoLogs: AskLogs = async () => null;

export class RequestLogClient {
  readonly #options: RequestLogClientOptions;
  #port: LogPort | null = null;
  readonly #spare: ArrayBuffer[] = [];
  readonly #writer = new EntryWriter(Buffer.alloc(0));
  #isBegun = false;
  #isFlushDue = false;
  #senders: LogScope[] = [];
  #counts: number[] = [];
  #bytes: number[] = [];
  /** The numbers of the senders in the batch, by organization, in test mode and in live mode. */
  readonly #numbers = [new Map<string, number>(), new Map<string, number>()] as const;
  #lastOrg = '';
  #lastLivemode = false;
  #lastNumber = 0;
  readonly #inFlight: Batch[] = [];
  /** By organization, and in all, the bytes in there. */
  readonly #waiting = new Map<string, number>();
  #waitingBytes = 0;
  readonly #questions = new Questions<LogQuestions>((question) => this.#port?.postMessage(question));
  /** How many entries were dropped, by their scopes. */
  readonly #dropped = new Map<string, { readonly scope: LogScope; missing: number }>();

  constructor(options: RequestLogClientOptions) {
    this.#options = options;
  }

  /** Hands batches to this port from now on. What the one before has not acknowledged is lost. */
  connect(port: LogPort): void {
    this.#lose();
    this.#port = port;
    port.on('message', (message) => {
      if ('question' in message) {
        this.#questions.take(message);
      } else if (this.#port === port) {
        const batch = defined(this.#inFlight.shift(), 'only a batch that was sent is given back');
        this.#countWaiting(batch, -1);
        this.#keepSpare(message.written);
      }
    });
    port.on('close', () => {
      if (this.#port === port) this.#lose();
    });
  }

  #lose(): void {
    this.#port = null;
    this.#questions.end(new Error('the request logs are away'));
    this.#waiting.clear();
    this.#waitingBytes = 0;
    for (const { senders, counts } of this.#inFlight.splice(0))
      for (const [number, { org, mode }] of senders.entries())
        this.#drop(org, mode === 'live', elementAt(counts, number));
  }

  put(org: string, entry: AnsweredRequest): void {
    const { livemode } = entry;
    if (this.#givesWay(org) || (!this.#isBegun && !this.#begin())) {
      this.#drop(org, livemode, 1);
      return;
    }
    const { used } = this.#writer;
    if (!this.#writer.put(this.#numberOf(org, livemode), entry)) {
      this.flush();
      this.put(org, entry);
      return;
    }
    this.#counts[this.#lastNumber]!++;
    this.#bytes[this.#lastNumber]! += this.#writer.used - used;
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#options.later(() => {
      this.#isFlushDue = false;
      this.flush();
    }, gatherMs);
  }

  #givesWay(org: string): boolean {
    if (this.#inFlight.length < manyBatches) return false;
    return (this.#waiting.get(org) ?? 0) * this.#waiting.size >= this.#waitingBytes;
  }

  /** Counts a batch that is handed over, or is written: `sign` is -1. */
  #countWaiting({ senders, bytes }: Batch, sign: 1 | -1): void {
    for (const [number, { org }] of senders.entries()) {
      const more = sign * elementAt(bytes, number);
      const left = (this.#waiting.get(org) ?? 0) + more;
      this.#waitingBytes += more;
      if (left === 0) this.#waiting.delete(org);
      else this.#waiting.set(org, left);
    }
  }

  /** Begins a batch, with what was dropped. Returns false when too much is not written yet. */
  #begin(): boolean {
    if (this.#port === null || this.#inFlight.length >= batchesMax) return false;
    this.#writer.begin(Buffer.from(this.#spare.pop() ?? new ArrayBuffer(bufferBytes)));
    this.#isBegun = true;
    let gaps = 0;
    for (const [name, { scope, missing }] of this.#dropped) {
      if (gaps++ === gapsMax) break;
      const number = this.#numberOf(scope.org, scope.mode === 'live');
      this.#writer.putGap(number, this.#options.clock(), missing);
      this.#counts[number]! += missing;
      this.#dropped.delete(name);
    }
    return true;
  }

  #numberOf(org: string, livemode: boolean): number {
    if (org === this.#lastOrg && livemode === this.#lastLivemode) return this.#lastNumber;
    const numbers = this.#numbers[livemode ? 1 : 0];
    let number = numbers.get(org);
    if (number === undefined) {
      number = this.#senders.length;
      numbers.set(org, number);
      this.#senders.push({ org, mode: livemode ? 'live' : 'test' });
      this.#counts.push(0);
      this.#bytes.push(0);
    }
    this.#lastOrg = org;
    this.#lastLivemode = livemode;
    this.#lastNumber = number;
    return number;
  }

  /** A request that is not to have an entry is no loss, but where it would stand is a gap. */
  leaveOut(org: string, livemode: boolean): void {
    this.#miss(org, livemode, 1);
  }

  #drop(org: string, livemode: boolean, entries: number): void {
    if (entries === 0) return;
    this.#miss(org, livemode, entries);
    this.#options.onDropped(entries);
  }

  #miss(org: string, livemode: boolean, entries: number): void {
    const name = `${org} ${livemode}`;
    const known = this.#dropped.get(name);
    if (known === undefined)
      this.#dropped.set(name, { scope: { org, mode: livemode ? 'live' : 'test' }, missing: entries });
    else known.missing += entries;
  }

  readonly ask: AskLogs = async (name, asks) => {
    if (this.#port === null || this.#questions.size >= questionsMax) return null;
    // It fails when the thread ends, or can't read: its log tells why.
    return this.#questions.ask(name, asks).catch(() => null);
  };

  flush(): void {
    if (!this.#isBegun) return;
    const { buffer, used } = this.#writer;
    const batch = { senders: this.#senders, counts: this.#counts, bytes: this.#bytes };
    this.#isBegun = false;
    this.#senders = [];
    this.#counts = [];
    this.#bytes = [];
    this.#lastOrg = '';
    for (const numbers of this.#numbers) numbers.clear();
    this.#inFlight.push(batch);
    this.#countWaiting(batch, 1);
    if (this.#port === null) {
      this.#lose();
      return;
    }
    const whole = buffer.buffer as ArrayBuffer;
    this.#port.postMessage({ buffer: whole, bytes: used, senders: batch.senders }, [whole]);
  }

  #keepSpare(buffer: ArrayBuffer): void {
    if (this.#spare.length < spareMax) this.#spare.push(buffer);
  }

  /** Hands over what was gathered, and lets the port end. */
  disconnect(): void {
    this.flush();
    this.#port?.close();
    this.#port = null;
  }
}

assert(gapsMax * gapBytes < bufferBytes / 2, 'a batch has room for its gaps and an entry');
