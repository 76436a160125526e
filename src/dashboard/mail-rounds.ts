// Goes round all organizations again and again, looking for what is to be mailed. What was mailed
// is a row of the directory, written in the commit that queues the mails: a crash loses nothing,
// and nothing is told again after a start.

import { pack } from 'msgpackr';
import type { Alongside } from '../directory/token-rows.ts';
import type { MailOutbox } from '../mail/outbox.ts';
import type { OperatorServices } from '../operator/use-cases/services.ts';

export interface MailRoundsOptions {
  readonly services: Pick<OperatorServices, 'askShard' | 'directory' | 'baseUrl' | 'now'>;
  readonly outbox: Pick<MailOutbox, 'plan'>;
  /** The folder was restored and not resumed: another service may tell the same people. */
  readonly isPaused: () => boolean;
  /**
   * A shard could not be asked, or the row could not be written; it is tried again. `inARow`: how
   * often that has failed since it last succeeded.
   */
  readonly onFailure: (org: string, error: unknown, inARow: number) => void;
}

/** A mail is worth sending for three days. */
export const wantedMs = 3 * 86_400_000;

export abstract class MailRounds<Row extends { readonly org: string }> {
  protected readonly options: MailRoundsOptions;
  protected readonly rows = new Map<string, Row>();
  protected stopped = false;
  readonly #prefix: string;
  readonly #everyMs: number;
  /** How often a piece of work has failed in a row. */
  readonly #failed = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: MailRoundsOptions, prefix: string, everyMs: number) {
    this.options = options;
    this.#prefix = prefix;
    this.#everyMs = everyMs;
    for (const row of options.services.directory.store.values<Row>(prefix)) this.rows.set(row.org, row);
  }

  /** Looks at every organization, one after the other. Never rejects. */
  abstract look(): Promise<void>;

  start(): void {
    const again = async () => {
      await this.look();
      if (!this.stopped) this.#timer = setTimeout(again, this.#everyMs).unref();
    };
    void again();
  }

  /** Resolves once nothing is written any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.#timer ?? undefined);
    // The answer of a shard is not waited for: nobody uses it any more.
    await this.#writing.catch(() => {});
  }

  /** Does a piece of work for an organization. What fails is told. */
  protected async attempt(org: string, what: string, work: () => Promise<void>): Promise<void> {
    const key = `${what} ${org}`;
    try {
      await work();
      this.#failed.delete(key);
    } catch (error) {
      const inARow = (this.#failed.get(key) ?? 0) + 1;
      this.#failed.set(key, inARow);
      this.options.onFailure(org, error, inARow);
    }
  }

  /** Writes rows with the mails that are planned then; null from `plan`: nothing is written. */
  protected async write(rows: ReadonlyMap<string, Row | null>, plan: () => Alongside | null): Promise<void> {
    if (rows.size === 0 || this.stopped) return;
    let planned: Alongside | null = null;
    const make = () => {
      planned = plan();
      const own = [...rows].map(([org, row]) => [this.#prefix + org, row && pack(row)] as const);
      return new Map<string, Uint8Array | null>(planned === null ? [] : [...own, ...planned.rows]);
    };
    this.#writing = this.options.services.directory.store.write(make, () => {
      if (planned === null) return;
      for (const [org, row] of rows) {
        if (row === null) this.rows.delete(org);
        else this.rows.set(org, row);
      }
      planned.onWritten();
    });
    await this.#writing;
  }
}

/** No mails. */
export const nothing: Alongside = { rows: new Map(), onWritten() {} };
