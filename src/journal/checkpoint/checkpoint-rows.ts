// The rows of a checkpoint's file, whatever they mean: all of them as of one moment, while others write, and how they come into
// a new file. Restores and `payments compact` write checkpoints in this way. A file that was written in the order of its
// keys has full pages, so it is as small as it can be.

import { defined, elementAt } from '../../core/assert.ts';
import { verifyChecksum } from '../../disk/checksum.ts';
import {
  commit,
  type Environment,
  guardRead,
  openTable,
  rowsIn,
  type Table,
} from '../../disk/environment.ts';
import { idOfEncoded, isSound } from '../records/record-bytes.ts';
import { checkpointTables } from './checkpoint-tables.ts';

const rowsAtOnce = 500;

/** Some rows of a table in the order of their keys: keys and values in alternation. */
export interface TableRows {
  readonly table: string;
  readonly rows: readonly Buffer[];
}

/** The rows of an environment as of one moment. LMDB keeps the pages of that moment until this is closed. */
export class RowsOfMoment {
  readonly #folder: string;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #transaction: ReturnType<Environment['useReadTransaction']>;

  constructor(folder: string, environment: Environment) {
    this.#folder = folder;
    const names = guardRead(folder, () => tableNamesIn(environment));
    this.#tables = new Map(names.map((name) => [name, openTable(environment, name)]));
    this.#transaction = environment.useReadTransaction();
  }

  /** About how many there are. */
  get count(): number {
    return guardRead(this.#folder, () =>
      [...this.#tables.values()].reduce((sum, table) => sum + rowsIn(table), 0),
    );
  }

  *all(): Generator<TableRows> {
    for (const [name, table] of this.#tables) {
      for (let start: Uint8Array | undefined; ; ) {
        const range = {
          transaction: this.#transaction,
          limit: rowsAtOnce,
          ...(start !== undefined && { start, exclusiveStart: true }),
        };
        const rows = guardRead(this.#folder, () => [...table.getRange(range)]);
        if (rows.length > 0)
          yield { table: name, rows: rows.flatMap(({ key, value }) => [Buffer.from(key), value]) };
        if (rows.length < rowsAtOnce) break;
        start = rows.at(-1)?.key;
      }
    }
  }

  close(): void {
    this.#transaction.done();
  }
}

/** The names of an environment's tables; they lie in a table of its own, beside the label. */
export function tableNamesIn(environment: Environment): string[] {
  return [...(environment.getKeys({}) as Iterable<unknown>)].filter((key) => typeof key === 'string');
}

/** Writes rows that come in the order of their keys into an environment that has none of them. */
export class RowWriter {
  readonly #environment: Environment;
  readonly #commitBytes: number;
  readonly #tables = new Map<string, Table>();
  #gathered: TableRows[] = [];
  #bytes = 0;
  /** The rows that were added. */
  count = 0;

  /** A transaction has about `commitBytes`. */
  constructor(environment: Environment, commitBytes: number) {
    this.#environment = environment;
    this.#commitBytes = commitBytes;
  }

  /** Adds rows. Returns the bytes that were committed, which is 0 when they wait for more. Throws `JournalFailure`. */
  add(added: TableRows): number {
    const { table: name, rows } = added;
    if (!this.#tables.has(name)) this.#tables.set(name, openTable(this.#environment, name));
    this.#gathered.push(added);
    this.count += rows.length / 2;
    for (const { length } of rows) this.#bytes += length;
    return this.#bytes >= this.#commitBytes ? this.flush() : 0;
  }

  /** Commits what waits. */
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

  /** The rows that the tables have now. */
  get stored(): number {
    return [...this.#tables.values()].reduce((sum, table) => sum + rowsIn(table), 0);
  }
}

/** What is wrong with a row that has a checksum; null when nothing is, or when it has none. */
export function rowDefect(table: string, key: Buffer, value: Buffer): string | null {
  switch (table) {
    case checkpointTables.records:
    case checkpointTables.unchanging:
      return isSound({ key, value })
        ? null
        : `the record ${idOfEncoded({ key, value })} is not as it was written`;
    case checkpointTables.idempotency:
      return verifyChecksum(value) === null ? 'idempotency keys are not as they were written' : null;
    case checkpointTables.responses:
      return verifyChecksum(value) === null ? 'a stored response is not as it was written' : null;
    default:
      return null;
  }
}
