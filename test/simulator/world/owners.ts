// What an owner in each of the simulated databases needs, as src/config/postgresql.ts has it of the real ones.

import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import { serviceOf } from '../../../src/data-folder/remote-stores.ts';
import type { Database } from '../../../src/postgresql/database.ts';
import { textOf } from '../../../src/postgresql/journal-url.ts';
import type { OwnerOptions } from '../../../src/postgresql/owner-connection.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Databases } from '../postgresql/databases.ts';
import type { World } from './world.ts';

/** The first one first. */
export function databasesOf({ simulation }: World, { all }: Databases, lane: Lane): readonly Database[] {
  const ranges = all.flatMap(({ partitions }) => (partitions === null ? [] : [textOf(partitions)]));
  const division = ranges.length === 0 ? null : ranges.join(' ');
  const [first, ...rest] = all.map(({ hosts, partitions }) => ({
    address: { hosts, user: 'payments', database: 'payments' },
    partitions,
    division,
    password: null,
    ca: null,
    timers: { after: (ms: number, run: () => void) => simulation.after(lane, ms, run) },
  }));
  const others = rest.map((each): Database => ({ ...each, first: first!, others: [] }));
  return [{ ...first!, first: null, others }, ...others];
}

export function ownersOf(
  world: World,
  databases: Databases,
  lane: Lane,
  folder: DataFolder,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'] = () => {},
): readonly OwnerOptions[] {
  const common = { service: serviceOf(folder), lease, node: null, isSingle: false, onTrouble };
  return databasesOf(world, databases, lane).map((database) => ({ ...database, ...common }));
}
