// The sessions of members who are signed in. Only the digest of a session's token is stored; the
// token is in the cookie of one browser. The rows stay out of the log of changes, and no restore
// brings them back: a restored folder has no sessions.

import { randomBytes } from 'node:crypto';
import { digestOf } from './api-key.ts';
import type { DirectoryStore, Ending } from './directory-store.ts';
import { DirectoryRefusal } from './refusal.ts';
import { type TokenRow, TokenRows } from './token-rows.ts';

export interface Session extends TokenRow {
  /** Names the session to people; it opens nothing. */
  readonly id: string;
  readonly member: string;
  /** The forms of the session carry it. */
  readonly formKey: string;
  /** Unix milliseconds, as the others. */
  readonly createdMs: number;
  /** At most a minute late. */
  readonly usedMs: number;
  /** When the member last gave the password. */
  readonly confirmedMs: number;
  /** From where it was opened. */
  readonly address: string;
  /** Organizations whose owner has ended it: to enter them, the member signs in again. */
  readonly endedIn?: readonly string[];
}

export interface SessionLimits {
  /** A session ends when it was not used for so long. */
  readonly idleMs: number;
  /** A session ends this long after its sign-in, whatever happens. */
  readonly absoluteMs: number;
}

const tokenBytes = 32;
const touchMs = 60_000;
const perMemberMax = 20;

function newToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

export class Sessions {
  readonly #store: DirectoryStore;
  readonly #rows: TokenRows<Session>;

  constructor(store: DirectoryStore) {
    this.#store = store;
    this.#rows = new TokenRows(store, 'session');
  }

  /** The sessions of a member, the newest first. */
  of(member: string): Session[] {
    return this.#rows
      .all()
      .filter((session) => session.member === member)
      .sort((a, b) => b.createdMs - a.createdMs);
  }

  /**
   * Opens a session. Returns its token, which is kept nowhere. `mayOpen` is asked when nothing can
   * change any more before it is written; throws `DirectoryRefusal` when it says no.
   */
  async open(
    member: string,
    address: string,
    limits: SessionLimits,
    mayOpen: () => boolean = () => true,
  ): Promise<{ session: Session; token: string }> {
    const token = newToken();
    const nowMs = this.#store.now();
    const session: Session = {
      id: `ses_${randomBytes(12).toString('hex')}`,
      digest: digestOf(token),
      member,
      formKey: randomBytes(16).toString('base64url'),
      createdMs: nowMs,
      usedMs: nowMs,
      confirmedMs: nowMs,
      address,
    };
    await this.#rows.write(() => {
      if (!mayOpen()) throw new DirectoryRefusal('the password was changed meanwhile', 'session_over');
      const over = this.#rows.all().filter((each) => isOver(each, limits, nowMs));
      return { put: [session], ended: [...over, ...this.of(member).slice(perMemberMax - 1)] };
    });
    return { session, token };
  }

  /** The session of a token; null when there is none, or it is over. `isUse`: this is a use. */
  find(token: string, limits: SessionLimits, isUse = true): Session | null {
    const session = this.#rows.get(digestOf(token));
    if (session === undefined) return null;
    const nowMs = this.#store.now();
    if (isOver(session, limits, nowMs)) return null;
    if (!isUse || nowMs - session.usedMs < touchMs) return session;
    const touch = () => {
      const current = this.#rows.get(session.digest);
      return { put: current === undefined ? [] : [{ ...current, usedMs: nowMs }] };
    };
    // A failed write is reported by the store. The session goes on, and is written again with its
    // next use.
    this.#rows.write(touch).catch(() => {});
    return session;
  }

  /**
   * The member has given the password again. The session gets another token, so that an older one
   * opens nothing. Null when it has ended meanwhile.
   */
  async confirm(session: Session): Promise<string | null> {
    const token = newToken();
    const nowMs = this.#store.now();
    const { length } = await this.#rows.write(() => {
      // An owner may have ended it into an organization while the password was being tried.
      const current = this.#rows.get(session.digest);
      if (current === undefined) return {};
      const put = { ...current, digest: digestOf(token), usedMs: nowMs, confirmedMs: nowMs };
      return { put: [put], ended: [current] };
    });
    return length === 0 ? null : token;
  }

  /** Whether a session has not ended. */
  isOpen({ member, id }: Session): boolean {
    return this.of(member).some((each) => each.id === id);
  }

  /** Ends all sessions of a member. Returns how many. */
  async endAll(member: string): Promise<number> {
    return (await this.#rows.write(() => ({ ended: this.of(member) }))).length;
  }

  /** The end of all sessions of a member, but of one that is kept, in the commit of a change. */
  ending(member: string, kept: Session | null = null): Ending {
    return this.#rows.ending(this.of(member).filter(({ id }) => id !== kept?.id));
  }

  /** Ends all sessions of a member for one of them. One that has ended meanwhile ends no others. */
  async endOthers(session: Session): Promise<void> {
    const others = () => this.of(session.member).filter(({ id }) => id !== session.id);
    await this.#rows.write(() => ({ ended: this.isOpen(session) ? others() : [] }));
  }

  /** Ends a member's sessions into an organization, except one. Returns how many. */
  async endAllIn(member: string, org: string, except: string | null): Promise<number> {
    let count = 0;
    await this.#rows.write(() => {
      const put = this.into(member, org)
        .filter(({ id }) => id !== except)
        .map((session) => ({ ...session, endedIn: [...(session.endedIn ?? []), org] }));
      count = put.length;
      return { put };
    });
    return count;
  }

  /** The sessions of a member that may enter an organization, the newest first. */
  into(member: string, org: string): Session[] {
    return this.of(member).filter((session) => mayEnter(session, org));
  }

  /** Ends one session of a member, if there is such a session. */
  async end(member: string, id: string): Promise<void> {
    await this.#rows.write(() => ({ ended: this.of(member).filter((session) => session.id === id) }));
  }
}

/** Whether a session of a member of the organization may enter it. */
export function mayEnter({ endedIn = [] }: Session, org: string): boolean {
  return !endedIn.includes(org);
}

function isOver(session: Session, { idleMs, absoluteMs }: SessionLimits, nowMs: number): boolean {
  return nowMs - session.usedMs >= idleMs || nowMs - session.createdMs >= absoluteMs;
}
