// The actions that concern one organization: where its newest row is, so that the next one can say
// what comes before it, and its actions, newest first.

import {
  type Actions,
  type ActionsAsked,
  actionsBefore,
  newestRow,
  type RowsOfOrganization,
} from './audit-reader.ts';
import type { PlacedRow } from './audit-row.ts';

/** Reads the record. Its functions block where they run. */
export interface AuditReader {
  newestRow(rows: RowsOfOrganization): Promise<number | null>;
  actionsBefore(asked: ActionsAsked): Promise<Actions>;
}

/** For a process that may block. */
export const readerInThisThread: AuditReader = {
  newestRow: async (rows) => newestRow(rows),
  actionsBefore: async (asked) => actionsBefore(asked),
};

export class AuditTrail {
  readonly #path: string;
  readonly #reader: AuditReader;
  /** The place of each organization's newest row, once it was looked for; null: none. */
  readonly #newest = new Map<string, number | null>();
  readonly #looking = new Map<string, Promise<unknown>>();

  constructor(path: string, reader: AuditReader = readerInThisThread) {
    this.#path = path;
    this.#reader = reader;
  }

  /** Finds the place of the organization's newest row. */
  async newest(org: string): Promise<number | null> {
    if (!this.#newest.has(org)) {
      const look = async () => {
        const place = await this.#reader.newestRow({ path: this.#path, org });
        // A row that was written meanwhile is newer.
        if (!this.#newest.has(org)) this.#newest.set(org, place);
      };
      const looking = this.#looking.get(org) ?? look().finally(() => this.#looking.delete(org));
      this.#looking.set(org, looking);
      await looking;
    }
    return this.#newest.get(org) ?? null;
  }

  /** Notes the place of a new row. Returns the place of the one before; undefined: not known. */
  put(org: string, place: number): number | null | undefined {
    const previous = this.#newest.get(org);
    this.#newest.set(org, place);
    return previous;
  }

  /** A row of the organization could not be written, or only in part. */
  forget(org: string): void {
    this.#newest.delete(org);
  }

  /** The actions before the row at `before`, with their outcomes, newest first. */
  async *actions(org: string, before: number | null): AsyncGenerator<PlacedRow> {
    const newest = await this.newest(org);
    let from = before;
    do {
      const { found, last } = await this.#reader.actionsBefore({
        path: this.#path,
        org,
        newest,
        before: from,
      });
      yield* found;
      from = last;
    } while (from !== null);
  }
}
