// The directory's rows in PostgreSQL: each write is a statement of the directory's owner
// (owned-writes.ts), with a sequence and a checksum over all writes before it.

import { crc32 } from 'node:zlib';
import { pieceSize } from '../core/piece-size.ts';
import { type Timers, within } from '../core/scheduler.ts';
import type { RemoteRows, RowChanges, RowsEnd } from '../disk/remote-rows.ts';
import { askPrimary } from './database.ts';
import { settingsColumns } from './durability.ts';
import { OwnedWrites } from './owned-writes.ts';
import type { OwnerOptions } from './owner-connection.ts';
import { directoryPartition } from './partitions.ts';
import type { PostgresOptions } from './primary.ts';

const portionRows = pieceSize(5_000);
/** So long writes may still take when nothing more is to be written. */
const closeMs = 500;

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
  readonly #timers: Timers;
  readonly #writes: OwnedWrites;
  #end: RowsEnd = { sequence: 0, checksum: 0 };

  constructor(options: OwnerOptions) {
    this.#timers = options.timers;
    this.#writes = new OwnedWrites(options, directoryPartition, 'the directory');
  }

  async acquire(): Promise<RowsEnd> {
    const row = await this.#writes.acquire();
    this.#end = { sequence: Number(row.next_sequence) - 1, checksum: Number(row.checksum) };
    return this.#end;
  }

  async checksumAt(sequence: number): Promise<number | null> {
    const [row] = await this.#writes.read<{ checksum: string }>(
      'select checksum from payments.directory_writes where sequence = $1',
      [sequence],
    );
    return row === undefined ? null : Number(row.checksum);
  }

  async *readAfter(sequence: number): AsyncGenerator<RowChanges> {
    for (let [last, lastName] = [sequence, null as string | null]; ; ) {
      const rows = await this.#writes.read<{ name: string; content: Buffer | null; sequence: string }>(
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

  async write(rows: RowChanges): Promise<RowsEnd> {
    const sequence = this.#end.sequence + 1;
    const checksum = checksumOf(rows, this.#end.checksum);
    const statement = {
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
      values: [sequence, checksum, ...columnsOf([...rows])],
    };
    await this.#writes.write(statement, sequence + 1);
    this.#end = { sequence, checksum };
    return this.#end;
  }

  async replace(rows: RowChanges): Promise<RowsEnd> {
    const end = { sequence: this.#end.sequence + 1, checksum: checksumOf(rows, 0) };
    const run: OwnedWrites['run'] = (...statement) => this.#writes.run(...statement);
    await run('begin-rows', 'begin');
    const isOwned = await this.#writes.change({
      name: 'take-rows',
      text: `update payments.partitions set next_sequence = $3, checksum = $4
             where partition = $1 and epoch = $2 returning ${settingsColumns}`,
      values: [end.sequence + 1, end.checksum],
    });
    if (!isOwned) throw this.#writes.fenced();
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

  async close(written: Promise<unknown> = Promise.resolve()): Promise<void> {
    await within(closeMs, written, this.#timers);
    this.#writes.close();
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
