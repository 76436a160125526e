// The log of a shard as files of a backup or an archive (archive-file.ts), named after the first
// and the last sequence in them: `0000000000000001-0000000000004711.log`. The next file continues
// where one ends, and batches that are in two files count once. Changes of the directory are stored
// in the same way, with revisions in place of sequences.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  ArchiveDamaged,
  type Block,
  plainNameOf,
  readArchiveFile,
  type WriteOptions,
  type WrittenFile,
  writeArchiveFile,
} from '../disk/archive-file.ts';
import { type Part, partOf, type ShardIdentity, tagOf } from '../disk/identity.ts';
import { JournalDamaged } from './journal.ts';
import { checkedHeader, decodeBatch, responseOf } from './log/codec.ts';
import type { FollowedBatch } from './log/log-engine.ts';
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

export type WrittenLogFile = LogFile & WrittenFile;

export type FiledBatch = FollowedBatch;

/** A batch or a change for a file, with its position in the order. */
export interface Sequenced {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly bytes: Uint8Array;
}

/** The files in a folder, in order. A folder that does not exist has none. */
export function logFilesIn(folder: string): LogFile[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = names.flatMap((name): LogFile[] => {
    const [, first, last] = namePattern.exec(plainNameOf(name)) ?? [];
    return first === undefined
      ? []
      : [{ path: join(folder, name), first: Number(first), last: Number(last) }];
  });
  return inSequence(files);
}

/** The last sequence in the files of a folder; 0 without any. */
export function lastFiledIn(folder: string): number {
  return logFilesIn(folder).at(-1)?.last ?? 0;
}

/** Files of a backup and of an archive in the order in which they are read. */
export function inSequence(files: readonly LogFile[]): LogFile[] {
  return files.toSorted((a, b) => a.first - b.first || a.last - b.last);
}

/** About how large a file gets. */
const fileBytesMax = 64 << 20;

interface LogWriteOptions extends WriteOptions {
  readonly type: Block['type'];
  readonly bytesMax?: number;
}

/**
 * Writes batches, or changes of the directory, to one file until it has about `bytesMax` bytes. The
 * rest of `source` is for the next file. Resolves with null when there are none.
 */
export async function writeLogFile(
  folder: string,
  part: Part,
  source: AsyncIterator<Sequenced>,
  { type, bytesMax = fileBytesMax, ...options }: LogWriteOptions,
): Promise<WrittenLogFile | null> {
  const begun = await source.next();
  if (begun.done === true) return null;
  const first = begun.value.firstSequence;
  let last = begun.value.lastSequence;
  let bytes = begun.value.bytes.length;
  const blocks = (async function* () {
    yield { type, bytes: begun.value.bytes };
    while (bytes < bytesMax) {
      const { done, value } = await source.next();
      if (done === true) return;
      last = value.lastSequence;
      bytes += value.bytes.length;
      yield { type, bytes: value.bytes };
    }
  })();
  const name = () => `${[first, last].map((each) => String(each).padStart(digits, '0')).join('-')}.log`;
  const written = await writeArchiveFile(folder, name, part, blocks, options);
  return { ...written, first, last };
}

/** `gap` says which entries are in no file, though others follow. */
export class EntriesMissing extends JournalDamaged {
  readonly gap: string;

  constructor(gap: string) {
    super(`${gap}. Add the file that holds them, or restore up to what comes before`);
    this.gap = gap;
  }
}

export interface LogFiles {
  readonly files: readonly LogFile[];
  readonly part: Part;
  readonly identities: readonly string[];
  readonly digests?: ReadonlyMap<string, string>;
}

/**
 * The commit batches of files after `after`, in order. Throws `EntriesMissing` when some are
 * missing, unless they come before `neededAfter`.
 */
export function followFiles(
  source: LogFiles,
  tag: Buffer,
  after: number,
  neededAfter: number,
): AsyncGenerator<FiledBatch> {
  const read = (path: string, bytes: Uint8Array, next: number) => {
    const batch = batchIn(bytes, tag);
    if (typeof batch !== 'string') return batch;
    throw new JournalDamaged(`${path} is damaged at sequence ${next}: ${batch}`);
  };
  return inOrder(source, read, after, neededAfter);
}

/** The commit batch in a block, or what is wrong with it. */
function batchIn(content: Uint8Array, tag: Buffer): FiledBatch | string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const header = checkedHeader(bytes, null, tag);
  return typeof header === 'string' ? header : { bytes, ...header };
}

/** The results of `read` for the blocks of the files after `after`, in order. */
export async function* inOrder<T extends Sequenced>(
  { files, part, identities, digests }: LogFiles,
  read: (path: string, bytes: Uint8Array, next: number) => T,
  after: number,
  neededAfter: number,
): AsyncGenerator<T> {
  let next = after + 1;
  for (const { path, last } of files) {
    if (last < next) continue;
    const options = { identities, sha256: digests?.get(path) };
    for await (const { bytes } of readArchiveFile(path, part, options)) {
      const item = read(path, bytes, next);
      if (item.lastSequence < next) continue;
      if (item.firstSequence > Math.max(next, neededAfter + 1))
        throw new EntriesMissing(
          `${path} goes on at sequence ${item.firstSequence}: ${next} to ${item.firstSequence - 1} are in no file`,
        );
      yield item;
      next = item.lastSequence + 1;
    }
    if (next <= last)
      throw new ArchiveDamaged(path, 0, `it ends with sequence ${next - 1} and is named for ${last}`);
  }
}

/** The entries of a batch after `after`, with the API requests that caused them. */
export function entriesOf({ bytes }: Pick<FiledBatch, 'bytes'>, after: number) {
  return decodeBatch(bytes)
    .filter(({ sequence }) => sequence > after)
    .map(({ sequence, changes, idempotency, cause }) => ({
      sequence,
      changes,
      requestId: responseOf(bytes, idempotency)?.requestId ?? (cause?.by === 'request' ? cause.name : null),
    }));
}

/**
 * The log of one shard in the files of a backup, an archive, or both, read as the log of a data
 * folder is: every batch is checked, and a defect comes in the place of what is damaged or missing.
 */
export class FiledLogReader implements LogSource {
  readonly name: string;
  readonly identity: ShardIdentity;
  readonly #files: readonly LogFile[];
  readonly #identities: readonly string[];
  readonly #end: number;

  /**
   * `identities` are the secret keys of age that open encrypted files. The entries up to `end` are
   * known to have been written to files; 0 when that is not known.
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
    this.#files = inSequence(files);
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
    // What two files hold counts once.
    if (reverse) {
      let next = Number.POSITIVE_INFINITY;
      for (const file of files.toSorted((a, b) => b.last - a.last)) {
        if (file.first >= next) continue;
        const found: (FoundBatch | LogDefect)[] = [];
        for await (const each of this.#batchesOf(file)) found.push(each);
        for (const each of found.reverse()) {
          if (isDefect(each)) yield each;
          else if (isSelected(each) && each.firstSequence < next) {
            yield each;
            next = each.firstSequence;
          }
        }
      }
      return;
    }
    const gaps = new Gaps(Math.max(after + 1, this.#files[0]?.first ?? 0), () => false);
    let last = after;
    for (const file of files) {
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

  /** The batches of a file; behind a damaged one, a block says where the next begins. */
  async *#batchesOf(file: LogFile): AsyncGenerator<FoundBatch | LogDefect> {
    const { identity } = this;
    const place = { shard: identity.shard, file: file.path, segment: file.first, byte: null };
    const options = { identities: this.#identities };
    const tag = tagOf(identity);
    let next = file.first;
    try {
      for await (const { bytes } of readArchiveFile(file.path, partOf(identity, 'log'), options)) {
        const batch = batchIn(bytes, tag);
        if (typeof batch === 'string') {
          const defect = `the batch after ${next - 1}: ${batch}`;
          yield { ...place, defect, fromSequence: next, toSequence: null };
          continue;
        }
        next = batch.lastSequence + 1;
        yield { ...place, ...batch };
      }
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      const byte = error instanceof ArchiveDamaged ? error.at : null;
      const toSequence = Math.max(next, file.last);
      yield { ...place, byte, defect: error.message, fromSequence: next, toSequence };
    }
  }
}
