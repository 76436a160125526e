// The tables of the service in a simulated PostgreSQL: rows that are never changed but replaced, so that a transaction is a
// list of rows in the place of others.

/** A row of a table in the place of the one with its key; null: none. */
export interface RowChange {
  readonly table: keyof KeyedTables;
  readonly key: string | number;
  readonly row: object | null;
}

export interface LogRow {
  readonly partition: number;
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
  readonly checksum: number;
  readonly bytes: Buffer;
}

/** What a transaction changes. The log is appended to only. */
export interface Changes {
  readonly rows: readonly RowChange[];
  readonly log: LogRow | null;
}

export interface ServiceRow {
  readonly folder: string;
  readonly generation: number;
  readonly shards: number;
  /** Those whose logs are here; null: all. */
  readonly partitions: string | null;
  /** The ranges of all databases; null: there is one. */
  readonly division: string | null;
}

/** Where the log of the first partitions is it is the lease, elsewhere a note of the last that has taken a partition. */
export interface LeaseRow {
  readonly epoch: number;
  readonly beat: number;
  readonly node: string;
  readonly process: string;
  readonly released: boolean;
  readonly successor: string | null;
  readonly dialect: object;
}

export interface PartitionRow {
  readonly partition: number;
  readonly epoch: number;
  readonly next_sequence: number;
  readonly checksum: number;
  readonly mirrored: number;
  /** The process that is to run it; null or not there: any. */
  readonly wanted?: string | null;
}

export interface NodeRow {
  readonly node: string;
  readonly address: string | null;
  readonly link: string | null;
  /** The sequence that each partition is followed to, as JSON. */
  readonly followed: string;
  readonly seenMs: number;
}

export interface MetadataRow {
  readonly partition: number;
  readonly name: string;
  readonly value: Buffer;
}

export interface DirectoryRow {
  readonly name: string;
  readonly content: Buffer | null;
  readonly sequence: number;
}

interface KeyedTables {
  readonly service: Map<string | number, ServiceRow>;
  readonly lease: Map<string | number, LeaseRow>;
  readonly nodes: Map<string | number, NodeRow>;
  readonly partitions: Map<string | number, PartitionRow>;
  readonly metadata: Map<string | number, MetadataRow>;
  readonly directory: Map<string | number, DirectoryRow>;
  readonly directory_writes: Map<string | number, { readonly checksum: number }>;
}

const onlyRow = 'only';

export class Tables {
  readonly keyed: KeyedTables;
  readonly #log: Map<number, LogRow[]>;

  constructor(other?: Tables) {
    this.keyed = {
      service: new Map(other?.keyed.service),
      lease: new Map(other?.keyed.lease),
      nodes: new Map(other?.keyed.nodes),
      partitions: new Map(other?.keyed.partitions),
      metadata: new Map(other?.keyed.metadata),
      directory: new Map(other?.keyed.directory),
      directory_writes: new Map(other?.keyed.directory_writes),
    };
    const log = other === undefined ? [] : [...other.#log];
    this.#log = new Map(log.map(([partition, rows]) => [partition, [...rows]]));
  }

  get service(): ServiceRow | undefined {
    return this.keyed.service.get(onlyRow);
  }

  get lease(): LeaseRow | undefined {
    return this.keyed.lease.get(onlyRow);
  }

  partition(partition: number): PartitionRow | undefined {
    return this.keyed.partitions.get(partition);
  }

  /** The rows of a partition's log, oldest first. */
  log(partition: number): readonly LogRow[] {
    return this.#log.get(partition) ?? [];
  }

  /** The first rows of a partition's log behind a sequence. */
  logAfter(partition: number, after: number, limit: number): readonly LogRow[] {
    const rows = this.log(partition);
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle]!.first > after) high = middle;
      else low = middle + 1;
    }
    return rows.slice(low, low + limit);
  }

  apply({ rows, log }: Changes): void {
    for (const { table, key, row } of rows) {
      const kept = this.keyed[table] as Map<string | number, object>;
      if (row === null) kept.delete(key);
      else kept.set(key, row);
    }
    if (log === null) return;
    const ofPartition = this.#log.get(log.partition);
    if (ofPartition === undefined) this.#log.set(log.partition, [log]);
    else ofPartition.push(log);
  }
}

export function change<T extends keyof KeyedTables>(
  table: T,
  key: string | number,
  row: KeyedTables[T] extends Map<string | number, infer Row> ? Row | null : never,
): RowChange {
  return { table, key, row: row as object | null };
}

export const putService = (row: ServiceRow) => change('service', onlyRow, row);
export const putLease = (row: LeaseRow) => change('lease', onlyRow, row);
export const putPartition = (row: PartitionRow) => change('partitions', row.partition, row);
