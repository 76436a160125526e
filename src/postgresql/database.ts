// A database of PostgreSQL's that holds logs of the service, and what is asked of it once.

import { JournalDamaged } from '../journal/journal.ts';
import type { PartitionRange } from './journal-url.ts';
import { type PostgresOptions, type Primary, withPrimary } from './primary.ts';
import { migrate } from './schema.ts';

/** One of the databases that hold the logs of a service. */
export interface Database extends PostgresOptions {
  /** Those whose logs it has; null: all. */
  readonly partitions: PartitionRange | null;
  /** The ranges of all databases, such as `0-15 16-31`; null: there is one. */
  readonly division: string | null;
  /**
   * The first one, which has the lease, the nodes, the directory and the audit record, too; null: it
   * is this one.
   */
  readonly first: PostgresOptions | null;
  /** Those that have the other partitions; none where this is one of them. */
  readonly others: readonly Database[];
}

export function hasLog({ partitions }: Pick<Database, 'partitions'>, partition: number): boolean {
  return partitions === null || (partitions.first <= partition && partition <= partitions.last);
}

/** After so long without an answer a question is given up. */
export const answerMs = 3_000;

/**
 * Asks once, without owning anything. A text says why there is no answer. Rejects with
 * `JournalDamaged` alone.
 */
export function askPrimary<T>(
  options: PostgresOptions,
  ask: (primary: Primary) => Promise<T>,
): Promise<T | string> {
  return askAsItIs(options, async (primary) => {
    await migrate(primary.client);
    return ask(primary);
  });
}

/** The same, where tables may be missing, or be those of an older release. */
export function askAsItIs<T>(
  options: PostgresOptions,
  ask: (primary: Primary) => Promise<T>,
): Promise<T | string> {
  return withPrimary(options, async (primary) => {
    const cancel = options.timers.after(answerMs, () => primary.destroy(new Error('it does not answer')));
    try {
      return await ask(primary);
    } catch (error) {
      if (error instanceof JournalDamaged) throw error;
      return `${primary.name}: ${(primary.reason ?? (error as Error)).message}`;
    } finally {
      cancel();
    }
  });
}
