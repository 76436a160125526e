// What the pages about people work with: the directory, the cookies, the protection of forms before
// there is a session, and the throttles of everything that could be guessed.

import { timingSafeEqual } from 'node:crypto';
import { assert, defined } from '../../core/assert.ts';
import type { MonotonicClock } from '../../core/clock.ts';
import { KeyedBuckets } from '../../core/token-bucket.ts';
import type { SecretBox } from '../../crypto/secret-box.ts';
import { digestOf } from '../../directory/api-key.ts';
import type { Directory } from '../../directory/directory.ts';
import type { Member } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { Session, SessionLimits } from '../../directory/sessions.ts';
import type { KnownMember } from '../../edge/dashboard/known-sessions.ts';
import { VisitorBuckets } from '../../edge/http/visitors.ts';
import { createFormGuard, type FormGuard } from '../../html/form-guard.ts';
import type { Audit } from '../../operator/audit/audit.ts';
import type { MemberAction } from '../../operator/audit/audit-actions.ts';
import type { OperatorServices } from '../../operator/use-cases/services.ts';
import type { Incoming, MemberRequest } from '../layout/row.ts';
import { type Cookies, createCookies } from './cookies.ts';
import { Passwords } from './password.ts';
import { waitingMember } from './turns.ts';

export interface PeopleOptions {
  readonly directory: Directory;
  readonly secrets: Pick<SecretBox, 'open' | 'seal'>;
  readonly audit: Pick<Audit, 'record' | 'actionsOf'>;
  readonly sessionLimits: SessionLimits;
  /** What a password takes to hash, as the setting has it. */
  readonly hashCost: number;
  /** The public address of the service, without a final slash. */
  readonly baseUrl: string;
  /** Anybody may make an organization. */
  readonly isSignUpOpen: boolean;
  /** Where mails are queued; null: none are sent. */
  readonly mail: OperatorServices['mail'];
  /** The dashboard is served over https. */
  readonly secure: boolean;
  readonly monotonic: MonotonicClock;
  readonly randomBytes: (size: number) => Buffer;
  /** Called with the address from which a sign-in was refused. */
  readonly onRefusedSignIn: (address: string) => void;
}

/** Wrong guesses from an address (of IPv6: a /64), and of an account, in a quarter of an hour. */
const guesses = { count: 20, windowMs: 15 * 60_000, keysMax: 50_000 };
/** Sign-ups from an address (of IPv6: a /64) in an hour, those that came to nothing included. */
const signUps = { count: 5, windowMs: 3_600_000, keysMax: 50_000 };
/** After how many seconds somebody who was refused because too many wait may try again. */
export const busySeconds = 5;
const stepUpMs = 10 * 60_000;
/** Pages make and extend them of letters, digits and dashes. They go to shards and logs as is. */
const idempotencyKeyOfPage = /^[\x21-\x7e]{0,200}$/;
/** More than any field on a page takes. */
const fieldCharactersMax = 16_384;

/** The result of a guess that did not get its turn. */
export const untried = 'untried';

export class People {
  readonly directory: Directory;
  readonly secrets: PeopleOptions['secrets'];
  readonly cookies: Cookies;
  readonly guard: FormGuard;
  readonly passwords: Passwords;
  readonly #options: PeopleOptions;
  readonly #byVisitor = new VisitorBuckets(guesses);
  readonly #byAccount = new KeyedBuckets(guesses);
  readonly #signUps = new VisitorBuckets(signUps);

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.directory = options.directory;
    this.secrets = options.secrets;
    this.cookies = createCookies(options.secure);
    this.passwords = new Passwords(options.hashCost);
    this.guard = createFormGuard(options.secure, options.randomBytes);
  }

  get isSignUpOpen(): boolean {
    return this.#options.isSignUpOpen;
  }

  get mail(): OperatorServices['mail'] {
    return this.#options.mail;
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** Counts an attempt to sign up. Null when there was room, else the seconds to wait. */
  countSignUp({ visitor }: Incoming): number | null {
    return this.#signUps.spend(visitor, this.#options.monotonic());
  }

  /** The signed-in member of a request; null for nobody. */
  memberOf<Request extends Incoming>(incoming: Request): (Request & MemberRequest) | null {
    const found = this.#find(incoming, !incoming.isRepeated);
    return found && { ...incoming, ...found, organizations: this.organizationsOf(found.member) };
  }

  /** Whose session the browser has, as far as an edge has to know. */
  knownMemberOf(incoming: Incoming): KnownMember | null {
    const found = this.#find(incoming, false);
    return found && { member: found.member.id, organizations: Object.keys(found.member.roles) };
  }

  #find({ cookie }: Incoming, isUse: boolean): { member: Member; session: Session } | null {
    const token = this.cookies.session(cookie);
    const session =
      token === null ? null : this.directory.sessions.find(token, this.#options.sessionLimits, isUse);
    const member = session === null ? undefined : this.directory.members.find(session.member);
    return session === null || member === undefined ? null : { member, session };
  }

  /** The organizations that a member belongs to, by name. */
  organizationsOf({ roles }: Member): { readonly id: string; readonly name: string }[] {
    return Object.keys(roles)
      .map((id) => this.directory.findOrganization(id))
      .filter((organization) => organization !== undefined)
      .filter(({ status }) => status !== 'closed')
      .map(({ id, name }) => ({ id, name }))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Whether the password was given lately. */
  isConfirmed({ confirmedMs }: Session): boolean {
    return this.directory.store.now() - confirmedMs < stepUpMs;
  }

  /** Whether a form comes from a page of this session, and has only what its fields could hold. */
  isOwnForm({ secFetchSite, form, session }: MemberRequest): boolean {
    const isOwnSite = secFetchSite === '' || secFetchSite === 'same-origin';
    if (!idempotencyKeyOfPage.test(form.get('idempotency_key') ?? '')) return false;
    for (const value of form.values()) if (value.length > fieldCharactersMax) return false;
    const [given, expected] = [Buffer.from(form.get('form_key') ?? ''), Buffer.from(session.formKey)];
    return isOwnSite && given.length === expected.length && timingSafeEqual(given, expected);
  }

  /** Whether a form about `id` comes from a page that this browser was given. */
  isGenuine({ cookie, secFetchSite, form }: Incoming, id: string): boolean {
    return this.guard.accepts(id, cookie, secFetchSite, form);
  }

  /**
   * Opens a session in place of the one that the browser has. Returns the cookies to set: none when
   * the password is no longer the one of `member`, who is as when it was tried.
   */
  async signIn(member: Member, incoming: Incoming): Promise<string[]> {
    const { sessions } = this.directory;
    const before = this.memberOf(incoming);
    if (before !== null) await sessions.end(before.member.id, before.session.id);
    const open = () =>
      sessions.open(member.id, incoming.client, this.#options.sessionLimits, () =>
        this.hasSamePassword(member),
      );
    try {
      const { token } = await this.act(member, 'member.sign-in', { address: incoming.client }, open);
      return [this.cookies.setSession(token)];
    } catch (error) {
      if (isSessionOver(error)) return [];
      throw error;
    }
  }

  /** Whether the password is still the one that the member had earlier. */
  hasSamePassword(earlier: Member): boolean {
    const now = this.directory.members.find(earlier.id);
    return now !== undefined && now.password?.hash === earlier.password?.hash;
  }

  /** Signs a member in whose first page is the answer to this request. */
  async signInHere<Request extends Incoming>(
    member: Member,
    incoming: Request,
  ): Promise<{ cookie: string; request: Request & MemberRequest }> {
    const [cookie] = await this.signIn(member, incoming);
    assert(cookie !== undefined, 'nobody changes the password of a member who was just made');
    const request = this.memberOf({ ...incoming, cookie });
    return { cookie, request: defined(request, 'who was signed in is known') };
  }

  /**
   * Carries out what a member does with their own account, between two rows of the audit record.
   * When it concerns an organization, the organization's owners see it.
   */
  act<T>(
    member: Member,
    action: MemberAction,
    params: object,
    run: () => Promise<T>,
    organization: string | null = null,
  ): Promise<T> {
    const by = { member: member.id, organization };
    return this.#options.audit.record(by, action, params, run);
  }

  /** Tries the password of a member who is signed in. */
  tryPassword(request: MemberRequest, password: string) {
    const { member, session } = request;
    return this.tryGuess(request, `password ${session.id}`, async () => {
      const waiter = waitingMember(request, member.id);
      const isRight = await this.passwords.isRight(password, member.password, waiter);
      return isRight === null ? untried : isRight ? member : null;
    });
  }

  /**
   * Tries a guess at the credentials of an account, unless there were too many: then it answers the
   * seconds to wait. The account is a text of any length, and may not exist. Null when the guess
   * was wrong. A guess that does not get its turn is `untried`: it counts for who made it, so that
   * a crowd of them comes to an end, and not for the account.
   */
  async tryGuess<T>(
    incoming: Incoming,
    account: string,
    guess: () => Promise<T | null | typeof untried>,
  ): Promise<{ readonly right: T } | { readonly waitSeconds: number } | null> {
    const nowMs = this.#options.monotonic();
    const { client, visitor } = incoming;
    const key = digestOf(account);
    // A visitor who has to wait anyway doesn't keep the account waiting, too.
    const wait = this.#byVisitor.spend(visitor, nowMs) ?? this.#byAccount.spend(key, nowMs);
    if (wait !== null) return { waitSeconds: wait };
    const right = await guess();
    if (right === untried) {
      this.#byAccount.giveBack(key);
      return { waitSeconds: busySeconds };
    }
    if (right === null) {
      this.#options.onRefusedSignIn(client);
      return null;
    }
    this.#byVisitor.giveBack(visitor);
    this.#byAccount.giveBack(key);
    return { right };
  }
}

/** Whether something was refused because a session, or the password that opens one, is over. */
export function isSessionOver(error: unknown): boolean {
  return error instanceof DirectoryRefusal && error.code === 'session_over';
}
