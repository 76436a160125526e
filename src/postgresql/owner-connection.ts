// What an owner does in PostgreSQL: it finds the primary, checks what that one promises and whose
// log it has, and runs one statement after the other, each of which says what became of it.

import pg from 'pg';
import type { ServiceIdentity } from '../cluster/node.ts';
import { JournalDamaged, JournalFailure, type WriteOutcome } from '../journal/journal.ts';
import { answerMs, type Database } from './database.ts';
import { type DurabilitySettings, durabilityColumns, durabilityDefect } from './durability.ts';
import { endAfter, findPrimary, type Primary } from './primary.ts';
import { migrate, NewerSchema } from './schema.ts';
import { refusalOfClaim, refuseForeign } from './service-table.ts';

export interface OwnerOptions extends Database {
  /** Whose tables these are. */
  readonly service: ServiceIdentity;
  /** The epoch of the lease that this node holds; null where no nodes share the service. */
  readonly lease: number | null;
  /** The name of this node; null where no nodes share the service. */
  readonly node: string | null;
  /** One PostgreSQL without standbys is wanted. */
  readonly isSingle: boolean;
  /** Hears why nothing can be owned, written or read now, when that changes; null: it can. */
  readonly onTrouble: (trouble: string | null) => void;
  /** Hears that other nodes or operators have changed what nodes look at. */
  readonly onTold?: () => void;
}

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

const retryMs = 200;
/** After so long without an answer, another server may have been promoted. */
const doubtMs = 1_000;
/** A change that took so long may have waited for standbys, for which nobody waits any more. */
const waitedMs = 100;

export class OwnerConnection {
  readonly #options: OwnerOptions;
  #primary: Primary | null = null;
  #isClosed = false;
  readonly #closing = Promise.withResolvers<never>();
  /** What looks for a server would keep the process running. */
  readonly #searching = new AbortController();
  /** Claims another database; null: none has been claimed. */
  #claiming: OwnerConnection | null = null;
  #trouble: string | null = null;
  /** With which error PostgreSQL has answered what `connected` ran last; null: with none. */
  #refusal: string | null = null;

  constructor(options: OwnerOptions) {
    this.#options = { ...options, closing: this.#searching.signal };
    // Nobody may wait for it.
    this.#closing.promise.catch(() => {});
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Connects anew, and has `take` take what is to be owned; it returns a reason where that is not
   * possible now. Tries again until it succeeds or `close` is called, and then rejects with
   * `JournalFailure`. Rejects with `JournalDamaged`, or a failure that is fenced, where trying again
   * can't help. `refusal`: why PostgreSQL has refused what is to be asked then; a connection alone
   * does not mend that.
   */
  async acquire<T extends object>(
    take: (primary: Primary) => Promise<T | string>,
    refusal: string | null = null,
  ): Promise<T> {
    if (refusal !== null) await this.#pauseFor(refusal);
    while (!this.#isClosed) {
      // A server that is silent is not waited for when all is closed.
      const found = await Promise.race([this.#tryAcquire(take), this.#closing.promise]);
      if (typeof found !== 'string') {
        this.#tell(refusal);
        return found;
      }
      if (!this.#isClosed) await this.#pauseFor(found);
    }
    throw closed();
  }

  /** What was acquired, or why it could not be, this time. */
  async #tryAcquire<T extends object>(take: (primary: Primary) => Promise<T | string>): Promise<T | string> {
    const primary = await findPrimary(this.#options);
    if (typeof primary === 'string') return primary;
    // From now on `close` ends it.
    this.#primary = primary;
    if (this.#isClosed) primary.destroy(closed());
    let stopWatching = () => {};
    const cancel = this.#options.timers.after(answerMs, () => {
      this.#tell(`${primary.name} does not answer, or none of its standbys does`);
      // Where the server waits for a standby, so does this: the next try would wait behind it.
      stopWatching = this.#watch(primary);
    });
    try {
      const found = await this.#acquireAt(primary, take);
      if (this.#isClosed) throw closed();
      if (typeof found === 'string') primary.destroy(new Error(found));
      return found;
    } catch (error) {
      primary.destroy(error as Error);
      if (error instanceof JournalDamaged || isFenced(error)) throw error;
      if (error instanceof NewerSchema)
        throw new JournalDamaged(`${primary.name}: ${error.message}`, { isRemote: true });
      return (primary.reason ?? (error as Error)).message;
    } finally {
      cancel();
      stopWatching();
    }
  }

  async #acquireAt<T extends object>(primary: Primary, take: (primary: Primary) => Promise<T | string>) {
    await migrate(primary.client);
    const defect = await this.#defectOf(primary);
    if (defect !== null) return defect;
    await this.#refuseForeign(primary);
    primary.takeWarning();
    if (this.#options.onTold !== undefined) await primary.listen(this.#options.onTold);
    const found = await take(primary);
    const warning = primary.takeWarning();
    if (warning !== null) return `${primary.name} has not replicated what was taken: ${warning}`;
    return (await this.#defectOf(primary)) ?? found;
  }

  /** Why the server does not hold what it acknowledges from now on; null: it does. */
  async #defectOf(primary: Primary): Promise<string | null> {
    const [settings] = await primary.query<DurabilitySettings>({ text: `select ${durabilityColumns}` });
    const defect = settings === undefined ? null : durabilityDefect(settings, this.#options.isSingle);
    return defect === null ? null : `${primary.name} does not hold what it acknowledges: ${defect}`;
  }

  /** At the first start the other databases are claimed, each as an owner acquires what it owns. */
  #refuseForeign(primary: Primary): Promise<void> {
    return refuseForeign(primary, this.#options.service, this.#options, async (other) => {
      const claiming = new OwnerConnection({ ...this.#options, ...other, first: null });
      this.#claiming = claiming;
      try {
        const { refusal } = await claiming.acquire(refusalOfClaim);
        // The first database is asked again: somebody else may have begun with all of them.
        if (refusal !== null) throw new Error(refusal);
      } finally {
        claiming.close();
      }
    });
  }

  /** Connects without owning anything, to read. Rejects with an error when nobody answers. */
  async connect(): Promise<void> {
    const primary = await findPrimary(this.#options);
    if (typeof primary === 'string') throw failure(primary, 'failed');
    this.#primary = primary;
    await migrate(primary.client);
    await this.#refuseForeign(primary);
  }

  /**
   * Runs statements where nothing need be taken: after an error, on a new connection. `check` is to
   * reject with a `JournalFailure` that is fenced where the server, which may be another one, has
   * what was taken for somebody else's.
   */
  async connected<T>(
    run: () => Promise<T>,
    check: (primary: Primary) => Promise<void> = async () => {},
  ): Promise<T> {
    const isThere = this.#primary !== null && this.#primary.reason === null;
    if (!isThere) await this.acquire(async (primary) => (await check(primary)) ?? {}, this.#refusal);
    try {
      const result = await run();
      this.#refusal = null;
      return result;
    } catch (error) {
      this.#refusal = refusalIn(error);
      throw error;
    }
  }

  /**
   * The same, and tries again until there is an answer, what was owned is lost, or `close` is
   * called.
   */
  async untilAnswered<T>(run: () => Promise<T>, check?: (primary: Primary) => Promise<void>): Promise<T> {
    for (;;) {
      try {
        return await this.connected(run, check);
      } catch (error) {
        const mayBeTriedAgain = error instanceof JournalFailure && !isFenced(error);
        if (!mayBeTriedAgain || this.#isClosed) throw error;
      }
    }
  }

  /**
   * Runs a statement of the owner. Rejects with `JournalFailure`; the connection is not used again
   * then.
   */
  write<Row extends object>(statement: Statement): Promise<Row[]> {
    return this.#ask(statement, (primary) => {
      const warning = primary.takeWarning();
      if (warning !== null)
        throw failure(`${primary.name} has not replicated a change: ${warning}`, 'unknown');
    });
  }

  /** Runs a statement where nothing need be owned. Rejects like `write`. */
  run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return this.connected(() => this.write<Row>({ name, text, values }));
  }

  /**
   * Runs a statement of the owner that answers with one row, which brings `settingsColumns`: what
   * it changes must be on more than one disk. Undefined: it has changed nothing. The row has the
   * settings of before it waited for the standbys, and a wait ends with success when their names
   * are removed: after one, the settings are read once more.
   */
  async change<Row extends object = object>(statement: Statement): Promise<Row | undefined> {
    let hasWaited = false;
    const cancel = this.#options.timers.after(waitedMs, () => {
      hasWaited = true;
    });
    const [row] = await this.write<Row & DurabilitySettings>(statement).finally(cancel);
    if (row === undefined) return undefined;
    const later = hasWaited ? await this.read<DurabilitySettings>(`select ${durabilityColumns}`, []) : [];
    const defects = [row, ...later].map((settings) => durabilityDefect(settings, this.#options.isSingle));
    const defect = defects.find((each) => each !== null);
    if (defect === undefined) return row;
    const error = failure(`a change was not replicated: ${defect}`, 'unknown');
    this.#primary?.destroy(error);
    throw error;
  }

  /**
   * Ends the connection when an answer is late that will never come: another server has been
   * promoted meanwhile, or the server has answered, and something between has forgotten the
   * connection. TCP would go on for a quarter of an hour.
   */
  #watch(primary: Primary): () => void {
    let cancel = () => {};
    let isOver = false;
    let wasAnswered = false;
    const look = async () => {
      const newest = await findPrimary(this.#options);
      if (typeof newest !== 'string') {
        const isPromoted = newest.timeline > primary.timeline;
        const isSame = newest.timeline === primary.timeline;
        const isAnswered = isSame && !(await this.#isAtWork(newest, primary));
        // The first time the answer may have just left, and by now it may have come.
        if (isPromoted) primary.destroy(new Error(`${newest.name} was promoted`));
        else if (isAnswered && wasAnswered && !isOver)
          primary.destroy(new Error(`an answer of ${primary.name} was lost`));
        wasAnswered = isAnswered;
        newest.close();
      }
      if (!isOver) cancel = this.#options.timers.after(doubtMs, look);
    };
    cancel = this.#options.timers.after(doubtMs, look);
    return () => {
      isOver = true;
      cancel();
    };
  }

  /** Whether the server is at work for a connection, or that can't be known now. */
  async #isAtWork(newest: Primary, primary: Primary): Promise<boolean> {
    const cancel = endAfter(answerMs, this.#options, () => newest.destroy(new Error('it does not answer')));
    const isAtWork = await newest.isAtWorkFor(primary).catch(() => true);
    cancel();
    return isAtWork;
  }

  /** As `write`, of a question. */
  read<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return this.#ask({ text, values }, () => {});
  }

  async #ask<Row extends object>(query: pg.QueryConfig, refuse: (primary: Primary) => void): Promise<Row[]> {
    const primary = this.#primary;
    if (primary === null || this.#isClosed) throw closed();
    const stopWatching = this.#watch(primary);
    try {
      const rows = await primary.query<Row & Record<string, unknown>>(query);
      refuse(primary);
      this.#tell(null);
      return rows;
    } catch (error) {
      primary.destroy(error as Error);
      throw error instanceof JournalFailure
        ? error
        : failure(`${primary.name}: ${(error as Error).message}`, outcomeOf(error), error);
    } finally {
      stopWatching();
    }
  }

  #tell(trouble: string | null): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble);
  }

  #pauseFor(trouble: string): Promise<void> {
    this.#tell(trouble);
    return new Promise((resolve) => {
      this.#options.timers.after(retryMs, resolve);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#closing.reject(closed());
    this.#searching.abort();
    this.#claiming?.close();
    this.#primary?.destroy(closed());
  }
}

function isFenced(error: unknown): boolean {
  return error instanceof JournalFailure && error.outcome === 'fenced';
}

function closed(): JournalFailure {
  return failure('the connection is closed', 'unknown');
}

export function failure(message: string, outcome: WriteOutcome, cause?: unknown): JournalFailure {
  const what = { diskFull: false, outcome, isRemote: true, cause };
  return new JournalFailure(`The log in PostgreSQL: ${message}`, what);
}

/** Why PostgreSQL has answered with an error; null: the statement has failed otherwise. */
function refusalIn(error: unknown): string | null {
  return error instanceof JournalFailure && error.cause instanceof pg.DatabaseError ? error.message : null;
}

/**
 * A statement that PostgreSQL has refused is not stored. Everything else may be: the connection has
 * ended, or the server has, before it answered.
 */
function outcomeOf(error: unknown): WriteOutcome {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  return code === '' || /^(08|57|58|XX)/.test(code) ? 'unknown' : 'failed';
}
