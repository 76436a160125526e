// Stands in for `disk/lmdb-file.ts` and `disk/lmdb-scan.ts`, which read the pages of a file without the storage library:
// the rows of an environment as they were when the file was opened.

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
    const value = valueAt(tableOf(this.contents, table ?? ''), key.toString('latin1'));
    return value && Buffer.from(value);
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
