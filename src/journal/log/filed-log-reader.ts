// The log of one shard in the files of a backup, of an archive, or of both together (log-files.ts), read as the log's tools read
// a data folder's (log-reader.ts): every batch is checked, and what is damaged or missing is given out in its place.

import { ArchiveDamaged, readArchiveFile } from '../files/archive-file.ts';
import { partOf, type ShardIdentity, tagOf } from '../files/identity.ts';
import { JournalDamaged } from '../journal.ts';
import { readTurnHeader, turnDefect } from './codec.ts';
import type { LogFile } from './log-files.ts';
import {
  type FoundBatch,
  Gaps,
  isDefect,
  type LogDefect,
  type LogRange,
  type LogSource,
} from './log-reader.ts';

const headerBytesMin = 70;

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
        const header = bytes.length < headerBytesMin ? null : readTurnHeader(bytes);
        const defect = turnDefect(bytes, header?.firstSequence ?? next, tag);
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
        next = header!.lastSequence + 1;
        yield { ...place, byte: null, bytes, ...header! };
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
