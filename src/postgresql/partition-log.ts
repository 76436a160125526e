// The log of one partition in PostgreSQL: the remote log of a shard (journal/remote-log.ts). One
// statement appends: it locks the partition's row, compares epoch and next sequence, and inserts
// the batch. PostgreSQL keeps the lock, and hides the rows, until enough standbys have the commit
// on disk; so appends and takeovers come one after the other.

import { within } from '../core/scheduler.ts';
import type { JournalFailure, LogEnd } from '../journal/journal.ts';
import type { AcquiredLog, AppendedBatch, RemoteLog } from '../journal/remote-log.ts';
import { settingsColumns } from './durability.ts';
import { failure, OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import { checksumAt, firstSequenceOf, type PartitionRow, type Read, takePartition } from './partitions.ts';
import { type Primary, withPrimary } from './primary.ts';
import { keepTables } from './schema.ts';

interface PartitionLogOptions extends OwnerOptions {
  readonly partition: number;
}

const portionRows = 64;
const keepDaysMs = 3_600_000;
/** What is noted last takes as long at most. */
const notedMs = 500;

export class PostgresLog implements RemoteLog {
  readonly #options: PartitionLogOptions;
  readonly #partition: number;
  readonly #connection: OwnerConnection;
  readonly #read: Read = (text, values) => this.#connection.read(text, values);
  #cancelKeeping = () => {};

  constructor(options: PartitionLogOptions) {
    this.#options = options;
    this.#partition = options.partition;
    this.#connection = new OwnerConnection(options);
  }

  async acquire(after: number): Promise<AcquiredLog> {
    const found = await this.#connection.acquire((primary) => this.#take(primary, after));
    this.#keepDaysLater();
    return found;
  }

  /** Once in a while, by the owner of the first partition of the database, for all of them. */
  #keepDaysLater(): void {
    const isFirst = this.#partition === (this.#options.partitions?.first ?? 0);
    if (!isFirst || this.#connection.isClosed) return;
    this.#cancelKeeping = this.#options.timers.after(keepDaysMs, async () => {
      await this.#keepDays();
      this.#keepDaysLater();
    });
  }

  /**
   * On a connection of its own: an append must not become a part of this transaction. What goes
   * wrong is tried again an hour later; the tables are made days ahead.
   */
  async #keepDays(): Promise<void> {
    await withPrimary(this.#options, ({ client }) => keepTables(client)).catch(() => {});
  }

  async #take(primary: Primary, after: number): Promise<AcquiredLog | string> {
    const row = await takePartition(primary, this.#partition, after, this.#options);
    if (typeof row === 'string') return row;
    return this.#found((text, values) => primary.query({ text, values }), row);
  }

  async inspect(): Promise<AcquiredLog> {
    await this.#connection.connect();
    const [row] = await this.#read<PartitionRow>(
      'select epoch, next_sequence, checksum from payments.partitions where partition = $1',
      [this.#partition],
    );
    return this.#found(this.#read, row ?? { epoch: '0', next_sequence: '1', checksum: '0' });
  }

  async #found(read: Read, row: PartitionRow): Promise<AcquiredLog> {
    const sequence = Number(row.next_sequence) - 1;
    const firstSequence = await firstSequenceOf(read, this.#partition, sequence);
    const metadata = await read<{ name: string; value: Buffer }>(
      'select name, value from payments.metadata where partition = $1',
      [this.#partition],
    );
    return {
      epoch: Number(row.epoch),
      firstSequence,
      end: { sequence, checksum: Number(row.checksum) },
      metadata: new Map(metadata.map(({ name, value }) => [name, value])),
    };
  }

  async append(epoch: number, { firstSequence, end, bytes }: AppendedBatch): Promise<void> {
    const row = await this.#connection.change({
      name: 'append',
      text: `with owned as (
               update payments.partitions set next_sequence = $4::bigint + 1, checksum = $5
               where partition = $1 and epoch = $2 and next_sequence = $3 returning partition),
             stored as (
               insert into payments.log (day, partition, first_sequence, last_sequence, epoch, checksum, bytes)
               select (now() at time zone 'utc')::date, $1, $3, $4, $2, $5, $6 from owned)
             select ${settingsColumns} from owned`,
      values: [this.#partition, epoch, firstSequence, end.sequence, end.checksum, bytes],
    });
    if (row === undefined) throw this.#fenced(epoch);
  }

  async begin(epoch: number, { sequence, checksum }: LogEnd): Promise<void> {
    const row = await this.#connection.change({
      name: 'begin',
      text: `update payments.partitions set next_sequence = $3::bigint + 1, checksum = $4
             where partition = $1 and epoch = $2 and next_sequence = 1 returning ${settingsColumns}`,
      values: [this.#partition, epoch, sequence, checksum],
    });
    if (row === undefined) throw this.#fenced(epoch);
  }

  async note(epoch: number, metadata: ReadonlyMap<string, Uint8Array>, mirrored: number): Promise<void> {
    const names = [...metadata.keys()];
    const values = [...metadata.values()].map((value) => Buffer.from(value));
    const row = await this.#connection.change({
      name: 'note',
      text: `with owned as (
               update payments.partitions set mirrored = greatest(mirrored, $3)
               where partition = $1 and epoch = $2 returning partition),
             stored as (
               insert into payments.metadata (partition, name, value)
               select $1, noted.name, noted.value from owned, unnest($4::text[], $5::bytea[]) as noted (name, value)
               on conflict (partition, name) do update set value = excluded.value)
             select ${settingsColumns} from owned`,
      values: [this.#partition, epoch, mirrored, names, values],
    });
    if (row === undefined) throw this.#fenced(epoch);
  }

  /** An update, so that a primary that no standby follows any more can't say so. */
  async confirm(epoch: number): Promise<void> {
    const row = await this.#connection.change({
      name: 'confirm',
      text: `update payments.partitions set epoch = epoch
             where partition = $1 and epoch = $2 returning ${settingsColumns}`,
      values: [this.#partition, epoch],
    });
    if (row === undefined) throw this.#fenced(epoch);
  }

  #fenced(epoch: number): JournalFailure {
    return failure(`partition ${this.#partition} has a newer owner than that of epoch ${epoch}`, 'fenced');
  }

  async *read(after: number): AsyncGenerator<readonly Buffer[]> {
    for (let last = after; ; ) {
      const rows = await this.#connection.read<{ last_sequence: string; bytes: Buffer }>(
        `select last_sequence, bytes from payments.log where partition = $1 and first_sequence > $2
         order by first_sequence limit ${portionRows}`,
        [this.#partition, last],
      );
      if (rows.length === 0) return;
      yield rows.map(({ bytes }) => bytes);
      last = Number(rows.at(-1)?.last_sequence);
    }
  }

  checksumAt(sequence: number): Promise<number | null> {
    return checksumAt(this.#read, this.#partition, sequence);
  }

  async close(noted: Promise<void> | null = null): Promise<void> {
    this.#cancelKeeping();
    if (noted !== null) await within(notedMs, noted, this.#options.timers);
    this.#connection.close();
  }
}
