// The directory's rows in PostgreSQL. As with a log, one statement writes: it locks the partition's
// row, compares epoch and next sequence, and stores the rows. A write whose answer was lost is sent
// again with the same sequence, so it is stored once.

import { crc32 } from 'node:zlib';
import type { RemoteRows, RowChanges, RowsEnd } from '../disk/remote-rows.ts';
import { JournalFailure } from '../journal/journal.ts';
import { settingsColumns } from './durability.ts';
import { askPrimary, failure, OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import { directoryPartition, takePartition } from './partitions.ts';
import type { PostgresOptions } from './primary.ts';

const portionRows = 5_000;
/** So long a write may still take when the rows are closed. */
const closeMs = 1_000;

/**
 * A row of the directory, whoever writes it; null: it has none. A text says why it is not known.
 */
export function directoryRowIn(options: PostgresOptions, name: string): Promise<Uint8Array | null | string> {
  const text = 'select content from payments.directory where name = $1';
  return askPrimary(options, async (primary) => {
    const [row] = await primary.query<{ content: Buffer | null }>({ text, values: [name] });
    return row?.content ?? null;
  });
}

export class PostgresRows implements RemoteRows {
  readonly #options: OwnerOptions;
  readonly #connection: OwnerConnection;
  /** The write under way. */
  #writing: Promise<unknown> = Promise.resolve();
  #epoch = 0;
  #end: RowsEnd = { sequence: 0, checksum: 0 };

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.#connection = new OwnerConnection(options);
  }

  async acquire(): Promise<RowsEnd> {
    const row = await this.#connection.acquire((primary) =>
      takePartition(primary, directoryPartition, 0, this.#options),
    );
    this.#epoch = Number(row.epoch);
    this.#end = { sequence: Number(row.next_sequence) - 1, checksum: Number(row.checksum) };
    return this.#end;
  }

  async checksumAt(sequence: number): Promise<number | null> {
    const [row] = await this.#connection.read<{ checksum: string }>(
      'select checksum from payments.directory_writes where sequence = $1',
      [sequence],
    );
    return row === undefined ? null : Number(row.checksum);
  }

  async *readAfter(sequence: number): AsyncGenerator<RowChanges> {
    for (let [last, lastName] = [sequence, null as string | null]; ; ) {
      const rows = await this.#connection.read<{ name: string; content: Buffer | null; sequence: string }>(
        `select name, content, sequence from payments.directory
         where sequence > $1 or (sequence = $1 and name > $2)
         order by sequence, name limit ${portionRows}`,
        [last, lastName],
      );
      const newest = rows.at(-1);
      if (newest === undefined) return;
      yield new Map(rows.map(({ name, content }) => [name, content]));
      [last, lastName] = [Number(newest.sequence), newest.name];
    }
  }

  write(rows: RowChanges): Promise<RowsEnd> {
    const written = this.#write(rows);
    this.#writing = written.catch(() => {});
    return written;
  }

  async #write(rows: RowChanges): Promise<RowsEnd> {
    const end = { sequence: this.#end.sequence + 1, checksum: checksumOf(rows, this.#end.checksum) };
    for (;;) {
      try {
        const isStored = await this.#connection.connected(
          async () => (await this.#store(rows, end)) || this.#wasStored(end),
        );
        if (isStored) {
          this.#end = end;
          return end;
        }
      } catch (error) {
        const mayBeTriedAgain = error instanceof JournalFailure && error.outcome !== 'fenced';
        if (!mayBeTriedAgain || this.#connection.isClosed) throw error;
      }
    }
  }

  async #store(rows: RowChanges, { sequence, checksum }: RowsEnd): Promise<boolean> {
    const row = await this.#connection.change({
      name: 'write-rows',
      text: `with owned as (
               update payments.partitions set next_sequence = $3::bigint + 1, checksum = $4
               where partition = $1 and epoch = $2 and next_sequence = $3 returning partition),
             noted as (
               insert into payments.directory_writes (sequence, checksum) select $3, $4 from owned),
             stored as (
               insert into payments.directory (name, content, sequence)
               select written.name, written.content, $3
                 from owned, unnest($5::text[], $6::bytea[]) as written (name, content)
               on conflict (name) do update set content = excluded.content, sequence = excluded.sequence)
             select ${settingsColumns} from owned`,
      values: [directoryPartition, this.#epoch, sequence, checksum, ...columnsOf([...rows])],
    });
    return row !== undefined;
  }

  /**
   * Whether an earlier try has stored that write. Asks by a write of its own, which is acknowledged
   * only when all before it is.
   */
  async #wasStored({ sequence }: RowsEnd): Promise<boolean> {
    const row = await this.#connection.change<{ next_sequence: string }>({
      name: 'was-stored',
      text: `update payments.partitions set next_sequence = next_sequence
             where partition = $1 and epoch = $2 returning next_sequence, ${settingsColumns}`,
      values: [directoryPartition, this.#epoch],
    });
    if (row === undefined)
      throw failure(`the directory has a newer owner than that of epoch ${this.#epoch}`, 'fenced');
    return Number(row.next_sequence) === sequence + 1;
  }

  async replace(rows: RowChanges): Promise<RowsEnd> {
    const end = { sequence: this.#end.sequence + 1, checksum: checksumOf(rows, 0) };
    const run = (name: string, text: string, values: unknown[] = []) =>
      this.#connection.write({ name, text, values });
    await run('begin-rows', 'begin');
    const owned = await this.#connection.change({
      name: 'take-rows',
      text: `update payments.partitions set next_sequence = $3, checksum = $4
             where partition = $1 and epoch = $2 returning ${settingsColumns}`,
      values: [directoryPartition, this.#epoch, end.sequence + 1, end.checksum],
    });
    if (owned === undefined) throw failure('the directory has a newer owner', 'fenced');
    await run('remove-rows', 'delete from payments.directory');
    await run('remove-writes', 'delete from payments.directory_writes');
    await run('note-rows', 'insert into payments.directory_writes (sequence, checksum) values ($1, $2)', [
      end.sequence,
      end.checksum,
    ]);
    for (const portion of portionsOf([...rows]))
      await run(
        'put-rows',
        `insert into payments.directory (name, content, sequence)
         select name, content, $1 from unnest($2::text[], $3::bytea[]) as written (name, content)`,
        [end.sequence, ...columnsOf(portion)],
      );
    await run('commit-rows', 'commit');
    this.#end = end;
    return end;
  }

  async close(): Promise<void> {
    const isLate = Promise.withResolvers<void>();
    const cancel = this.#options.timers.after(closeMs, isLate.resolve);
    await Promise.race([this.#writing, isLate.promise]);
    cancel();
    this.#connection.close();
  }
}

type Row = readonly [name: string, content: Uint8Array | null];

function columnsOf(rows: readonly Row[]): [names: string[], contents: (Buffer | null)[]] {
  return [rows.map(([name]) => name), rows.map(([, content]) => content && Buffer.from(content))];
}

function* portionsOf(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += portionRows) yield rows.slice(from, from + portionRows);
}

/** A checksum over the rows, and over all that was written before. */
function checksumOf(rows: RowChanges, before: number): number {
  let checksum = before;
  for (const [name, content] of rows) checksum = crc32(content ?? 'removed', crc32(name, checksum));
  return checksum;
}
