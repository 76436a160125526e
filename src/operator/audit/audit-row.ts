// A row of the record of actions, and who is its author.

import type { OperatorErrorKind } from '../use-cases/failures.ts';

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
