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
import { CheckpointReader } from './checkpoint-reader.ts';
import { rowBlocks, type TableRows } from './row-blocks.ts';

/** A checkpoint as of one moment. LMDB keeps the pages of that moment until this is closed. */
export class CheckpointMoment {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #transaction: ReturnType<Environment['useReadTransaction']>;
  readonly #reader: CheckpointReader;
  readonly sequence: number;

  constructor(folder: string, environment: Environment) {
    const keys = guardRead(folder, () => [...(environment.getKeys({}) as Iterable<unknown>)]);
    // The names of the tables lie in a table of its own, beside the label.
    const names = keys.filter((key) => typeof key === 'string');
    this.#tables = new Map(names.map((name) => [name, openTable(environment, name)]));
    // Behind the opening of tables, which ends a transaction, and before the file is looked at, so
    // that the pages found there are not used again.
    this.#transaction = environment.useReadTransaction();
    this.#reader = new CheckpointReader(folder);
    this.sequence = this.#reader.sequence;
  }

  /** About how many rows there are. */
  get count(): number {
    return countOf(this.#tables);
  }

  /** All rows, read from the file, which takes a tenth of the library's processor time. */
  async *rows(): AsyncGenerator<Block> {
    const { file } = this.#reader;
    try {
      yield* rowBlocks(file, [...this.#tables.keys()]);
    } catch (error) {
      throw damageIn(file.path, error);
    }
  }

  close(): void {
    this.#reader.close();
    this.#transaction.done();
  }
}

function countOf(tables: ReadonlyMap<string, Table>): number {
  return [...tables.values()].reduce((sum, table) => sum + rowsIn(table), 0);
}

/** The library ends a process that opens a file whose first pages are damaged. */
export function refuseDamagedHead(folder: string): void {
  try {
    const reader = new CheckpointReader(folder);
    try {
      // It is found from the root of the file on.
      void reader.sequence;
    } finally {
      reader.close();
    }
  } catch (error) {
    throw damageIn(dataFile(folder), error);
  }
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
