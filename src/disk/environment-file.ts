// An environment as a process reads it that does not run the service: from its file, without the
// storage library. Whoever opens an environment with the library (lmdb 3.5.6) writes the number of
// the last commit that it has seen into memory which all processes share, and a commit that is made
// meanwhile is lost (OpenLDAP's ITS#9496). So while the service runs, its process alone does that.

import type { RootDatabase } from 'lmdb';
import { errorCode } from '../core/errors.ts';
import { dataFile, labelKey } from './environment.ts';
import { checkLabel, type Part } from './identity.ts';
import { type FileRow, LmdbFile } from './lmdb-file.ts';
import { FileDamage } from './lmdb-pages.ts';
import { numberKey, numberOfKey } from './number-keys.ts';
import { JournalDamaged } from './storage-errors.ts';

/** How keys lie in the file. */
interface KeyCodec<K> {
  encode(key: K): Buffer;
  decode(bytes: Buffer): K;
}

export const numberKeys: KeyCodec<number> = { encode: numberKey, decode: numberOfKey };

/** What the library puts before a text that begins with a smaller byte than any of a sound name. */
const escapeCharacter = '\u001b';

/** Names, which have no control characters; one is of use as a bound. */
export const nameKeys: KeyCodec<string> = {
  encode: (name) => Buffer.from(name <= escapeCharacter ? escapeCharacter + name : name),
  decode: (bytes) => bytes.toString(),
};

interface Range<K> {
  /** The first key, which is in the range. */
  readonly start?: K;
  /** The key behind the last. */
  readonly end?: K;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** What a reader uses of an environment. Each call sees the newest commit. */
export class EnvironmentFile<K extends number | string>
  implements Pick<RootDatabase<Buffer, K>, 'get' | 'getBinaryFast' | 'resetReadTxn' | 'close'>
{
  readonly #file: LmdbFile;
  readonly #keys: KeyCodec<K>;

  /** Throws `JournalDamaged`, or `ForeignPart` when the folder has another part. */
  constructor(folder: string, part: Part, keys: KeyCodec<K>) {
    this.#file = opened(dataFile(folder));
    this.#keys = keys;
    try {
      checkLabel(folder, this.#find(numberKey(labelKey)), part);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  get(key: K): Buffer | undefined {
    this.#file.refresh();
    return this.#find(this.#keys.encode(key));
  }

  getBinaryFast(key: K): Buffer | undefined {
    return this.get(key);
  }

  *getKeys(range: Range<K>): Generator<K> {
    for (const { key } of this.#rows(range)) yield this.#keys.decode(key);
  }

  *getRange(range: Range<K>): Generator<{ readonly key: K; readonly value: Buffer }> {
    for (const row of this.#rows(range)) yield { key: this.#keys.decode(row.key), value: row.read() };
  }

  resetReadTxn(): void {}

  async close(): Promise<void> {
    this.#file.close();
  }

  #find(key: Buffer): Buffer | undefined {
    try {
      return this.#file.get(null, key);
    } catch (error) {
      throw this.#damaged(error);
    }
  }

  *#rows({
    start,
    end,
    reverse = false,
    limit = Infinity,
  }: Range<K>): Generator<Pick<FileRow, 'key' | 'read'>> {
    this.#file.refresh();
    const first = start === undefined ? undefined : this.#keys.encode(start);
    const behind = end === undefined ? undefined : this.#keys.encode(end);
    let count = 0;
    for (const row of this.#from(first, reverse)) {
      if (row instanceof FileDamage) throw this.#damaged(row);
      const order = behind === undefined ? -1 : row.key.compare(behind);
      if (reverse ? behind !== undefined && order <= 0 : order >= 0) return;
      yield row;
      if (++count >= limit) return;
    }
  }

  *#from(first: Buffer | undefined, reverse: boolean): Generator<Pick<FileRow, 'key' | 'read'> | FileDamage> {
    const value = first && this.#find(first);
    if (first !== undefined && value !== undefined) yield { key: first, read: () => value };
    yield* this.#file.rows(null, { after: first, reverse });
  }

  #damaged(error: unknown): unknown {
    return error instanceof FileDamage ? damagedAt(this.#file.path, error.message, error) : error;
  }
}

function opened(path: string): LmdbFile {
  try {
    return new LmdbFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw damagedAt(path, 'it is missing', error);
    throw error instanceof FileDamage ? damagedAt(path, error.message, error) : error;
  }
}

function damagedAt(path: string, defect: string, cause: unknown): JournalDamaged {
  return new JournalDamaged(`${path} is damaged: ${defect}`, { cause });
}
