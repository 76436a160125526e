// Stands in for `disk/lmdb-file.ts` and `disk/lmdb-scan.ts`, which read the pages of a file without the storage library:
// the rows of an environment as they were when the file was opened.

import type { FileRow } from '../../../src/disk/lmdb-file.ts';
import type { EachRow } from '../../../src/disk/lmdb-scan.ts';
import { numberKey, numberOfKey } from '../../../src/disk/number-keys.ts';
import { type Contents, tableOf, valueAt } from './contents.ts';
import { systemError, theMachine } from './machine.ts';
import { EnvironmentFile } from './volume.ts';

/** The keys of numbers begin with no greater byte, those of names do. */
const lastOfNumbers = 0x17;

export class LmdbFile {
  readonly path: string;
  readonly #file: EnvironmentFile;
  #contents: Contents;

  constructor(path: string) {
    theMachine().step();
    const file = theMachine().volume.find(path);
    if (!(file instanceof EnvironmentFile)) throw systemError('ENOENT', path);
    this.path = path;
    this.#file = file;
    this.#contents = file.contents;
  }

  get contents(): Contents {
    return this.#contents;
  }

  refresh(): void {
    theMachine().step();
    this.#contents = this.#file.contents;
  }

  tables(): string[] {
    return [...this.#contents.tables.keys()].filter((name) => name !== '').sort();
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

/** The environment's own table has numbers, or names behind a number. The keys of the others are bytes. */
function bytesOf(text: string, table: string | null): Buffer {
  if (table !== null) return Buffer.from(text, 'latin1');
  return text[0] === '\u0001' ? numberKey(Number(text.slice(1))) : Buffer.from(text.slice(1));
}

function textOf(key: Buffer, table: string | null): string {
  if (table !== null) return key.toString('latin1');
  if (key[0]! > lastOfNumbers) return `\u0002${key}`;
  const number = numberOfKey(key);
  // A place between two numbers has a fraction.
  return `\u0001${String(Math.floor(number)).padStart(16, '0')}${String(number % 1).slice(1)}`;
}
