// The log of one partition in PostgreSQL: the remote log of a shard (journal/remote-log.ts). One
// statement appends: it locks the partition's row, compares epoch and next sequence, and inserts
// the batch. PostgreSQL keeps the lock, and hides the rows, until enough standbys have the commit
// on disk; so appends and takeovers come one after the other.

import pg from 'pg';
import type { ShardIdentity } from '../disk/identity.ts';
import { JournalDamaged, JournalFailure, type WriteOutcome } from '../journal/journal.ts';
import type { AcquiredLog, AppendedBatch, RemoteLog } from '../journal/remote-log.ts';
import { type DurabilitySettings, durabilityDefect, settingsColumns } from './durability.ts';
import { findPrimary, type PostgresOptions, type Primary } from './primary.ts';
import { migrate, NewerSchema } from './schema.ts';

export interface PartitionLogOptions extends PostgresOptions {
  readonly identity: ShardIdentity;
  /** How many partitions the service has. */
  readonly shards: number;
  /** One PostgreSQL without standbys is wanted. */
  readonly isSingle: boolean;
  /** Hears why the partition can't be acquired, when that changes; null: it is acquired. */
  readonly onTrouble: (trouble: string | null) => void;
}

interface PartitionRow {
  readonly epoch: string;
  readonly next_sequence: string;
  readonly checksum: string;
}

const retryMs = 200;
/** An acquisition that takes longer is tried at another server. */
const acquireMs = 3_000;
/** After so long without an answer, another server may have been promoted. */
const doubtMs = 1_000;
const portionRows = 64;
const keepDaysMs = 3_600_000;

export class PostgresLog implements RemoteLog {
  readonly #options: PartitionLogOptions;
  readonly #partition: number;
  #primary: Primary | null = null;
  #isClosed = false;
  #trouble: string | null = null;
  #cancelKeeping = () => {};

  constructor(options: PartitionLogOptions) {
    this.#options = options;
    this.#partition = options.identity.shard;
  }

  async acquire(after: number): Promise<AcquiredLog> {
    while (!this.#isClosed) {
      const found = await this.#tryAcquire(after);
      if (typeof found !== 'string') {
        this.#tell(null);
        this.#keepDaysLater();
        return found;
      }
      this.#tell(found);
      await this.#pause(retryMs);
    }
    throw closed();
  }

  /** Once in a while, by the owner of the first partition, for all of them. */
  #keepDaysLater(): void {
    if (this.#partition !== 0 || this.#isClosed) return;
    this.#cancelKeeping();
    this.#cancelKeeping = this.#options.timers.after(keepDaysMs, async () => {
      await this.#keepDays();
      this.#keepDaysLater();
    });
  }

  /**
   * On a connection of its own: an append must not become a part of this transaction. What goes
   * wrong is tried again an hour later; the tables are made days ahead.
   */
  async #keepDays(): Promise<void> {
    const primary = await findPrimary(this.#options);
    if (typeof primary === 'string') return;
    await migrate(primary.client).catch(() => {});
    primary.destroy(new Error('the days are kept'));
  }

  /** What was acquired, or why it could not be, this time. */
  async #tryAcquire(after: number): Promise<AcquiredLog | string> {
    const primary = await findPrimary(this.#options);
    if (typeof primary === 'string') return `no PostgreSQL takes writes: ${primary}`;
    const cancel = this.#options.timers.after(acquireMs, () =>
      primary.destroy(new Error(`${primary.name} does not answer, or none of its standbys does`)),
    );
    try {
      const found = await this.#acquireAt(primary, after);
      if (this.#isClosed) throw closed();
      if (typeof found === 'string') primary.destroy(new Error(found));
      else this.#primary = primary;
      return found;
    } catch (error) {
      primary.destroy(error as Error);
      if (error instanceof JournalDamaged) throw error;
      if (error instanceof NewerSchema) throw new JournalDamaged(`${primary.name}: ${error.message}`);
      return (primary.reason ?? (error as Error)).message;
    } finally {
      cancel();
    }
  }

  async #acquireAt(primary: Primary, after: number): Promise<AcquiredLog | string> {
    const partition = this.#partition;
    await migrate(primary.client);
    const [settings] = await primary.query<DurabilitySettings>({ text: `select ${settingsColumns}` });
    const defect = settings && durabilityDefect(settings, this.#options.isSingle);
    if (defect) return `${primary.name} does not hold what it acknowledges: ${defect}`;
    await this.#refuseForeign(primary);
    primary.takeWarning();
    const [row] = await primary.query<PartitionRow>({
      text: `insert into payments.partitions (partition, epoch) values ($1, $2::bigint + 1)
             on conflict (partition) do update set epoch = greatest(partitions.epoch, $2::bigint) + 1
             returning epoch, next_sequence, checksum`,
      values: [partition, after],
    });
    const warning = primary.takeWarning();
    if (warning !== null || row === undefined)
      return `${primary.name} has not replicated the epoch: ${warning}`;
    return this.#found(primary, row);
  }

  async inspect(): Promise<AcquiredLog> {
    const primary = await findPrimary(this.#options);
    if (typeof primary === 'string') throw failure(`no PostgreSQL takes writes: ${primary}`, 'failed');
    this.#primary = primary;
    await migrate(primary.client);
    await this.#refuseForeign(primary);
    const [row] = await primary.query<PartitionRow>({
      text: 'select epoch, next_sequence, checksum from payments.partitions where partition = $1',
      values: [this.#partition],
    });
    return this.#found(primary, row ?? { epoch: '0', next_sequence: '1', checksum: '0' });
  }

  async #found(primary: Primary, row: PartitionRow): Promise<AcquiredLog> {
    const partition = this.#partition;
    const [first] = await primary.query<{ first_sequence: string | null }>({
      text: 'select min(first_sequence) as first_sequence from payments.log where partition = $1',
      values: [partition],
    });
    const metadata = await primary.query<{ name: string; value: Buffer }>({
      text: 'select name, value from payments.metadata where partition = $1',
      values: [partition],
    });
    const sequence = Number(row.next_sequence) - 1;
    return {
      epoch: Number(row.epoch),
      firstSequence: Number(first?.first_sequence ?? sequence + 1),
      end: { sequence, checksum: Number(row.checksum) },
      metadata: new Map(metadata.map(({ name, value }) => [name, value])),
    };
  }

  /** The first start of a service writes whose log this is. */
  async #refuseForeign(primary: Primary): Promise<void> {
    const { identity, shards } = this.#options;
    const wanted = [identity.folder, identity.generation, shards];
    const text = 'select folder, generation, shards from payments.service';
    const insert =
      'insert into payments.service (folder, generation, shards) values ($1, $2, $3) on conflict do nothing';
    let [found] = await primary.query<Record<string, unknown>>({ text });
    if (found === undefined) {
      await primary.query({ text: insert, values: wanted });
      [found] = await primary.query<Record<string, unknown>>({ text });
    }
    const stored = [found?.folder, found?.generation, found?.shards];
    if (stored.join() === wanted.join()) return;
    throw new JournalDamaged(
      `${primary.name} has the log of another data folder: of ${describe(stored)}, and this one is ${describe(wanted)}. ` +
        'Give PAYMENTS_JOURNAL_URL the right database, or use the data folder that belongs to this one',
    );
  }

  async append(epoch: number, { firstSequence, end, bytes }: AppendedBatch): Promise<void> {
    const [settings] = await this.#write<DurabilitySettings>({
      name: 'append',
      text: `with owned as (
               update payments.partitions set next_sequence = $4::bigint + 1, checksum = $5
               where partition = $1 and epoch = $2 and next_sequence = $3 returning partition),
             stored as (
               insert into payments.log (day, partition, first_sequence, last_sequence, epoch, checksum, bytes)
               select (now() at time zone 'utc')::date, $1, $3, $4, $2, $5, $6 from owned)
             select ${settingsColumns} from owned`,
      values: [this.#partition, epoch, firstSequence, end.sequence, end.checksum, bytes],
    });
    if (settings === undefined) throw this.#fenced(epoch);
    const defect = durabilityDefect(settings, this.#options.isSingle);
    if (defect !== null) throw failure(`an append was not replicated: ${defect}`, 'unknown');
  }

  async begin(epoch: number, firstSequence: number): Promise<void> {
    const rows = await this.#write({
      name: 'begin',
      text: `update payments.partitions set next_sequence = $3
             where partition = $1 and epoch = $2 and next_sequence = 1 returning 1`,
      values: [this.#partition, epoch, firstSequence],
    });
    if (rows.length === 0) throw this.#fenced(epoch);
  }

  async note(epoch: number, metadata: ReadonlyMap<string, Uint8Array>, mirrored: number): Promise<void> {
    const names = [...metadata.keys()];
    const values = [...metadata.values()].map((value) => Buffer.from(value));
    const rows = await this.#write({
      name: 'note',
      text: `with owned as (
               update payments.partitions set mirrored = greatest(mirrored, $3)
               where partition = $1 and epoch = $2 returning partition),
             stored as (
               insert into payments.metadata (partition, name, value)
               select $1, noted.name, noted.value from owned, unnest($4::text[], $5::bytea[]) as noted (name, value)
               on conflict (partition, name) do update set value = excluded.value)
             select 1 from owned`,
      values: [this.#partition, epoch, mirrored, names, values],
    });
    if (rows.length === 0) throw this.#fenced(epoch);
  }

  #fenced(epoch: number): JournalFailure {
    return failure(`partition ${this.#partition} has a newer owner than that of epoch ${epoch}`, 'fenced');
  }

  /** Runs a statement of the owner. Rejects with `JournalFailure`. */
  async #write<Row extends object>(config: {
    readonly name: string;
    readonly text: string;
    readonly values: unknown[];
  }): Promise<Row[]> {
    const primary = this.#primary;
    if (primary === null || this.#isClosed) throw closed();
    const stopWatching = this.#watch(primary);
    try {
      const rows = await primary.query<Row & Record<string, unknown>>(config);
      const warning = primary.takeWarning();
      if (warning === null) return rows;
      throw failure(`${primary.name} has not replicated a change: ${warning}`, 'unknown');
    } catch (error) {
      primary.destroy(error as Error);
      throw error instanceof JournalFailure
        ? error
        : failure(`${primary.name}: ${(error as Error).message}`, outcomeOf(error), error);
    } finally {
      stopWatching();
    }
  }

  /** Ends the connection when an answer is late and another server has been promoted meanwhile. */
  #watch(primary: Primary): () => void {
    let cancel = () => {};
    let isOver = false;
    const look = async () => {
      const newest = await findPrimary(this.#options);
      if (typeof newest !== 'string') {
        const reason = new Error(`${newest.name} was promoted`);
        newest.destroy(reason);
        if (newest.timeline > primary.timeline) primary.destroy(reason);
      }
      if (!isOver) cancel = this.#options.timers.after(doubtMs, look);
    };
    cancel = this.#options.timers.after(doubtMs, look);
    return () => {
      isOver = true;
      cancel();
    };
  }

  async *read(after: number): AsyncGenerator<readonly Buffer[]> {
    for (let last = after; ; ) {
      const rows = await this.#read<{ last_sequence: string; bytes: Buffer }>(
        `select last_sequence, bytes from payments.log where partition = $1 and first_sequence > $2
         order by first_sequence limit ${portionRows}`,
        [this.#partition, last],
      );
      if (rows.length === 0) return;
      yield rows.map(({ bytes }) => bytes);
      last = Number(rows.at(-1)?.last_sequence);
    }
  }

  async checksumAt(sequence: number): Promise<number | null> {
    const [row] = await this.#read<{ last_sequence: string; checksum: string }>(
      `select last_sequence, checksum from payments.log where partition = $1 and first_sequence <= $2
       order by first_sequence desc limit 1`,
      [this.#partition, sequence],
    );
    return Number(row?.last_sequence) === sequence ? Number(row?.checksum) : null;
  }

  async #read<Row extends Record<string, unknown>>(text: string, values: unknown[]): Promise<Row[]> {
    if (this.#primary === null || this.#isClosed) throw closed();
    return this.#primary.query<Row>({ text, values });
  }

  #tell(trouble: string | null): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.timers.after(ms, resolve);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelKeeping();
    this.#primary?.destroy(closed());
  }
}

function describe([folder, generation, shards]: readonly unknown[]): string {
  return `${folder} (generation ${generation}, ${shards} shards)`;
}

function closed(): JournalFailure {
  return failure('the log is closed', 'unknown');
}

function failure(message: string, outcome: WriteOutcome, cause?: unknown): JournalFailure {
  return new JournalFailure(`The log in PostgreSQL: ${message}`, { diskFull: false, outcome, cause });
}

/**
 * A statement that PostgreSQL has refused is not stored. Everything else may be: the connection has
 * ended, or the server has, before it answered.
 */
function outcomeOf(error: unknown): WriteOutcome {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  return code === '' || /^(08|57|58|XX)/.test(code) ? 'unknown' : 'failed';
}
