// A small durable store of rows (a name and bytes) for the directory, which changes seldom and is
// read as a whole. Each row has a checksum. A write is on disk when it resolves. After a failed
// one, which may or may not be on disk, the store can't be used any more.

import type { RootDatabase } from 'lmdb';
import { verifyChecksum, withChecksum } from './checksum.ts';
import {
  commit,
  createEnvironment,
  damagedFile,
  dataFile,
  openEnvironment,
  restoreAdvice,
} from './environment.ts';
import { EnvironmentFile, nameKeys } from './environment-file.ts';
import type { Part } from './identity.ts';
import { JournalDamaged } from './storage-errors.ts';
import { syncPath } from './sync-path.ts';

const mapSize = 2 ** 30;
/** No name comes before it; the environment's label does. */
const firstRow = '\u0001';

type Rows = RootDatabase<Buffer, string>;

export function createRowStore(folder: string, part: Part): Promise<void> {
  return createEnvironment(folder, mapSize, part);
}

export function partsOfRowStore(folder: string): string[] {
  return [folder, dataFile(folder)];
}

export class RowStore {
  readonly #folder: string;
  readonly #environment: Rows;

  /**
   * Opens a store; `isForeign`: only to read what another process may be writing. Throws
   * `JournalDamaged`, or `ForeignPart`.
   */
  constructor(folder: string, part: Part, isForeign = false) {
    this.#folder = folder;
    try {
      this.#environment = (isForeign
        ? new EnvironmentFile(folder, part, nameKeys)
        : openEnvironment({ folder, part, mapSize, check: 'leaves' })) as unknown as Rows;
    } catch (error) {
      if (!(error instanceof JournalDamaged) || error.name !== 'JournalDamaged') throw error;
      throw new JournalDamaged(`${error.message}. ${restoreAdvice}`, { cause: error });
    }
  }

  get(row: string): Buffer | undefined {
    const bytes = this.#environment.get(row);
    return bytes && this.#verified(row, bytes);
  }

  /** The rows whose names begin with `prefix`. */
  *rows(prefix: string): Generator<Buffer> {
    for (const [, content] of this.rowsFrom(prefix, prefix)) yield content;
  }

  /** Those that are not before `start`, with their names, in order. */
  *rowsFrom(prefix: string, start: string): Generator<[row: string, content: Buffer]> {
    const range = { start: start === '' ? firstRow : start, end: `${prefix}\uffff` };
    for (const { key, value } of this.#environment.getRange(range)) yield [key, this.#verified(key, value)];
  }

  #verified(row: string, bytes: Buffer): Buffer {
    const content = verifyChecksum(bytes);
    if (content !== null) return content;
    throw damagedFile(dataFile(this.#folder), `the row ${row} does not match its checksum`);
  }

  /** Writes all of the rows or none; null removes one. Rejects with `JournalFailure`. */
  async write(rows: ReadonlyMap<string, Uint8Array | null>): Promise<void> {
    const environment = this.#environment;
    commit(environment, () => {
      for (const [row, content] of rows) {
        if (content === null) environment.removeSync(row);
        else environment.putSync(row, withChecksum(content));
      }
    });
  }

  /** Makes durable what can be read, beside a writer: a commit is seen before it is on the disk. */
  sync(): void {
    syncPath(dataFile(this.#folder));
  }

  close(): Promise<void> {
    return this.#environment.close();
  }
}
