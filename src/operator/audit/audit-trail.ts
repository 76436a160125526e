// The actions that concern one organization, newest first. Each row has the place of the
// organization's row before it, so the rows of others are not read. Where a row lacks that, and for
// the newest row after a start, the files are searched backwards.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OperatorErrorKind } from '../use-cases/failures.ts';
import {
  type AuditLine,
  auditFiles,
  linesBackwards,
  newline,
  parsedRow,
  readText,
  rowBytesMax,
} from './audit-log.ts';

/** Who runs the client, as it says: the machine's user, and the user who called sudo. */
export interface Asker {
  readonly user: string | null;
  readonly uid: number | null;
  readonly sudo_user: string | null;
}

/** A member, in the dashboard. */
export interface MemberAuthor {
  readonly member: string;
  /** Where the member acts; null for what concerns the account alone. */
  readonly organization: string | null;
}

/** Who it is in words; null when the client didn't say. */
export function nameOfAsker(by: Asker | MemberAuthor | null): string | null {
  if (by === null) return null;
  if ('member' in by) return by.member;
  const { user, uid, sudo_user: sudoUser } = by;
  const name = user ?? `uid ${uid}`;
  return sudoUser === null ? name : `${name} (sudo by ${sudoUser})`;
}

/** A row of the file. */
export interface OperatorRow {
  /** ISO 8601. */
  readonly at: string;
  /** The same in both rows of an action. */
  readonly id: string;
  /** Who the client says that it is, or a member in the dashboard; null: it did not say. */
  readonly by: Asker | MemberAuthor | null;
  readonly action: string;
  readonly params: unknown;
  /** `asked` in the row before the action; then `done`, or the kind of the error. */
  readonly outcome: 'asked' | 'done' | OperatorErrorKind;
  /** The id of what the action made or changed, if it has one. */
  readonly object: string | null;
  readonly message: string | null;
  /** The organization that the action concerns; left out when there is none. */
  readonly organization?: string;
  /** The place of the organization's row before this one; null when there was none. */
  readonly previous?: number | null;
}

/** A row and where it begins in the file. */
export interface PlacedRow {
  readonly place: number;
  readonly row: OperatorRow;
}

/** The outcome of an action is looked for so far behind the row that asked for it. */
const outcomeBytesMax = 1024 * 1024;

export class AuditTrail {
  readonly #path: string;
  /** The place of each organization's newest row, once it was looked for; null: none. */
  readonly #newest = new Map<string, number | null>();
  readonly #looking = new Map<string, Promise<unknown>>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Finds the place of the organization's newest row. */
  async newest(org: string): Promise<number | null> {
    if (!this.#newest.has(org)) {
      const look = async () => {
        const place = await this.#before(org, Number.POSITIVE_INFINITY);
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
    const seen = new Set<string>();
    const start = before === null ? null : this.#rowAt(org, before);
    let place = start === null ? await this.newest(org) : await this.#previous(org, start);
    while (place !== null) {
      const found = this.#rowAt(org, place);
      if (found === null) {
        place = await this.#before(org, place);
        continue;
      }
      const { row } = found;
      const isNew = !seen.has(row.id) && (row.outcome !== 'asked' || !this.#hasOutcome(found));
      seen.add(row.id);
      if (isNew) yield found;
      place = await this.#previous(org, found);
    }
  }

  async #previous(org: string, { place, row }: PlacedRow): Promise<number | null> {
    const { previous } = row;
    // A place behind the row itself is one from before somebody took files away.
    const isKnown = previous === null || (previous !== undefined && previous < place);
    return isKnown ? previous : this.#before(org, place);
  }

  /** The row of the organization that begins at a place; null when none does. */
  #rowAt(org: string, place: number): PlacedRow | null {
    const [before] = place === 0 ? [newline] : this.#read(place - 1, 1);
    // The row before the oldest one was dropped with its file.
    if (before !== newline && auditFiles(this.#path)[0]?.start !== place) return null;
    const bytes = this.#read(place, rowBytesMax);
    return rowIn({ place, bytes: bytes.subarray(0, bytes.indexOf(newline) + 1) }, org);
  }

  /** Whether the outcome of an action follows: then it was met before, on a page of newer ones. */
  #hasOutcome({ place, row: { id } }: PlacedRow): boolean {
    const bytes = this.#read(place, outcomeBytesMax);
    return bytes.indexOf(`"id":"${id}"`, bytes.indexOf(newline) + 1) > 0;
  }

  #read(place: number, length: number): Buffer {
    return readText(auditFiles(this.#path), place, length);
  }

  /** The place of the organization's last row that begins before `end`. */
  async #before(org: string, end: number): Promise<number | null> {
    const name = `"organization":"${org}"`;
    for (const lines of linesBackwards(auditFiles(this.#path), end)) {
      const found = lines.find((line) => line.bytes.includes(name) && rowIn(line, org) !== null);
      if (found !== undefined) return found.place;
      // Everybody waits for this thread, so a long search pauses between the parts of the text.
      await nextTurn();
    }
    return null;
  }
}

/** The row in a line, if it is the organization's. */
function rowIn({ place, bytes }: AuditLine, org: string): PlacedRow | null {
  const row = parsedRow<OperatorRow>(bytes);
  return row !== null && organizationOf(row) === org ? { place, row } : null;
}

/** Rows of version 0.1.0 name the organization of members only. */
function organizationOf({ organization, by }: OperatorRow): string | null {
  return organization ?? (by !== null && 'member' in by ? by.organization : null);
}
