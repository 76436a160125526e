// A database: a primary and two standbys of PostgreSQL, and whoever operates them. Of a primary that is gone, one of its standbys
// is promoted, and the others follow that one.

import type { PartitionRange } from '../../../src/postgresql/journal-url.ts';
import type { Random } from '../kernel/random.ts';
import type { Links } from '../net/links.ts';
import { PostgresServer } from './server.ts';

export class PostgresServers {
  readonly links: Links;
  /** Those whose logs it has; null: all. */
  readonly partitions: PartitionRange | null;
  readonly all: readonly PostgresServer[];
  /** Whom the operator takes for the primary. */
  primary: PostgresServer;
  /** Standbys were promoted that had not received all that was acknowledged. */
  wrongPromotions = 0;

  constructor(links: Links, names: readonly string[], partitions: PartitionRange | null) {
    this.links = links;
    this.partitions = partitions;
    this.all = names.map((name) => new PostgresServer(name, links, { standbys: standbysOf(name, names) }));
    const [primary, ...standbys] = this.all;
    this.primary = primary!;
    for (const standby of standbys) standby.upstream = this.primary;
    for (const server of this.all) server.start();
  }

  /** Where the sources find them. */
  get hosts(): { readonly host: string; readonly port: number }[] {
    return this.all.map(({ name: host }) => ({ host, port: 5_432 }));
  }

  get standbys(): readonly PostgresServer[] {
    return this.all.filter((server) => server !== this.primary && server.upstream === this.primary);
  }

  /** Promotes a standby of a primary that is gone, or that nobody reaches: the one with the most, or the other one. */
  promote(random: Random, isWrong: boolean): PostgresServer | null {
    const candidates = this.standbys
      .filter((server) => server.isRunning && !server.isFrozen)
      .sort((a, b) => b.log.length - a.log.length);
    // Who can ask one standby only does not know what the other one has.
    if (candidates.length < 2) return null;
    // One that goes on to follow the old primary would let that one acknowledge what the new one never gets.
    for (const server of candidates) server.stopFollowing();
    const [best, other] = candidates as [PostgresServer, PostgresServer];
    const chosen = isWrong ? other : best;
    if (isWrong) this.wrongPromotions++;
    const before = this.primary;
    chosen.promote(this.all);
    this.primary = chosen;
    for (const server of candidates) if (server !== chosen) this.#repoint(server, random);
    return before;
  }

  #repoint(server: PostgresServer, random: Random): void {
    const { simulation } = this.links;
    simulation.after(server.lane, random.between(100, 1_000), () => server.followAnew(this.primary));
  }

  /** Everything runs again, and follows the primary. */
  heal(): void {
    for (const server of this.all) {
      server.isFrozen = false;
      this.nameStandbys(server);
      if (server === this.primary) server.start();
      else if (server.upstream !== this.primary || !server.isBeginningOf(this.primary.log)) {
        server.followAnew(this.primary);
        server.start();
      } else server.start();
    }
  }

  /** A server waits for one of the others, as it should. */
  nameStandbys(server: PostgresServer): void {
    const names = this.all.map(({ name }) => name);
    server.nameStandbys(standbysOf(server.name, names));
  }

  /** Whether it acknowledges commits that a standby has. */
  get isWhole(): boolean {
    const { isRunning, isFrozen, isFollowed, settings } = this.primary;
    return isRunning && !isFrozen && isFollowed && settings.standbys !== '';
  }
}

/** One of the others must have what a server acknowledges. */
function standbysOf(name: string, names: readonly string[]): string {
  return `ANY 1 (${names.filter((other) => other !== name).join(', ')})`;
}
