// The lease of the service in PostgreSQL (cluster/lease.ts). Each statement compares what was seen
// with what is there, so of two nodes that take the lease one gets it.

import type { Lease, LeaseTable, LeaseTerms } from '../cluster/lease.ts';
import type { NodeIdentity } from '../cluster/node.ts';
import { type Dialect, dialect } from '../journal/dialect.ts';
import { settingsColumns } from './durability.ts';
import { OwnerConnection, type OwnerOptions } from './owner-connection.ts';
import { tellNodes } from './primary.ts';

interface LeaseColumns {
  readonly [column: string]: unknown;
  readonly epoch: string;
  readonly beat: string;
  readonly node: string;
  readonly process: string;
  readonly released: boolean;
  readonly successor: string | null;
  readonly address: string | null;
  readonly dialect: Noted | null;
}

/** What a holder notes. A release that does not know of a part of it leaves it out. */
type Noted = Dialect & Partial<LeaseTerms> & { readonly quietMs?: number };

export const leaseColumns = `epoch, beat, lease.node, lease.process, released, successor, dialect,
  (select address from payments.nodes where nodes.process = lease.process) as address`;

export function leaseOf(row: LeaseColumns): Lease {
  const { epoch, beat, node, process, released, successor, address, dialect } = row;
  return {
    epoch: Number(epoch),
    beat: Number(beat),
    node,
    process,
    isReleased: released,
    quietMs: dialect?.quietMs ?? null,
    address,
    successor,
    dialect,
    terms: dialect ?? {},
  };
}

/** What the other databases of the service have noted of the lease. */
export interface LeaseNotes {
  /** The highest epoch that was seen; 0: none. */
  readonly notedEpoch: number;
  /** Looks anew. `isCertain`: each of them has answered. */
  lookForEpoch(): Promise<{ readonly epoch: number; readonly isCertain: boolean }>;
}

export class PostgresLease implements LeaseTable {
  readonly #identity: NodeIdentity;
  readonly #connection: OwnerConnection;
  readonly #notes: LeaseNotes;

  constructor(options: OwnerOptions, identity: NodeIdentity, notes: LeaseNotes) {
    this.#identity = identity;
    this.#notes = notes;
    this.#connection = new OwnerConnection(options);
  }

  async look(): Promise<Lease | null> {
    const [row] = await this.#connection.run<LeaseColumns>(
      'look',
      `select ${leaseColumns} from payments.lease`,
      [],
    );
    return row === undefined ? null : leaseOf(row);
  }

  async take(seen: Lease | null, reason: string, terms: LeaseTerms): Promise<number | null> {
    const { node, process } = this.#identity;
    // What a standby of the first database lacked that was promoted, the others have.
    const { epoch: highest } = await this.#notes.lookForEpoch();
    const noted: Noted = { ...dialect, ...terms };
    const taken =
      seen === null
        ? `insert into payments.lease (epoch, node, process, dialect) values ($6::bigint + 1, $1, $2, $5)
           on conflict do nothing`
        : `update payments.lease set epoch = greatest(epoch, $6) + 1, beat = 0, node = $1, process = $2,
             released = false, successor = null, dialect = $5
           where epoch = $7 and beat = $8`;
    const row = await this.#change<{ epoch: string }>(
      seen === null ? 'take-first' : 'take',
      `with taken as (${taken} returning epoch)
       insert into payments.takeovers (epoch, node, previous, reason)
       select epoch, $1, $3, $4 from taken returning epoch, ${settingsColumns}`,
      [
        node,
        process,
        seen?.node ?? null,
        reason,
        noted,
        highest,
        ...(seen === null ? [] : [seen.epoch, seen.beat]),
      ],
    );
    return row === undefined ? null : Number(row.epoch);
  }

  async beat(epoch: number, sent: number): Promise<Pick<Lease, 'successor'> | null> {
    const row = await this.#change<{ successor: string | null }>(
      'beat',
      `update payments.lease set beat = greatest(beat + 1, $3)
       where epoch = $1 and process = $2 and not released returning successor, ${settingsColumns}`,
      [epoch, this.#identity.process, sent],
    );
    return row ?? null;
  }

  async isForgotten(epoch: number, isDoubtful: boolean): Promise<boolean> {
    if (!isDoubtful) return this.#notes.notedEpoch > epoch;
    const noted = await this.#notes.lookForEpoch();
    return noted.epoch > epoch || !noted.isCertain;
  }

  async release(epoch: number, quietMs: number): Promise<void> {
    await this.#connection.run(
      'release',
      `update payments.lease set released = true, dialect = dialect || jsonb_build_object('quietMs', $3::integer)
       where epoch = $1 and process = $2 returning ${tellNodes}`,
      [epoch, this.#identity.process, quietMs],
    );
  }

  /** What only one disk has gives no trust. */
  #change<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row | undefined> {
    return this.#connection.connected(() => this.#connection.change<Row>({ name, text, values }));
  }

  close(): void {
    this.#connection.close();
  }
}
