// The databases that hold the logs, each with a primary and two standbys of its own: one for all partitions, or two. The first
// has the lease, the nodes and the directory, too.

import { hasLog } from '../../../src/postgresql/database.ts';
import type { PartitionRange } from '../../../src/postgresql/journal-url.ts';
import type { Links } from '../net/links.ts';
import type { Settings } from '../plan.ts';
import type { PostgresServer } from './server.ts';
import { PostgresServers } from './servers.ts';

const [namesOfFirst, namesOfSecond] = [
  ['p', 'q', 'r'],
  ['s', 't', 'u'],
] as const;

export class Databases {
  readonly links: Links;
  readonly first: PostgresServers;
  /** The first one first. */
  readonly all: readonly PostgresServers[];

  constructor(links: Links, { shards, secondFrom }: Settings) {
    const isSplit = secondFrom !== undefined && secondFrom < shards;
    const ranges: readonly (PartitionRange | null)[] = isSplit
      ? [
          { first: 0, last: secondFrom - 1 },
          { first: secondFrom, last: shards - 1 },
        ]
      : [null];
    this.links = links;
    this.all = ranges.map(
      (partitions, place) =>
        new PostgresServers(links, place === 0 ? namesOfFirst : namesOfSecond, partitions),
    );
    this.first = this.all[0]!;
  }

  get servers(): readonly PostgresServer[] {
    return this.all.flatMap((database) => database.all);
  }

  named(name: string): PostgresServer {
    return this.servers.find((server) => server.name === name)!;
  }

  /** The one that has the log of a partition; the directory and the audit record are partitions of the first. */
  of(partition: number): PostgresServers {
    return this.all.find((database) => hasLog(database, partition)) ?? this.first;
  }

  /** The highest epoch of the lease that is noted beside the logs that the others have; 0: none. */
  get notedEpoch(): number {
    return Math.max(0, ...this.all.slice(1).map(({ primary }) => primary.tables.lease?.epoch ?? 0));
  }

  /** All of them run again, and follow their primaries. */
  heal(): void {
    for (const database of this.all) database.heal();
  }
}
