// The rows of a checkpoint's file, whatever they mean: all of them as of one moment, while others
// write, and how they come into a new file. Backups, restores and `payments compact` use this. A
// file that was written in the order of its keys has full pages, so it is as small as it can be.

import { defined, elementAt } from '../../core/assert.ts';
import type { Block } from '../../disk/archive-file.ts';
import {
  commit,
  damagedFile,
  dataFile,
  type Environment,
  guardRead,
  openTable,
  rowsIn,
  type Table,
} from '../../disk/environment.ts';
import { FileDamage } from '../../disk/lmdb-pages.ts';
import { JournalDamaged } from '../../disk/storage-errors.ts';
import { CheckpointReader } from './checkpoint-reader.ts';
import { rowBlocks, type TableRows } from './row-blocks.ts';

/**
 * A checkpoint as of one moment, read from its file, which takes a tenth of the library's processor
 * time. Somebody keeps the pages of that moment until this is closed (`CheckpointMoment`, or
 * `Journal.holdCheckpoint`): where nobody does, and one is used again, reading fails.
 */
export class CheckpointRows {
  readonly #reader: CheckpointReader;
  readonly sequence: number;

  /** Throws `JournalDamaged`. */
  constructor(folder: string) {
    try {
      this.#reader = new CheckpointReader(folder);
      // It is found from the root of the file on.
      this.sequence = this.#reader.sequence;
    } catch (error) {
      throw damageIn(dataFile(folder), error);
    }
  }

  async *rows(): AsyncGenerator<Block> {
    const { file } = this.#reader;
    try {
      yield* rowBlocks(file, file.tables());
      if (this.#reader.sequence !== this.sequence)
        throw new JournalDamaged(`${file.path} was written to while it was read`);
    } catch (error) {
      throw damageIn(file.path, error);
    }
  }

  close(): void {
    this.#reader.close();
  }
}

/** A checkpoint as of one moment. LMDB keeps the pages of that moment until this is closed. */
export class CheckpointMoment {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #transaction: ReturnType<Environment['useReadTransaction']>;
  readonly #rows: CheckpointRows;

  constructor(folder: string, environment: Environment) {
    const keys = guardRead(folder, () => [...(environment.getKeys({}) as Iterable<unknown>)]);
    // The names of the tables lie in a table of its own, beside the label.
    const names = keys.filter((key) => typeof key === 'string');
    this.#tables = new Map(names.map((name) => [name, openTable(environment, name)]));
    // Behind the opening of tables, which ends a transaction, and before the file is looked at, so
    // that the pages found there are not used again.
    this.#transaction = environment.useReadTransaction();
    this.#rows = new CheckpointRows(folder);
  }

  /** About how many rows there are. */
  get count(): number {
    return countOf(this.#tables);
  }

  rows(): AsyncGenerator<Block> {
    return this.#rows.rows();
  }

  close(): void {
    this.#rows.close();
    this.#transaction.done();
  }
}

function countOf(tables: ReadonlyMap<string, Table>): number {
  return [...tables.values()].reduce((sum, table) => sum + rowsIn(table), 0);
}

function damageIn(file: string, error: unknown): unknown {
  return error instanceof FileDamage ? damagedFile(file, `byte ${error.at}: ${error.message}`) : error;
}

/** Writes rows that come in the order of their keys into an environment that has none of them. */
export class RowWriter {
  readonly #environment: Environment;
  readonly #commitBytes: number;
  readonly #tables = new Map<string, Table>();
  #gathered: TableRows[] = [];
  #bytes = 0;
  count = 0;

  /** A transaction has about `commitBytes`. */
  constructor(environment: Environment, commitBytes: number) {
    this.#environment = environment;
    this.#commitBytes = commitBytes;
  }

  /** Returns the bytes that were committed: 0 while rows wait. Throws `JournalFailure`. */
  add(added: TableRows): number {
    const { table: name, rows } = added;
    if (!this.#tables.has(name)) this.#tables.set(name, openTable(this.#environment, name));
    this.#gathered.push(added);
    this.count += rows.length / 2;
    for (const { length } of rows) this.#bytes += length;
    return this.#bytes >= this.#commitBytes ? this.flush() : 0;
  }

  flush(): number {
    commit(this.#environment, () => {
      for (const { table: name, rows } of this.#gathered) {
        const table = defined(this.#tables.get(name), 'the table was opened');
        for (let i = 0; i < rows.length; i += 2)
          table.putSync(elementAt(rows, i), elementAt(rows, i + 1), { append: true });
      }
    });
    const bytes = this.#bytes;
    this.#gathered = [];
    this.#bytes = 0;
    return bytes;
  }

  get stored(): number {
    return countOf(this.#tables);
  }
}
