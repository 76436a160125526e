// What is known of the people of the organizations: the roles that they have, and what opens with a token, which are sessions and
// links. What is under way leaves that in doubt until it is done, and without an end until the directory is read from the disk again:
// nothing is under way then, and what was done is there.

import { memberPrefix } from '../../../src/contract/id-prefixes.ts';
import type { Directory } from '../../../src/directory/directory.ts';
import { type Member, type Role, roles } from '../../../src/directory/members.ts';
import { DirectoryRefusal } from '../../../src/directory/refusal.ts';
import type { World } from '../world/world.ts';

/** What became of a command; null: nobody knows. */
export type Result = 'done' | 'refused' | null;
export type Settle = (result: Result) => void;

/** Longer than any run takes. */
export const sessionLimits = { idleMs: 1e12, absoluteMs: 1e12 };

/** A session by one of its tokens, or a link. Once it has ended it stays so. */
export class Opener {
  readonly token: string;
  readonly name: string;
  /** From when on it may have expired. */
  readonly expiresMs: number;
  hasEnded = false;
  readonly #endings = new Set<object>();

  constructor(token: string, name: string, expiresMs: number) {
    this.token = token;
    this.name = name;
    this.expiresMs = expiresMs;
  }

  /** Whether it is certain that it opens something. */
  get isOpen(): boolean {
    return !this.hasEnded && this.#endings.size === 0;
  }

  /** Somebody begins to end it. */
  ending(): Settle {
    const ending = {};
    this.#endings.add(ending);
    return (result) => {
      if (result !== null) this.#endings.delete(ending);
      if (result === 'done') this.hasEnded = true;
    };
  }

  /** Nothing is under way. */
  isRead(isFound: boolean): void {
    this.#endings.clear();
    this.hasEnded ||= !isFound;
  }
}

/** What is ended, or ends others by being made: of what is made at the same time nobody knows whether it stays. */
export class Endings {
  readonly #underWay = new Set<object>();
  #begun = 0;

  /** Something ends, or is being made that ends others; `made` is as in `opening`. */
  begin(): { readonly settle: Settle; readonly made: <T extends Opener>(opener: T) => T } {
    const own = {};
    this.#begun++;
    const made = this.opening();
    this.#underWay.add(own);
    return {
      settle: (result) => {
        if (result !== null) this.#underWay.delete(own);
      },
      made,
    };
  }

  /** Something is being opened; to be called when it is: what may have been ended meanwhile may be over. */
  opening(): <T extends Opener>(opener: T) => T {
    const [begun, isAlone] = [this.#begun, this.#underWay.size === 0];
    return (opener) => {
      if (!isAlone || this.#begun !== begun) opener.ending();
      return opener;
    };
  }

  /** Nothing is under way. */
  isRead(): void {
    this.#underWay.clear();
  }
}

/** What a command makes of a role: who leaves, or gets another one, must have one. */
interface RoleChange {
  readonly needsRole: boolean;
  readonly role: Role | null;
}

export const leaving: RoleChange = { needsRole: true, role: null };
export const joining = (role: Role): RoleChange => ({ needsRole: false, role });
export const changing = (role: Role): RoleChange => ({ needsRole: true, role });

/** The role that somebody has in an organization; null: none. What overlaps may have been done in any order. */
export class Membership {
  #possible: ReadonlySet<Role | null>;
  readonly #underWay = new Set<RoleChange>();
  #done: RoleChange[] = [];
  /** How many changes were begun. */
  begun = 0;

  constructor(role: Role | null) {
    this.#possible = new Set([role]);
  }

  /** The role for certain; undefined: nobody knows. */
  get role(): Role | null | undefined {
    if (this.#underWay.size > 0 || this.#possible.size !== 1) return undefined;
    const [role] = this.#possible;
    return role;
  }

  begin(change: RoleChange): Settle {
    const own = { ...change };
    this.begun++;
    this.#underWay.add(own);
    return (result) => {
      if (result === null || !this.#underWay.delete(own)) return;
      if (result === 'done') this.#done.push(own);
      if (this.#underWay.size > 0) return;
      this.#possible = outcomes(this.#possible, this.#done, []);
      this.#done = [];
    };
  }

  /** Nothing is under way, and the directory has this role. Whether it may. */
  isRead(role: Role | null): boolean {
    const possible = outcomes(this.#possible, this.#done, [...this.#underWay]);
    this.#possible = new Set([role]);
    this.#underWay.clear();
    this.#done = [];
    return possible.has(role);
  }

  /** Whether the directory may have this role, while something may be under way. */
  mayBe(role: Role | null): boolean {
    return this.#underWay.size > 0 || this.#possible.has(role);
  }
}

const changesMax = 6;

/** The roles that changes which were done, and others that may have been, can have led to. */
function outcomes(
  from: ReadonlySet<Role | null>,
  done: readonly RoleChange[],
  perhaps: readonly RoleChange[],
): ReadonlySet<Role | null> {
  if (done.length + perhaps.length > changesMax) return new Set([...roles, null]);
  const found = new Set<Role | null>();
  const go = (role: Role | null, left: readonly RoleChange[], optional: readonly RoleChange[]) => {
    if (left.length === 0) found.add(role);
    const isPossible = ({ needsRole }: RoleChange) => !needsRole || role !== null;
    for (const change of left.filter(isPossible)) go(change.role, without(left, change), optional);
    for (const change of optional.filter(isPossible)) go(change.role, left, without(optional, change));
  };
  for (const role of from) go(role, done, perhaps);
  return found;
}

const without = <T>(list: readonly T[], left: T) => list.filter((each) => each !== left);

export class Person {
  readonly id: string;
  readonly email: string;
  readonly memberships = new Map<string, Membership>();
  readonly sessions: SessionOpener[] = [];
  /** To a new password, or to a sign-in. */
  readonly links: Opener[] = [];
  /** Of sessions and links. */
  readonly endings = new Endings();
  /** Of links by newer ones. */
  readonly replacements = new Endings();

  constructor(id: string, email: string) {
    this.id = id;
    this.email = email;
  }

  membership(org: string): Membership {
    const found = this.memberships.get(org) ?? new Membership(null);
    this.memberships.set(org, found);
    return found;
  }

  /** Whether it is certain that they belong to no organization, so that they are forgotten. */
  get isGone(): boolean {
    return [...this.memberships.values()].every(({ role }) => role === null);
  }

  /** Whether it is certain that they belong to another organization than this one. */
  isElsewhere(org: string): boolean {
    return [...this.memberships].some(([each, { role }]) => each !== org && typeof role === 'string');
  }

  /** Some of what they have opened is being ended. */
  ending(openers: readonly Opener[]): Settle {
    const ends = [this.endings.begin().settle, ...openers.map((opener) => opener.ending())];
    return (result) => {
      for (const end of ends) end(result);
    };
  }

  /** Nothing is under way. */
  isRead(): void {
    this.endings.isRead();
    this.replacements.isRead();
  }
}

export class SessionOpener extends Opener {
  /** It has another token once the password was given again. */
  readonly id: string;

  constructor(token: string, id: string) {
    super(token, `the session ${id}`, Infinity);
    this.id = id;
  }
}

export class Invitation extends Opener {
  readonly org: string;
  readonly email: string;
  readonly role: Role;
  /** A member's id; null: an operator. */
  readonly by: string | null;

  constructor(
    token: string,
    id: string,
    about: Pick<Invitation, 'org' | 'email' | 'role' | 'by' | 'expiresMs'>,
  ) {
    super(token, id, about.expiresMs);
    this.org = about.org;
    this.email = about.email;
    this.role = about.role;
    this.by = about.by;
  }
}

export class People {
  readonly #world: World;
  readonly all: Person[] = [];
  readonly invitations: Invitation[] = [];
  /** By organization. */
  readonly #replacements = new Map<string, Endings>();
  /** By address: where somebody was invited to, and as what. */
  readonly #invited = new Map<string, Set<string>>();
  /** The organizations that have had an owner. */
  readonly #owned = new Set<string>();
  /** The data folder that was read last: what opens something stays in the folder in which it was made. */
  #folder: string | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  /** Those who may be members of an organization. */
  of(org: string): Person[] {
    return this.all.filter((person) => (person.memberships.get(org)?.role ?? null) !== null);
  }

  find(id: string): Person | undefined {
    return this.all.find((person) => person.id === id);
  }

  /** Those of the invitations into an organization. */
  replacements(org: string): Endings {
    const found = this.#replacements.get(org) ?? new Endings();
    this.#replacements.set(org, found);
    return found;
  }

  /** Somebody is going to be invited. */
  invites(email: string, org: string, role: Role): void {
    const invited = this.#invited.get(email) ?? new Set();
    this.#invited.set(email, invited.add(`${org} ${role}`));
  }

  joined(id: string, email: string, org: string, role: Role): Person {
    const person = new Person(id, email);
    person.memberships.set(org, new Membership(role));
    this.all.push(person);
    if (role === 'owner') this.#owned.add(org);
    return person;
  }

  /** Something was looked up by its token. */
  isFound(opener: Opener, isFound: boolean): void {
    if (this.#isUnsure) return;
    const { judge, happened, simulation } = this.#world;
    const { name, expiresMs, hasEnded, isOpen } = opener;
    judge.check('what has ended opens nothing', !isFound || !hasEnded, () => `${name} has ended`);
    // The service's clock says when it expires.
    const mayHaveExpired = simulation.nowMs >= expiresMs || happened.get('fault: clock set') > 0;
    const mustBeThere = isOpen && !(mayHaveExpired && expiresMs < Infinity);
    const what = 'a directory change that was acknowledged is kept';
    if (mustBeThere) judge.check(what, isFound, () => `${name} is gone`);
  }

  /** A link was used, by somebody who was told so. */
  isUsed(link: Opener): void {
    if (!this.#isUnsure)
      this.#world.judge.check(
        'what has ended opens nothing',
        !link.hasEnded,
        () => `${link.name} was used, or had ended, before it was used`,
      );
    link.hasEnded = true;
  }

  /** Somebody did what only some roles may do, while their own may have changed. */
  mayHave(what: string, person: Person, org: string, allowed: readonly Role[]): () => void {
    const membership = person.membership(org);
    const { role, begun } = membership;
    return () => {
      if (this.#isUnsure || role === undefined || membership.begun !== begun) return;
      this.#world.judge.check(
        'members may do what their roles say',
        role !== null && allowed.includes(role),
        () => `${person.id}, who is ${role} in ${org}, ${what}`,
      );
    };
  }

  /** What a page shows of a member who asks for it. */
  isAs(person: Person, member: Member | undefined): void {
    if (this.#isUnsure) return;
    const orgs = new Set([...person.memberships.keys(), ...Object.keys(member?.roles ?? {})]);
    for (const org of orgs) {
      const role = member?.roles[org] ?? null;
      this.#checkRole(person.membership(org).mayBe(role), person, org, role);
    }
  }

  /** What the directory has that a process has just read: nothing is under way. */
  isRead(directory: Directory, folder: string): void {
    const isOther = this.#folder !== null && this.#folder !== folder;
    this.#folder = folder;
    if (this.#isUnsure) return;
    for (const { id, email, roles } of directory.members.all())
      if (this.find(id) === undefined) this.#joinedUnheard(id, email, roles);
    for (const opener of this.#openers()) {
      const isFound = isThere(directory, opener);
      if (isOther) opener.hasEnded = true;
      this.isFound(opener, isFound);
      opener.isRead(isFound);
    }
    for (const replacements of this.#replacements.values()) replacements.isRead();
    for (const person of this.all) {
      person.isRead();
      for (const [org, membership] of person.memberships) {
        const role = directory.members.find(person.id)?.roles[org] ?? null;
        this.#checkRole(membership.isRead(role), person, org, role);
        if (role === 'owner') this.#owned.add(org);
      }
    }
    this.audit(directory);
  }

  /** Somebody has joined whom nobody told so. */
  #joinedUnheard(id: string, email: string, given: Readonly<Record<string, Role>>): void {
    for (const [org, role] of Object.entries(given)) {
      const isInvited = this.#invited.get(email)?.has(`${org} ${role}`) === true;
      this.#checkRole(isInvited, { id }, org, role);
      const person = this.find(id) ?? this.joined(id, email, org, role);
      person.memberships.set(org, new Membership(role));
    }
  }

  #checkRole(isRight: boolean, { id }: Pick<Person, 'id'>, org: string, role: Role | null): void {
    const what = () => `${id} is ${role ?? 'nobody'} in ${org}`;
    this.#world.judge.check('members may do what their roles say', isRight, what);
  }

  /** What the directory has while something may be under way. */
  audit(directory: Directory): void {
    if (this.#isUnsure) return;
    const { judge } = this.#world;
    const { links, members, sessions } = directory;
    for (const { id: org } of directory.organizations()) {
      const owners = members.of(org).filter((member) => member.roles[org] === 'owner');
      const isKept = owners.length > 0 || !this.#owned.has(org);
      judge.check('an organization keeps an owner', isKept, () => `${org} has nobody who can let others in`);
      for (const { id, madeBy = '' } of links.invitationsOf(org)) {
        const isByOwner = !madeBy.startsWith(memberPrefix) || owners.some((owner) => owner.id === madeBy);
        const what = () => `the invitation ${id} is open, and ${madeBy} who made it is no owner of ${org}`;
        judge.check('who has left has nothing open', isByOwner, what);
      }
    }
    for (const opener of this.#openers()) this.isFound(opener, isThere(directory, opener));
    for (const person of this.all) {
      const member = members.find(person.id);
      const open = member === undefined ? sessions.of(person.id).length : 0;
      judge.check(
        'who has left has nothing open',
        open === 0,
        () => `${person.id} has left ${open} sessions`,
      );
      this.isAs(person, member);
    }
  }

  *#openers(): Generator<Opener> {
    for (const { sessions, links } of this.all) yield* [...sessions, ...links];
    yield* this.invitations;
  }

  /** What nobody can promise after damage. */
  get #isUnsure(): boolean {
    return this.#world.isDamaged;
  }
}

function isThere({ links, sessions }: Directory, { token }: Opener): boolean {
  return links.find(token) !== null || sessions.find(token, sessionLimits, false) !== null;
}

/** Does what the directory may refuse, and settles what it leaves in doubt; null: it was refused. */
export async function doubted<T>(settles: readonly Settle[], command: () => Promise<T>): Promise<T | null> {
  const settle = (result: Result) => {
    for (const each of settles) each(result);
  };
  try {
    const value = await command();
    settle('done');
    return value;
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    settle('refused');
    return null;
  }
}
