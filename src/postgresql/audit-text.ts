// The text of the audit record in PostgreSQL: a row for each append, written by the record's owner
// (owned-writes.ts). The partition's next sequence is one more than the number of bytes.

import type { RemoteText, TextBounds, TextPart } from '../disk/remote-text.ts';
import { settingsColumns } from './durability.ts';
import { OwnedWrites } from './owned-writes.ts';
import type { OwnerOptions } from './owner-connection.ts';
import { auditPartition } from './partitions.ts';

interface Row {
  readonly [column: string]: unknown;
  readonly place: string;
  readonly bytes: Buffer;
}

const portionRows = 256;

export class PostgresText implements RemoteText {
  readonly #writes: OwnedWrites;

  constructor(options: OwnerOptions) {
    this.#writes = new OwnedWrites(options, auditPartition, 'the audit record');
  }

  async acquire(): Promise<TextBounds> {
    await this.#writes.acquire();
    return this.bounds();
  }

  async bounds(): Promise<TextBounds> {
    const [row] = await this.#writes.read<{ start: string | null; next_sequence: string | null }>(
      `select (select min(place) from payments.audit) as start,
         (select next_sequence from payments.partitions where partition = $1) as next_sequence`,
      [auditPartition],
    );
    const end = Number(row?.next_sequence ?? 1) - 1;
    return { start: Number(row?.start ?? end), end };
  }

  async partBefore(place: number): Promise<TextPart | null> {
    const [row] = await this.#writes.read<Row>(
      'select place, bytes from payments.audit where place < $1 order by place desc limit 1',
      [place],
    );
    if (row === undefined || Number(row.place) + row.bytes.length < place) return null;
    return { place: Number(row.place), bytes: row.bytes };
  }

  async *readAfter(place: number): AsyncGenerator<TextPart> {
    for (let end = place; ; ) {
      const rows = await this.#writes.read<Row>(
        `select place, bytes from payments.audit
         where place >= coalesce((select max(place) from payments.audit where place <= $1), 0)
           and place + length(bytes) > $1
         order by place limit ${portionRows}`,
        [end],
      );
      if (rows.length === 0) return;
      for (const row of rows) {
        const begins = Number(row.place);
        const from = Math.max(begins, end);
        yield { place: from, bytes: row.bytes.subarray(from - begins) };
        end = begins + row.bytes.length;
      }
    }
  }

  async begin(place: number): Promise<void> {
    await this.#writes.write(
      {
        name: 'begin-text',
        text: `update payments.partitions set next_sequence = $3
               where partition = $1 and epoch = $2 and next_sequence = 1 returning ${settingsColumns}`,
        values: [place + 1],
      },
      place + 1,
    );
  }

  async append(place: number, bytes: Uint8Array): Promise<void> {
    const next = place + bytes.length + 1;
    await this.#writes.write(
      {
        name: 'append-text',
        text: `with owned as (
                 update payments.partitions set next_sequence = $4
                 where partition = $1 and epoch = $2 and next_sequence = $3::bigint + 1 returning partition),
               stored as (insert into payments.audit (place, bytes) select $3, $5 from owned)
               select ${settingsColumns} from owned`,
        values: [place, next, Buffer.from(bytes)],
      },
      next,
    );
  }

  async forget(place: number): Promise<void> {
    await this.#writes.read('delete from payments.audit where place < $1 and place + length(bytes) <= $1', [
      place,
    ]);
  }

  async close(): Promise<void> {
    this.#writes.close();
  }
}
