// The writes of a partition that is no log: the directory, and the audit record. One statement
// writes, as with a log: it locks the partition's row and compares epoch and next sequence. A write
// whose answer was lost is sent again with the same sequence, so it is stored once.

import type { JournalFailure } from '../journal/journal.ts';
import { settingsColumns } from './durability.ts';
import { failure, OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import { type PartitionRow, type Read, takePartition } from './partitions.ts';
import type { Primary } from './primary.ts';

/** Its values begin with $3: the first two are the partition and the epoch. */
interface OwnedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export class OwnedWrites {
  readonly #options: OwnerOptions;
  readonly #partition: number;
  /** What is written there, in words. */
  readonly #what: string;
  readonly #connection: OwnerConnection;
  #epoch = 0;

  constructor(options: OwnerOptions, partition: number, what: string) {
    this.#options = options;
    this.#partition = partition;
    this.#what = what;
    this.#connection = new OwnerConnection(options);
  }

  /** Takes the partition from whoever had it. */
  async acquire(): Promise<PartitionRow> {
    const row = await this.#connection.acquire((primary) =>
      takePartition(primary, this.#partition, 0, this.#options),
    );
    this.#epoch = Number(row.epoch);
    return row;
  }

  /** Tries again until it has an answer or `close` is called. */
  readonly read: Read = (text, values) =>
    this.#connection.untilAnswered(() => this.#connection.read(text, values), this.#requireOwned);

  /**
   * Resolves when enough machines have what the statement writes; `next`: the partition's next
   * sequence after it. Tries again while nobody can say.
   */
  write(statement: OwnedStatement, next: number): Promise<void> {
    return this.#connection.untilAnswered(async () => {
      if (!(await this.change(statement))) await this.#requireStored(next);
    }, this.#requireOwned);
  }

  /**
   * An epoch is given twice where a standby was promoted that lacks who has it: it is that node's
   * then which has taken it there.
   */
  readonly #requireOwned = async (primary: Primary): Promise<void> => {
    // Who has taken nothing only reads.
    if (this.#epoch === 0) return;
    const rows = await primary.query({
      text: `select 1 from payments.partitions
             where partition = $1 and epoch = $2 and node is not distinct from $3`,
      values: [this.#partition, this.#epoch, this.#options.node],
    });
    if (rows.length === 0) throw this.fenced();
  };

  /** Runs a statement once. False: it has changed nothing, the partition is not as it says. */
  async change({ name, text, values }: OwnedStatement): Promise<boolean> {
    const row = await this.#connection.change({
      name,
      text,
      values: [this.#partition, this.#epoch, ...values],
    });
    return row !== undefined;
  }

  /** Runs a statement in a transaction that `change` is a part of. */
  run(name: string, text: string, values: unknown[] = []): Promise<object[]> {
    return this.#connection.write({ name, text, values });
  }

  /**
   * Rejects unless an earlier try has stored that write. Asks by a write of its own, which is
   * acknowledged only when all before it is.
   */
  async #requireStored(next: number): Promise<void> {
    const row = await this.#connection.change<{ next_sequence: string }>({
      name: 'was-stored',
      text: `update payments.partitions set next_sequence = next_sequence
             where partition = $1 and epoch = $2 returning next_sequence, ${settingsColumns}`,
      values: [this.#partition, this.#epoch],
    });
    if (row === undefined) throw this.fenced();
    if (Number(row.next_sequence) !== next)
      throw failure(
        `${this.#what} is not as its owner left it: a standby without its end was promoted`,
        'fenced',
      );
  }

  fenced(): JournalFailure {
    return failure(`${this.#what} has a newer owner than that of epoch ${this.#epoch}`, 'fenced');
  }

  /** What is under way fails. */
  close(): void {
    this.#connection.close();
  }
}
