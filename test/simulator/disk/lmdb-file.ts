// Stands in for `disk/lmdb-file.ts` and `disk/lmdb-scan.ts`, which read the pages of a file without the storage library:
// the rows of an environment as they were when the file was opened.

import type { FileRow } from '../../../src/disk/lmdb-file.ts';
import type { EachRow } from '../../../src/disk/lmdb-scan.ts';
import { type Contents, tableOf, valueAt } from './contents.ts';
import { systemError, theMachine } from './machine.ts';
import { EnvironmentFile } from './volume.ts';

export class LmdbFile {
  readonly path: string;
  readonly contents: Contents;

  constructor(path: string) {
    theMachine().step();
    const file = theMachine().volume.find(path);
    if (!(file instanceof EnvironmentFile)) throw systemError('ENOENT', path);
    this.path = path;
    this.contents = file.contents;
  }

  get(table: string | null, key: Buffer): Buffer | undefined {
    theMachine().step();
    const value = valueAt(tableOf(this.contents, table ?? ''), textOf(key, table));
    return value && Buffer.from(value);
  }

  *rows(
    table: string | null,
    { after, reverse = false }: { readonly after?: Buffer | undefined; readonly reverse?: boolean } = {},
  ): Generator<FileRow> {
    const { keys, values } = tableOf(this.contents, table ?? '');
    const bound = after && textOf(after, table);
    const isBehind = (key: string) => bound === undefined || (reverse ? key < bound : key > bound);
    for (let i = 0; i < keys.length; i++) {
      const at = reverse ? keys.length - 1 - i : i;
      if (!isBehind(keys[at]!)) continue;
      theMachine().step();
      const value = values[at]!;
      yield { key: bytesOf(keys[at]!, table), length: value.length, at, read: () => Buffer.from(value) };
    }
  }

  close(): void {}
}

export function* scan(file: LmdbFile, table: string, each: EachRow): Generator<void> {
  const { keys, values } = tableOf(file.contents, table);
  for (const [i, key] of keys.entries()) {
    theMachine().step();
    const value = values[i]!;
    each(Buffer.from(key, 'latin1'), 0, key.length, value, 0, value.length);
    yield;
  }
}

/**
 * The environment's own table has numbers, of which the library stores the bits, shifted by four, without the zeros at the
 * end. The keys of the others are bytes.
 */
function bytesOf(text: string, table: string | null): Buffer {
  if (table !== null) return Buffer.from(text, 'latin1');
  const double = Buffer.alloc(8);
  double.writeDoubleBE(Number(text.slice(1)));
  const hex = `1${double.toString('hex')}0`;
  return Buffer.from(hex.replace(/^(.{8}|.{12}|.{16})0+$/, '$1'), 'hex');
}

function textOf(key: Buffer, table: string | null): string {
  if (table !== null) return key.toString('latin1');
  const double = Buffer.from(key.toString('hex').padEnd(18, '0').slice(1, 17), 'hex');
  const number = double.readDoubleBE();
  // A place between two numbers has a fraction.
  return `\u0001${String(Math.floor(number)).padStart(16, '0')}${String(number % 1).slice(1)}`;
}
