// The people who use the dashboard. A member belongs to one or more organizations, with a role in
// each. An organization that has owners keeps at least one, because only an owner can let others
// in.

import { randomFillSync } from 'node:crypto';
import { pack } from 'msgpackr';
import { memberPrefix } from '../contract/id-prefixes.ts';
import type { Language } from '../contract/vocabulary.ts';
import { createRandomText } from '../core/ids.ts';
import { hasHidden, withoutHidden } from '../core/shown-text.ts';
import type { SecretOwner } from '../crypto/secret-box.ts';
import type { DirectoryStore, Ending, StoreChange } from './directory-store.ts';
import { DirectoryRefusal } from './refusal.ts';

export const roles = ['owner', 'developer', 'support', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Whether a role lets a member make API keys, and so know the text of some. */
export function mayHaveKeys(role: Role | undefined): boolean {
  return role === 'owner' || role === 'developer';
}

/** A password as it is stored: what scrypt makes of it, with what it was made with. */
export interface PasswordHash {
  /** Base 64, as the hash. */
  readonly salt: string;
  readonly hash: string;
  readonly cost: { readonly N: number; readonly r: number; readonly p: number };
}

export interface Member {
  /** `mem_…` */
  readonly id: string;
  /** In lower case; no two members have the same. */
  readonly email: string;
  readonly name: string;
  /** Unix seconds. */
  readonly created: number;
  /** Null until one is chosen: nobody can sign in with it. */
  readonly password: PasswordHash | null;
  /** The app's sealed secret, and the last time step whose code was used; null without an app. */
  readonly totp: { readonly sealed: string; readonly usedStep: number } | null;
  /** Digests of the recovery codes that were not used yet. */
  readonly recoveryCodes: readonly string[];
  /** Mails about what needs somebody; null until the member chooses: owners get them. */
  readonly notices: NoticeChoice | null;
  /** By organization. */
  readonly roles: Readonly<Record<string, Role>>;
}

interface NoticeChoice {
  readonly wanted: boolean;
  readonly language: Language;
}

/** Whether a member with this role wants mails about what needs somebody. */
export function wantsNotices({ notices }: Pick<Member, 'notices'>, role: Role): boolean {
  return notices?.wanted ?? role === 'owner';
}

/** The sessions and links that end in the commit that leaves a member like this. */
type Endings = (changed: Member) => readonly Ending[];
const noEndings: Endings = () => [];

const emailCharactersMax = 254;
const nameCharactersMax = 100;

/** What the secret of a member's authenticator app is sealed for. */
export function totpOwner(member: string): SecretOwner {
  return { id: member, org: 'totp' };
}

/** An e-mail address as it is stored. Throws `DirectoryRefusal` for a text that is none. */
export function checkedEmail(text: string): string {
  const email = text.trim().toLowerCase();
  const isAddress = /^[^\s@<>"']+@[^\s@<>"']+\.[^\s@<>"'.]{2,}$/.test(email);
  if (isAddress && email.length <= emailCharactersMax && !hasHidden(email)) return email;
  throw new DirectoryRefusal('the e-mail address is not one: write it as name@example.ma', 'email_invalid');
}

/** The name of a person as it is stored. Throws `DirectoryRefusal`. */
export function checkedPersonName(text: string): string {
  const name = text.trim();
  if (name !== '' && [...name].length <= nameCharactersMax && !hasHidden(name)) return name;
  throw new DirectoryRefusal(
    `the name must have 1 to ${nameCharactersMax} characters, all of them visible`,
    'person_name_invalid',
  );
}

/** A member as it was stored, by this version or an earlier one. */
function storedMember(stored: Omit<Member, 'notices'> & Partial<Member>): Member {
  return { notices: null, ...stored, name: withoutHidden(stored.name) || stored.email };
}

/** Throws `DirectoryRefusal` unless the member belongs to the organization. */
export function refuseStranger({ roles }: Member, org: string): void {
  if (!Object.hasOwn(roles, org))
    throw new DirectoryRefusal('this organization has no such member', 'member_missing');
}

/** The oldest first. */
function inOrder(members: Member[]): Member[] {
  return members.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
}

export class Members {
  readonly #store: DirectoryStore;
  readonly #byId = new Map<string, Member>();
  readonly #byEmail = new Map<string, Member>();
  readonly #randomText = createRandomText(randomFillSync);

  constructor(store: DirectoryStore) {
    this.#store = store;
    for (const member of store.values<Member>(memberPrefix)) this.#remember(storedMember(member));
  }

  /** Everybody, oldest first. */
  all(): Member[] {
    return inOrder([...this.#byId.values()]);
  }

  find(id: string): Member | undefined {
    return this.#byId.get(id);
  }

  findByEmail(email: string): Member | undefined {
    return this.#byEmail.get(email.trim().toLowerCase());
  }

  /** The member with this id or e-mail address. Throws `DirectoryRefusal`. */
  member(idOrEmail: string): Member {
    const member = this.find(idOrEmail) ?? this.findByEmail(idOrEmail);
    if (member === undefined) throw new DirectoryRefusal('there is no such member', 'member_missing');
    return member;
  }

  /** The members of an organization, oldest first. */
  of(org: string): Member[] {
    return inOrder([...this.#byId.values()].filter(({ roles }) => Object.hasOwn(roles, org)));
  }

  /** A new member with a role in an organization. */
  create(...given: Parameters<Members['creation']>): Promise<Member> {
    return this.#store.change(() => this.creation(...given));
  }

  /** The change that makes a new member, for a commit with others. Throws `DirectoryRefusal`. */
  creation(
    email: string,
    name: string,
    password: PasswordHash | null,
    roles: Readonly<Record<string, Role>>,
  ): StoreChange<Member> {
    if (this.#byEmail.has(email))
      throw new DirectoryRefusal('this e-mail address has an account', 'email_taken');
    const id = memberPrefix + this.#randomText(24);
    const created = Math.floor(this.#store.now() / 1000);
    const checked = { email: checkedEmail(email), name: checkedPersonName(name) };
    return this.#changeTo({
      id,
      ...checked,
      created,
      password,
      totp: null,
      recoveryCodes: [],
      notices: null,
      roles,
    });
  }

  /** Changes a member by a rule, which may refuse by throwing. */
  change(id: string, rule: (member: Member) => Member, endings = noEndings): Promise<Member> {
    return this.#put(() => rule(this.member(id)), endings);
  }

  /** Lets a member of another organization into one. Whoever is in it already gets the role. */
  join(id: string, org: string, role: Role): Promise<Member> {
    return this.change(id, (member) => this.#withRole(member, org, role));
  }

  /** Gives a member of an organization another role. Throws `DirectoryRefusal` for anybody else. */
  setRole(id: string, org: string, role: Role, endings = noEndings): Promise<Member> {
    const rule = (member: Member) => {
      refuseStranger(member, org);
      return this.#withRole(member, org, role);
    };
    return this.change(id, rule, endings);
  }

  #withRole(member: Member, org: string, role: Role): Member {
    if (role !== 'owner') this.#refuseLastOwner(member, org);
    return { ...member, roles: { ...member.roles, [org]: role } };
  }

  /** Takes a member out of an organization. One who is in no other is forgotten. */
  remove(id: string, org: string, endings = noEndings): Promise<Member> {
    const rule = (member: Member) => {
      refuseStranger(member, org);
      this.#refuseLastOwner(member, org);
      const { [org]: _, ...roles } = member.roles;
      return { ...member, roles };
    };
    return this.change(id, rule, endings);
  }

  /** Puts a member as another directory had it. */
  async restore(member: Member): Promise<void> {
    await this.#put(() => storedMember(member), noEndings);
  }

  #refuseLastOwner(member: Member, org: string): void {
    const owners = this.of(org).filter(({ roles }) => roles[org] === 'owner');
    if (owners.length === 1 && owners[0]!.id === member.id)
      throw new DirectoryRefusal(
        'this is the last owner of the organization: make somebody else an owner first',
        'last_owner',
      );
  }

  #put(decide: () => Member, endings: Endings): Promise<Member> {
    return this.#store.change(() => {
      const changed = decide();
      return { ...this.#changeTo(changed), endings: endings(changed) };
    });
  }

  #changeTo(member: Member): StoreChange<Member> {
    const isGone = Object.keys(member.roles).length === 0;
    return {
      rows: [[member.id, isGone ? null : pack(member)]],
      value: member,
      apply: () => (isGone ? this.#forget(member.id) : this.#remember(member)),
    };
  }

  #forget(id: string): void {
    const before = this.#byId.get(id);
    if (before !== undefined) this.#byEmail.delete(before.email);
    this.#byId.delete(id);
  }

  #remember(member: Member): void {
    this.#byId.set(member.id, member);
    this.#byEmail.set(member.email, member);
  }
}
