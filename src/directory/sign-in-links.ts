// Links that work once, for people who can't sign in with a password: an invitation, a new
// password, a sign-up, and the first sign-in in development. Only the digest of a link's token is
// stored. Like sessions, links are not brought back by a restore.

import { randomBytes } from 'node:crypto';
import { openInvitationsMax } from '../contract/limits.ts';
import { digestOf } from './api-key.ts';
import type { DirectoryStore, Ending } from './directory-store.ts';
import { checkedEmail, type Role } from './members.ts';
import { DirectoryRefusal } from './refusal.ts';
import { type Alongside, type TokenRow, TokenRows } from './token-rows.ts';

export type LinkPurpose =
  /** Lets somebody into an organization with a role. */
  | { readonly kind: 'invitation'; readonly org: string; readonly role: Role }
  /** Lets a member choose a new password; the authenticator app is forgotten. */
  | { readonly kind: 'reset' }
  /** Signs a member in without a password. */
  | { readonly kind: 'sign_in' }
  /** Makes an organization for somebody who reads the mails of an address, as using it proves. */
  | { readonly kind: 'sign_up'; readonly organization: string };

export type SignInLink = LinkPurpose &
  TokenRow & {
    /** Names the link to people; it opens nothing. */
    readonly id: string;
    readonly email: string;
    /** Who made it: a member's id, or `operator`; absent in one of version 0.1.0. */
    readonly madeBy?: string;
    /** Unix milliseconds. */
    readonly createdMs: number;
    readonly expiresMs: number;
  };

/** How long links work. A link to a new password opens an account, so its time is short. */
export const linkDays = 7;
const lifetimeMs = {
  invitation: linkDays * 86_400_000,
  sign_in: linkDays * 86_400_000,
  sign_up: 86_400_000,
  reset: 3_600_000,
} as const;
const tokenBytes = 24;
/** Who made a link, when no member did. */
const operator = 'operator';

export class SignInLinks {
  readonly #store: DirectoryStore;
  readonly #rows: TokenRows<SignInLink>;

  constructor(store: DirectoryStore) {
    this.#store = store;
    this.#rows = new TokenRows(store, 'link');
  }

  /**
   * Makes a link, in place of an older one of the same purpose. Returns its token, which is kept
   * nowhere. `madeBy` is a member's id, or `operator`. `refuse` throws when it may not be made any
   * more: it is asked once what was under way is written, so that nobody makes one who was removed
   * meanwhile. What `alongside` returns is written in the same commit. Throws `DirectoryRefusal`.
   */
  async create(
    email: string,
    purpose: LinkPurpose,
    madeBy: string,
    refuse: () => void = () => {},
    alongside: (link: SignInLink, token: string) => Alongside | null = () => null,
  ): Promise<{ link: SignInLink; token: string }> {
    const token = randomBytes(tokenBytes).toString('base64url');
    const nowMs = this.#store.now();
    const link: SignInLink = {
      ...purpose,
      id: `lnk_${randomBytes(12).toString('hex')}`,
      digest: digestOf(token),
      email: checkedEmail(email),
      madeBy,
      createdMs: nowMs,
      expiresMs: nowMs + lifetimeMs[purpose.kind],
    };
    await this.#rows.write(() => {
      refuse();
      const links = this.#rows.all();
      const ended = links.filter((each) => each.expiresMs <= nowMs || isSame(each, link));
      if (link.kind === 'invitation' && madeBy !== operator) this.#refuseManyInvitations(link.org, ended);
      return { put: [link], ended, alongside: alongside(link, token) };
    });
    return { link, token };
  }

  /** Bounds members' invitations: operators are trusted, and of other links a member has one. */
  #refuseManyInvitations(org: string, ended: readonly SignInLink[]): void {
    const open = this.invitationsOf(org).filter((each) => each.madeBy !== operator && !ended.includes(each));
    if (open.length < openInvitationsMax) return;
    throw new DirectoryRefusal(
      `the organization has ${openInvitationsMax} open invitations: revoke some first`,
      'too_many_links',
    );
  }

  /** The link of a token; null when there is none, or it was used, or it is too old. */
  find(token: string): SignInLink | null {
    const link = this.#rows.get(digestOf(token));
    return link === undefined || link.expiresMs <= this.#store.now() ? null : link;
  }

  /** Whether a link still works, by the digest of its token. */
  isOpen(digest: string): boolean {
    const link = this.#rows.get(digest);
    return link !== undefined && link.expiresMs > this.#store.now();
  }

  /** Uses a link up. Of two who use it at the same time one gets false. */
  async use(link: SignInLink): Promise<boolean> {
    const found = () => ({ ended: this.#rows.get(link.digest) === undefined ? [] : [link] });
    return (await this.#rows.write(found)).length > 0;
  }

  /** The open invitations of an organization, the oldest first. */
  invitationsOf(org: string): SignInLink[] {
    return this.#rows
      .all()
      .filter((link) => link.kind === 'invitation' && link.org === org && link.expiresMs > this.#store.now())
      .sort((a, b) => a.createdMs - b.createdMs);
  }

  /** Takes an invitation back. Throws `DirectoryRefusal`. */
  async revoke(org: string, id: string): Promise<void> {
    const ended = await this.#rows.write(() => ({
      ended: this.invitationsOf(org).filter((link) => link.id === id),
    }));
    if (ended.length === 0) throw new DirectoryRefusal('there is no such invitation', 'link_missing');
  }

  /**
   * The end of the invitations into an organization, or of those that `isEnded` selects, in the
   * commit of a change.
   */
  endingInvitations(org: string, isEnded: (invitation: SignInLink) => boolean = () => true): Ending {
    return this.#rows.ending(this.invitationsOf(org).filter(isEnded));
  }

  /** The end of a member's links to a sign-in or a new password, in the commit of a change. */
  endingOwn(email: string): Ending {
    const isOwn = (link: SignInLink) => link.email === email && link.kind !== 'invitation';
    return this.#rows.ending(this.#rows.all().filter(isOwn));
  }
}

function isSame(a: SignInLink, b: SignInLink): boolean {
  if (a.email !== b.email || a.kind !== b.kind) return false;
  return a.kind !== 'invitation' || (b.kind === 'invitation' && a.org === b.org);
}
