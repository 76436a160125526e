// Sorts more lines than fit into memory: each part in memory, into a file, and then all files
// merged. An open file has no name any more, so nothing stays behind, however the process ends.

import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { elementAt } from '../../core/assert.ts';

const charactersMax = 8 * 1024 * 1024;
/** So many files are open at most; then they are merged into one. */
const runsMax = 64;
const readBytes = 64 * 1024;
const newline = 0x0a;

/** Lines must not contain line breaks. They are sorted as JavaScript compares texts. */
export class ExternalSort {
  readonly #folder: string;
  readonly #partCharactersMax: number;
  #lines: string[] = [];
  #characters = 0;
  #runs: FileHandle[] = [];

  /** `folder` has room for the files. */
  constructor(folder: string, partCharactersMax = charactersMax) {
    this.#folder = folder;
    this.#partCharactersMax = partCharactersMax;
  }

  async add(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      this.#lines.push(line);
      this.#characters += line.length;
      if (this.#characters >= this.#partCharactersMax) await this.#writePart();
    }
  }

  /** All lines in order, some at a time. Nothing can be added afterwards. */
  async *sorted(): AsyncGenerator<readonly string[]> {
    await this.#writePart();
    yield* merged(this.#runs);
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.close()));
    this.#runs = [];
  }

  async #writePart(): Promise<void> {
    if (this.#lines.length === 0) return;
    if (this.#runs.length === runsMax) {
      const one = await this.#newRun();
      for await (const lines of merged(this.#runs)) await write(one, lines);
      await this.close();
      this.#runs = [one];
    }
    const run = await this.#newRun();
    this.#runs.push(run);
    await write(run, this.#lines.sort(inOrder));
    this.#lines = [];
    this.#characters = 0;
  }

  async #newRun(): Promise<FileHandle> {
    const path = join(this.#folder, `payments-${randomUUID()}.sorted`);
    const run = await open(path, 'wx+', 0o600);
    await unlink(path);
    return run;
  }
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const writtenLinesMax = 10_000;

async function write(run: FileHandle, lines: readonly string[]): Promise<void> {
  for (let from = 0; from < lines.length; from += writtenLinesMax) {
    const text = lines.slice(from, from + writtenLinesMax).join('\n');
    await run.writeFile(`${text}\n`);
  }
}

/** Merges sorted files. */
async function* merged(runs: readonly FileHandle[]): AsyncGenerator<readonly string[]> {
  const readers = runs.map((run) => new RunReader(run));
  await Promise.all(readers.map((reader) => reader.fill()));
  let left = readers.filter((reader) => !reader.isEmpty);
  while (left.length > 0) {
    const lines: string[] = [];
    // As long as each reader has a line, the first of these lines is the next one of all.
    for (;;) {
      const least = left.reduce((a, b) => (b.head < a.head ? b : a));
      lines.push(least.take());
      if (least.isEmpty) {
        await least.fill();
        break;
      }
    }
    yield lines;
    left = left.filter((reader) => !reader.isEmpty);
  }
}

/** Reads a file line by line, a part of it at a time. */
class RunReader {
  readonly #run: FileHandle;
  #offset = 0;
  #lines: readonly string[] = [];
  #position = 0;

  constructor(run: FileHandle) {
    this.#run = run;
  }

  get isEmpty(): boolean {
    return this.#position === this.#lines.length;
  }

  get head(): string {
    return elementAt(this.#lines, this.#position);
  }

  take(): string {
    return elementAt(this.#lines, this.#position++);
  }

  /** Reads on; afterwards it is empty only at the end of the file. */
  async fill(): Promise<void> {
    for (let bytes = readBytes; ; bytes *= 2) {
      const { buffer, bytesRead } = await this.#run.read(Buffer.allocUnsafe(bytes), 0, bytes, this.#offset);
      const end = bytesRead === 0 ? 0 : buffer.lastIndexOf(newline, bytesRead - 1);
      if (end < 0) continue;
      this.#lines = bytesRead === 0 ? [] : buffer.toString('utf8', 0, end).split('\n');
      this.#position = 0;
      this.#offset += end + 1;
      return;
    }
  }
}
