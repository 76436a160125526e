// The rows of a checkpoint's tables as the blocks of a backup: msgpack of the table's name, then
// key and value of each row. They go from the pages of the file into the block, because a backup
// has tens of millions of them and runs beside the service. Their checksums are checked on the way:
// damage in a backup would be found only when it is needed.

import { unpack } from 'msgpackr';
import { pieceSize } from '../../core/piece-size.ts';
import type { Block } from '../../disk/archive-file.ts';
import { verifyChecksum } from '../../disk/checksum.ts';
import { damagedFile } from '../../disk/environment.ts';
import type { LmdbFile } from '../../disk/lmdb-file.ts';
import { type EachRow, scan } from '../../disk/lmdb-scan.ts';
import { idOfEncoded, isSound } from '../records/record-bytes.ts';
import { checkpointTables } from './checkpoint-tables.ts';

/** A block is complete when it has so many bytes. */
const blockBytes = pieceSize(256 * 1024);
const headBytesMax = 5;

/** A block's bytes are valid until the next one. Throws `JournalDamaged` at a damaged row. */
export async function* rowBlocks(file: LmdbFile, tables: readonly string[]): AsyncGenerator<Block> {
  for (const table of tables) {
    const writer = new BlockWriter(file.path, table);
    for (const _ of scan(file, table, writer.add)) if (writer.bytes >= blockBytes) yield writer.take();
    if (writer.rows > 0) yield writer.take();
  }
}

/** Some rows of a table in the order of their keys: keys and values in alternation. */
export interface TableRows {
  readonly table: string;
  readonly rows: readonly Buffer[];
}

/** The rows in a block, whose bytes they are views of. */
export function rowsOfBlock({ bytes }: Block): TableRows {
  const [table, ...rows]: [string, ...Buffer[]] = unpack(bytes);
  return { table, rows };
}

class BlockWriter {
  readonly #path: string;
  readonly #table: string;
  #buffer = Buffer.allocUnsafeSlow(2 * blockBytes);
  readonly #rowsAt: number;
  #at: number;
  rows = 0;

  constructor(path: string, table: string) {
    this.#path = path;
    this.#table = table;
    // An array whose length is filled in at the end, and its first element.
    this.#buffer[0] = 0xdd;
    this.#rowsAt = putText(this.#buffer, table, headBytesMax);
    this.#at = this.#rowsAt;
  }

  get bytes(): number {
    return this.#at;
  }

  readonly add: EachRow = (keys, keyStart, keyEnd, values, valueStart, valueEnd) => {
    const [key, value] = [keys.subarray(keyStart, keyEnd), values.subarray(valueStart, valueEnd)];
    const defect = rowDefect(this.#table, key, value);
    if (defect !== null) throw damagedFile(this.#path, defect);
    this.#put(keys, keyStart, keyEnd);
    this.#put(values, valueStart, valueEnd);
    this.rows++;
  };

  #put(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#at + headBytesMax + length > this.#buffer.length) this.#grow(headBytesMax + length);
    const buffer = this.#buffer;
    let at = this.#at;
    if (length < 0x100) {
      buffer[at] = 0xc4;
      buffer[at + 1] = length;
      at += 2;
    } else if (length < 0x1_0000) {
      buffer[at] = 0xc5;
      at = buffer.writeUInt16BE(length, at + 1);
    } else {
      buffer[at] = 0xc6;
      at = buffer.writeUInt32BE(length, at + 1);
    }
    if (length > 0) bytes.copy(buffer, at, start, end);
    this.#at = at + length;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * (this.#buffer.length + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }

  take(): Block {
    this.#buffer.writeUInt32BE(1 + 2 * this.rows, 1);
    const bytes = this.#buffer.subarray(0, this.#at);
    this.#at = this.#rowsAt;
    this.rows = 0;
    return { type: 'rows', bytes };
  }
}

/** A text of less than 256 bytes. */
function putText(buffer: Buffer, text: string, at: number): number {
  const length = buffer.write(text, at + 2);
  buffer[at] = 0xd9;
  buffer[at + 1] = length;
  return at + 2 + length;
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
