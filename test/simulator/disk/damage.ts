// Silent corruption: a bit of one stored value turns, or a part of it becomes zeros or other bytes, on the disk and in what is
// read from it. The service has a checksum on each of these values.

import { checkpointTables } from '../../../src/journal/checkpoint/checkpoint-tables.ts';
import type { Random } from '../kernel/random.ts';
import { tableOf, valueAt, withTable } from './contents.ts';
import { EnvironmentFile, type Volume } from './volume.ts';

const { records, unchanging, idempotency } = checkpointTables;
/** The tables with checksums: the log's and the directory's own, and these of a checkpoint. */
const checkedTables = ['', records, unchanging, idempotency];

export interface Damage {
  readonly how: string;
  readonly path: string;
  readonly row: string;
  /** Whether the damaged value lies there still: it may have been written anew, or dropped. */
  isThere(): boolean;
}

/** Damages a value somewhere and says where; null when there is nothing to damage. */
export function damageSomething(volume: Volume, random: Random): Damage | null {
  const places = volume.environments().flatMap(({ path, file }) =>
    checkedTables.flatMap((name) => {
      const table = file.contents.tables.get(name);
      // The first row of an environment's own table says whose it is.
      const first = name === '' ? 1 : 0;
      return table === undefined || table.keys.length <= first ? [] : [{ path, file, name, table, first }];
    }),
  );
  if (places.length === 0) return null;
  const { path, file, name, table, first } = random.pick(places);
  const at = random.between(first, table.keys.length - 1);
  const damaged = Buffer.from(table.values[at]!);
  if (damaged.length === 0) return null;
  const how = random.pick(['a bit', 'a bit', 'zeros', 'other bytes'] as const);
  if (how === 'a bit') damaged[random.below(damaged.length)]! ^= 1 << random.below(8);
  // As of a page that was not written, or written elsewhere.
  else if (how === 'zeros') damaged.fill(0, random.below(damaged.length));
  else random.fill(damaged.subarray(random.below(damaged.length)));
  if (damaged.equals(table.values[at]!)) return null;
  const values = table.values.with(at, damaged);
  file.history = file.history.map((contents) => {
    if (contents.tables.get(name) !== table) return contents;
    return withTable(contents, name, { keys: table.keys, values });
  });
  const key = table.keys[at]!;
  const isThere = () => {
    const found = volume.find(path);
    return found instanceof EnvironmentFile && valueAt(tableOf(found.contents, name), key) === damaged;
  };
  return { how, path, row: `${name || 'rows'} ${at}`, isThere };
}
