// The rows of the partitions in the databases of a service, as a node looks at them from time to
// time: who runs what, and where the logs end. A database that has logs alone says besides which
// epoch of the lease has taken one of them last (partitions.ts).

import { within } from '../core/scheduler.ts';
import { hasLog } from './database.ts';
import type { LeaseNotes } from './lease-table.ts';
import { OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import type { Primary } from './primary.ts';

export interface PartitionState {
  readonly partition: number;
  /** The node that has taken it last; null: one that did not say so. */
  readonly node: string | null;
  /** The process that operators want it to run at; null: any. */
  readonly wanted: string | null;
  /** The last sequence of its log; null: its database does not answer. */
  readonly end: number | null;
}

interface StateRow extends Omit<PartitionState, 'end'> {
  readonly [column: string]: unknown;
  readonly next_sequence: string;
}

interface Seen {
  readonly partitions: readonly PartitionState[];
  /** The highest epoch of the lease that the database has noted; 0: none, or it has the lease. */
  readonly epoch: number;
}

type Ask = <Row extends Record<string, unknown>>(name: string, text: string) => Promise<Row[]>;

async function partitionsBy(ask: Ask): Promise<readonly PartitionState[]> {
  const rows = await ask<StateRow>(
    'look-at-partitions',
    'select partition, node, wanted, next_sequence from payments.partitions where partition >= 0 order by partition',
  );
  return rows.map(({ partition, node, wanted, next_sequence }) => ({
    partition,
    node,
    wanted,
    end: Number(next_sequence) - 1,
  }));
}

export function partitionsAt(primary: Primary): Promise<readonly PartitionState[]> {
  return partitionsBy((_, text) => primary.query({ text }));
}

/** A database that does not answer at once is not waited for: what was seen last counts. */
const lookMs = 500;

class PartitionTable {
  readonly #options: OwnerOptions;
  readonly #connection: OwnerConnection;
  #seen: Seen | null = null;
  #looking: Promise<boolean> | null = null;

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.#connection = new OwnerConnection(options);
  }

  /** As it was seen last; null: it has not been seen yet. */
  get seen(): Seen | null {
    return this.#seen;
  }

  /** The database does not answer the look that is under way. */
  get isSilent(): boolean {
    return this.#looking !== null;
  }

  has(partition: number): boolean {
    return hasLog(this.#options, partition);
  }

  /** Looks anew. Resolves with false when the database has not answered at once. */
  async look(): Promise<boolean> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return (await within(lookMs, this.#looking, this.#options.timers)) ?? false;
  }

  async #look(): Promise<boolean> {
    const ask: Ask = (name, text) => this.#connection.run(name, text, []);
    try {
      const partitions = await partitionsBy(ask);
      const isFirst = this.#options.first === null;
      const [noted] = isFirst
        ? []
        : await ask<{ epoch: string }>('look-at-epoch', 'select epoch from payments.lease');
      this.#seen = { partitions, epoch: Number(noted?.epoch ?? 0) };
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#connection.close();
  }
}

export class PartitionTables implements LeaseNotes {
  readonly #all: readonly PartitionTable[];

  /** `owners`: of all databases, the first one first. */
  constructor(owners: readonly OwnerOptions[]) {
    this.#all = owners.map((owner) => new PartitionTable(owner));
  }

  /** The partitions as they were seen last, of the databases that have been seen. */
  get partitions(): readonly PartitionState[] {
    return this.#all.flatMap(({ seen, isSilent }) =>
      (seen?.partitions ?? []).map((partition) => (isSilent ? { ...partition, end: null } : partition)),
    );
  }

  /** Each database has been seen. */
  get isWhole(): boolean {
    return this.#all.every(({ seen }) => seen !== null);
  }

  /** Whether the database that has the partition's log does not answer. */
  isSilent(partition: number): boolean {
    return this.#all.some((table) => table.has(partition) && table.isSilent);
  }

  get notedEpoch(): number {
    return Math.max(0, ...this.#all.map(({ seen }) => seen?.epoch ?? 0));
  }

  /** Resolves when they were looked at, as far as they answer at once. */
  async look(): Promise<void> {
    await Promise.all(this.#all.map((table) => table.look()));
  }

  async lookForEpoch(): Promise<{ epoch: number; isCertain: boolean }> {
    const [, ...others] = this.#all;
    const answered = await Promise.all(others.map((table) => table.look()));
    return { epoch: this.notedEpoch, isCertain: !answered.includes(false) };
  }

  close(): void {
    for (const table of this.#all) table.close();
  }
}
