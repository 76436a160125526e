// The log of a shard as files of a backup or an archive (archive-file.ts). A file has some batches in order, and is named after
// its first and last sequence, `0000000000000001-0000000000004711.log`. The next file continues where one ends; batches that are
// in two files count once. The changes of the directory are stored in the same way, with its revisions in place of sequences.
// Backups and the archive write these files, restore and the log's tools read them.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../core/assert.ts';
import {
  ArchiveDamaged,
  type Frame,
  plainNameOf,
  type ReadOptions,
  readArchiveFile,
  type WriteOptions,
  type WrittenFile,
  writeArchiveFile,
} from '../disk/archive-file.ts';
import { type Part, partOf, type ShardIdentity, tagOf } from '../disk/identity.ts';
import type { Change } from '../domain/record.ts';
import { JournalDamaged } from './journal.ts';
import { type BatchHeader, batchDefect, decodeBatch, readBatchHeader, responseOf } from './log/codec.ts';
import {
  type FoundBatch,
  Gaps,
  isDefect,
  type LogDefect,
  type LogRange,
  type LogSource,
} from './log-reader.ts';

const digits = 16;
const namePattern = /^(\d{16})-(\d{16})\.log$/;

/** A file, by the first and the last sequence in it. */
export interface LogFile {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/** A commit batch of a file. */
export interface FiledBatch extends BatchHeader {
  readonly bytes: Buffer;
}

/** A batch or a change for a file, with its position in the order. */
export interface Sequenced {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly bytes: Uint8Array;
}

function logFileName(first: number, last: number): string {
  return `${String(first).padStart(digits, '0')}-${String(last).padStart(digits, '0')}.log`;
}

/** The files in a folder, in order. A folder that does not exist has none. */
export function logFilesIn(folder: string): LogFile[] {
  const files: LogFile[] = [];
  for (const name of namesIn(folder)) {
    const [, first, last] = namePattern.exec(plainNameOf(name)) ?? [];
    if (first !== undefined)
      files.push({ path: join(folder, name), first: Number(first), last: Number(last) });
  }
  return files.sort((a, b) => a.first - b.first || a.last - b.last);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A file that was written, and what is in it. */
export interface WrittenLogFile extends WrittenFile {
  readonly first: number;
  readonly last: number;
}

/**
 * Writes batches (or changes of the directory) to one file, until it has about `bytesMax` bytes. The rest of `source` is for the
 * next file. Settles with null when there are none.
 */
export async function writeLogFile(
  folder: string,
  part: Part,
  type: Frame['type'],
  source: AsyncIterator<Sequenced>,
  bytesMax: number,
  options: WriteOptions,
): Promise<WrittenLogFile | null> {
  const begun = await source.next();
  if (begun.done === true) return null;
  const first = begun.value.firstSequence;
  let last = begun.value.lastSequence;
  let bytes = begun.value.bytes.length;
  const frames = (async function* () {
    yield { type, bytes: begun.value.bytes };
    while (bytes < bytesMax) {
      const { done, value } = await source.next();
      if (done === true) return;
      last = value.lastSequence;
      bytes += value.bytes.length;
      yield { type, bytes: value.bytes };
    }
  })();
  const written = await writeArchiveFile(folder, () => logFileName(first, last), part, frames, options);
  return { ...written, first, last };
}

/** Files, with the known digests by path. */
export interface LogFiles {
  readonly files: readonly LogFile[];
  readonly part: Part;
  readonly identities: readonly string[];
  readonly digests?: ReadonlyMap<string, string>;
}

/**
 * The commit batches of files after `after`, in order. Throws `JournalDamaged` when some are missing, except for those before
 * `neededAfter`, which are not needed.
 */
export async function* followFiles(
  source: LogFiles,
  tag: Buffer,
  after: number,
  neededAfter: number,
): AsyncGenerator<FiledBatch> {
  const read = (path: string, bytes: Uint8Array, next: number) => {
    const batch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const header = batch.length >= 40 ? readBatchHeader(batch) : null;
    const defect = batchDefect(batch, header?.firstSequence ?? next, tag);
    if (defect !== null) throw new JournalDamaged(`${path} is damaged at sequence ${next}: ${defect}`);
    return { bytes: batch, ...defined(header, 'a batch without a defect has a header') };
  };
  yield* inOrder(source, read, after, neededAfter);
}

/** The results of `read` for the frames of the files after `after`, in order. */
export async function* inOrder<T extends Sequenced>(
  { files, part, identities, digests }: LogFiles,
  read: (path: string, bytes: Uint8Array, next: number) => T,
  after: number,
  neededAfter: number,
): AsyncGenerator<T> {
  let next = after + 1;
  for (const { path, last } of files) {
    if (last < next) continue;
    const options: ReadOptions = { identities, ...digestOption(digests?.get(path)) };
    for await (const { bytes } of readArchiveFile(path, part, options)) {
      const item = read(path, bytes, next);
      if (item.lastSequence < next) continue;
      if (item.firstSequence > Math.max(next, neededAfter + 1))
        throw new JournalDamaged(
          `${path} goes on at sequence ${item.firstSequence}: ${next} to ${item.firstSequence - 1} are in no file. ` +
            'Add the file that holds them, or restore up to what comes before',
        );
      yield item;
      next = item.lastSequence + 1;
    }
    if (next <= last)
      throw new ArchiveDamaged(path, 0, `it ends with sequence ${next - 1} and is named for ${last}`);
  }
}

function digestOption(sha256: string | undefined): Pick<ReadOptions, 'sha256'> {
  return sha256 === undefined ? {} : { sha256 };
}

/** An entry of a batch, with the request that caused it. */
export interface FiledEntry {
  readonly sequence: number;
  readonly changes: readonly Change[];
  /** The API request that caused it; null when none did. */
  readonly requestId: string | null;
}

/** The entries of a batch after `after`. */
export function entriesOf({ bytes }: { readonly bytes: Buffer }, after: number): FiledEntry[] {
  return decodeBatch(bytes)
    .filter(({ sequence }) => sequence > after)
    .map(({ sequence, changes, idempotency, cause }) => ({
      sequence,
      changes,
      requestId: responseOf(bytes, idempotency)?.requestId ?? (cause?.by === 'request' ? cause.name : null),
    }));
}

const headerBytesMin = 70;

/**
 * The log of one shard in the files of a backup, of an archive, or of both, read as the log's tools read
 * a data folder's: every batch is checked, and a defect is given in the place of what is damaged or missing.
 */
export class FiledLogReader implements LogSource {
  readonly name: string;
  readonly identity: ShardIdentity;
  readonly #files: readonly LogFile[];
  readonly #identities: readonly string[];
  readonly #end: number;

  /**
   * `name` says what it is; `identities` are the secret keys of age that open encrypted files; `end` is the sequence up to which
   * the entries are known to have been written to files, 0 when that is not known.
   */
  constructor(
    name: string,
    identity: ShardIdentity,
    files: readonly LogFile[],
    identities: readonly string[],
    end = 0,
  ) {
    this.name = name;
    this.identity = identity;
    this.#files = [...files].sort((a, b) => a.first - b.first || a.last - b.last);
    this.#identities = identities;
    this.#end = end;
  }

  firstSequence(): number | null {
    return this.#files[0]?.first ?? null;
  }

  /** A file's name says sequences and no times: all of them are read. */
  sequenceBefore(): number {
    return 0;
  }

  checkpointSequence(): number | null {
    return null;
  }

  async *read({
    after = 0,
    upTo = Number.POSITIVE_INFINITY,
    reverse = false,
  }: LogRange = {}): AsyncGenerator<FoundBatch | LogDefect> {
    const files = this.#files.filter(({ first, last }) => last > after && first <= upTo);
    const isSelected = ({ firstSequence, lastSequence }: FoundBatch) =>
      firstSequence <= upTo && lastSequence > after;
    if (reverse) {
      for (const file of files.toReversed()) {
        const found: (FoundBatch | LogDefect)[] = [];
        for await (const each of this.#batchesOf(file)) found.push(each);
        yield* found.reverse().filter((each) => isDefect(each) || isSelected(each));
      }
      return;
    }
    const gaps = new Gaps(Math.max(after + 1, files[0]?.first ?? 0), () => false);
    let last = after;
    for (const file of files) {
      // What two files hold counts once.
      if (file.last <= last) continue;
      for await (const found of this.#batchesOf(file)) {
        if (isDefect(found)) gaps.hold(found);
        else if (isSelected(found) && found.lastSequence > last) {
          yield* gaps.before(found);
          yield found;
          last = found.lastSequence;
        }
      }
    }
    yield* gaps.rest();
    const known = Math.max(last, this.#files.at(-1)?.last ?? 0);
    if (known < Math.min(this.#end, upTo))
      yield {
        shard: this.identity.shard,
        file: this.name,
        segment: known + 1,
        byte: null,
        defect: `the entries up to ${this.#end} were written, and the last file ends with ${known}`,
        fromSequence: known + 1,
        toSequence: this.#end,
      };
  }

  /** The batches of a file up to its first defect: a frame says where the next one begins. */
  async *#batchesOf(file: LogFile): AsyncGenerator<FoundBatch | LogDefect> {
    const place = { shard: this.identity.shard, file: file.path, segment: file.first };
    const tag = tagOf(this.identity);
    let next = file.first;
    try {
      const part = partOf(this.identity, 'log');
      for await (const { bytes: content } of readArchiveFile(file.path, part, {
        identities: this.#identities,
      })) {
        const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
        const header = bytes.length < headerBytesMin ? null : readBatchHeader(bytes);
        const defect = batchDefect(bytes, header?.firstSequence ?? next, tag);
        if (defect !== null) {
          yield {
            ...place,
            byte: null,
            defect: `the batch after ${next - 1}: ${defect}`,
            fromSequence: next,
            toSequence: null,
          };
          continue;
        }
        next = defined(header, 'a batch without a defect has a header').lastSequence + 1;
        yield { ...place, byte: null, bytes, ...defined(header, 'a batch without a defect has a header') };
      }
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      const byte = error instanceof ArchiveDamaged ? error.at : null;
      yield {
        ...place,
        byte,
        defect: error.message,
        fromSequence: next,
        toSequence: Math.max(next, file.last),
      };
    }
  }
}
