// Logs are JSON lines on standard output, or readable lines when that is a terminal. Every thread
// has a logger of its own and writes to the same descriptor. It writes whole lines, in pieces small
// enough for a pipe to take at once, so that the lines of different threads don't mix. Lines are
// gathered for a moment, so that one system call writes about twenty. The gathered lines are
// written with a fatal one and when the thread ends by itself, but not when it is terminated.
//
// No secret may be logged. `scrub` is the second line of defence: every line passes through it.

import { isatty } from 'node:tty';
import { format } from 'node:util';
import pino, { type DestinationStream, type Logger } from 'pino';
import { scrub } from '../core/secret-text.ts';

export type { Logger };

/** The bytes that a pipe takes in one piece (PIPE_BUF on Linux). */
const writeBytesMax = 4096;
/** A buffer takes lines for many writes: a new one for each would cost as much as a line. */
const bufferBytes = 64 * 1024;
/** The most UTF-8 bytes that a UTF-16 unit can take. */
const utf8BytesMax = 3;
const flushIntervalMs = 250;
/** When more bytes than this wait to be written, further lines are dropped. */
const unwrittenBytesMax = 1024 * 1024;
const terminal = 1;

/**
 * A logger for this thread. `thread` names it in every line (`main`, `edge-0`, `shard-1`); `level`
 * is the least severe level written; `destination` replaces standard output.
 */
export async function createLogger(options: {
  readonly level: string;
  readonly thread: string;
  readonly destination?: DestinationStream;
}): Promise<Logger> {
  const destination = options.destination ?? (isatty(terminal) ? await openPretty() : openBuffered());
  return pino(
    {
      level: options.level,
      base: { thread: options.thread },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: scrub },
    },
    destination,
  );
}

/**
 * Logs what libraries print on the console of this thread: the storage engine prints every failed
 * commit. What Node prints at a crash does not pass the console, and goes to standard error.
 */
export function logConsole(logger: Pick<Logger, 'error' | 'warn'>, target: Printer = console): void {
  for (const level of ['error', 'warn'] as const) {
    target[level] = (...data) => {
      const err = data.find((each) => each instanceof Error);
      if (err === undefined) logger[level](format(...data));
      else logger[level]({ err }, err.message);
    };
  }
}

type Printer = Pick<Console, 'error' | 'warn'>;

function openBuffered(): DestinationStream {
  const destination = pino.destination({
    fd: terminal,
    // A thread's end can't wait for asynchronous writes: lines would be lost or misplaced.
    sync: true,
    contentMode: 'buffer',
    maxLength: unwrittenBytesMax,
  } as Parameters<typeof pino.destination>[0]);
  // When lines can't be written (reader gone, disk full), the thread goes on, and can end.
  let isRefused = false;
  destination.on('error', () => {
    isRefused = true;
  });
  const lines = new GatheredLines((bytes) => destination.write(bytes as unknown as string));
  process.on('exit', () => {
    lines.flush();
    // `flushSync` retries for ever; `flush` tries once.
    if (!isRefused) destination.flushSync();
  });
  return lines;
}

/** Encodes lines, and writes them together after a moment, or before they are too many. */
export class GatheredLines implements DestinationStream {
  readonly #writeBytes: (bytes: Uint8Array) => void;
  #buffer = Buffer.allocUnsafe(bufferBytes);
  /** Where the lines begin that were not written yet, and where they end. */
  #start = 0;
  #end = 0;
  #isFlushDue = false;

  constructor(writeBytes: (bytes: Uint8Array) => void) {
    this.#writeBytes = writeBytes;
  }

  write(line: string): void {
    const bytesMax = line.length * utf8BytesMax;
    if (bytesMax > this.#buffer.length - this.#end) this.#replace(bytesMax);
    const lineEnd = this.#end + this.#buffer.write(line, this.#end);
    if (lineEnd - this.#start > writeBytesMax) this.flush();
    this.#end = lineEnd;
    // A thread that logs nothing is not woken.
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setTimeout(() => {
      this.#isFlushDue = false;
      this.flush();
    }, flushIntervalMs).unref();
  }

  /** pino calls this after a line of the level `fatal`, because the process may end at once. */
  flushSync(): void {
    this.flush();
  }

  flush(): void {
    if (this.#start === this.#end) return;
    this.#writeBytes(this.#buffer.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  /** The destination may keep the bytes for a while, so no part of a buffer is used twice. */
  #replace(bytes: number): void {
    this.flush();
    this.#buffer = Buffer.allocUnsafe(Math.max(bytes, bufferBytes));
    this.#start = 0;
    this.#end = 0;
  }
}

async function openPretty(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ sync: true, ignore: 'thread', messageFormat: '[{thread}] {msg}' });
}
