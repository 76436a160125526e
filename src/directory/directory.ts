// The directory has all organizations and their API keys, in memory and in a store of its own,
// which the main thread owns. A change is first on disk, then in memory, and then given to the
// listeners, who send it to the other threads: when a method resolves, it is durable and active
// everywhere. The changes are counted, so that a start notices a directory that is older than its
// shards.

import { randomBytes, randomFillSync } from 'node:crypto';
import { pack } from 'msgpackr';
import { idPrefixes, memberPrefix } from '../contract/id-prefixes.ts';
import { activeKeysMax, keysMadePerDayMax } from '../contract/limits.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { createRandomText } from '../core/ids.ts';
import {
  type ApiKey,
  digestOf,
  type FirstKeys,
  type KeyKind,
  keyName,
  keyStatus,
  newFirstKeys,
  newKey,
  revoked,
  rolled,
  storedKey,
} from './api-key.ts';
import {
  DirectoryStore,
  type DirectoryStoreOptions,
  type Ending,
  type StoreChange,
} from './directory-store.ts';
import { keyCheckRow, keyCheckValueIn } from './key-check.ts';
import { KeyUses } from './key-uses.ts';
import { Members, mayHaveKeys } from './members.ts';
import {
  newOrganization,
  type Organization,
  storedOrganization,
  suspend,
  unlessClosed,
} from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';
import { Sessions } from './sessions.ts';
import { SignInLinks } from './sign-in-links.ts';
import { isTokenRow } from './token-rows.ts';

/** An organization after a change, with its changed keys. Plain data, for other threads. */
export interface DirectoryChange {
  readonly organization: Organization;
  readonly keys: readonly ApiKey[];
}

type ChangeListener = (change: DirectoryChange) => void | Promise<void>;

const listenKeyRow = 'listen_key';
const listenKeyBytes = 32;
/** Mails that wait belong to this service: another folder does not send them again. */
export const mailRowPrefix = 'mail/';
/** What members were mailed about an organization: another folder has mailed nobody. */
export const noticeRowPrefix = 'notice/';
/** How far an organization's events were looked at for receipts. */
export const receiptRowPrefix = 'receipts/';

/** Whether a row is meaningless, or opens something, in another folder. */
export function isForeignRow(row: string): boolean {
  // Earlier versions noted how far the shards had come.
  const prefixes = ['noted/', mailRowPrefix, noticeRowPrefix, receiptRowPrefix];
  return prefixes.some((prefix) => row.startsWith(prefix)) || isTokenRow(row);
}

const daySeconds = 86_400;

export class Directory {
  /** The rows on disk, also for others that store theirs in the directory. */
  readonly store: DirectoryStore;
  readonly keyUses: KeyUses;
  readonly members: Members;
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  readonly #randomText = createRandomText(randomFillSync);
  readonly #organizations = new Map<string, Organization>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #keysByDigest = new Map<string, ApiKey>();
  readonly #keyIdsOf = new Map<string, string[]>();
  /** By organization, the ids of keys that may work: ended ones are dropped when met. */
  readonly #workingOf = new Map<string, Set<string>>();
  readonly #listeners = new Set<ChangeListener>();

  /** Opens the directory of a folder. Throws `JournalDamaged` when it can't be used as it is. */
  constructor(options: DirectoryStoreOptions) {
    this.store = new DirectoryStore(options);
    this.keyUses = new KeyUses(this.store);
    this.#load();
    this.members = new Members(this.store);
    this.sessions = new Sessions(this.store);
    this.links = new SignInLinks(this.store);
  }

  /** Reads everything from the disk. */
  #load(): void {
    for (const organization of this.store.values<Organization>(`${idPrefixes.organization}_`))
      this.#remember(storedOrganization(organization), []);
    for (const key of this.store.values<ApiKey>('key_')) this.#rememberKey(storedKey(key));
  }

  /** How many changes were made. */
  get revision(): number {
    return this.store.revision;
  }

  /** A value sealed with the secrets key, to recognize that key; null before the first start. */
  get keyCheckValue(): string | null {
    const bytes = this.store.get(keyCheckRow);
    return bytes === undefined ? null : keyCheckValueIn(bytes);
  }

  putKeyCheckValue(sealed: string): Promise<void> {
    return this.store.write(() => new Map([[keyCheckRow, pack(sealed)]]));
  }

  /** Enters organizations that only the shards still know: suspended, without any key. */
  async restoreOrganizations(ids: Iterable<string>): Promise<void> {
    for (const id of ids) {
      const entry = suspend(newOrganization(id, id, this.store.now()));
      await this.#change(() => ({ organization: entry, keys: [] }));
    }
  }

  /** Puts an organization and its keys as another directory had them. */
  async restore(entry: DirectoryChange): Promise<void> {
    const organization = storedOrganization(entry.organization);
    await this.#change(() => ({ organization, keys: entry.keys.map(storedKey) }));
  }

  /** What the signing secrets of `listen` are derived from; made when it is first asked for. */
  async listenKey(): Promise<Uint8Array> {
    const made = () => new Map([[listenKeyRow, randomBytes(listenKeyBytes)]]);
    if (this.store.get(listenKeyRow) === undefined) await this.store.write(made);
    return Uint8Array.from(this.store.get(listenKeyRow)!);
  }

  /** Every organization, oldest first. */
  organizations(): Organization[] {
    return [...this.#organizations.values()].sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  findOrganization(id: string): Organization | undefined {
    return this.#organizations.get(id);
  }

  /** Throws `DirectoryRefusal` when there is no such organization. */
  organization(id: string): Organization {
    const organization = this.findOrganization(id);
    if (organization === undefined) throw new DirectoryRefusal('there is no such organization');
    return organization;
  }

  /** Every key the organization ever had, oldest first. Throws `DirectoryRefusal`. */
  keysOf(org: string): ApiKey[] {
    const keys = this.#keyIdsOf.get(this.organization(org).id)!.map((id) => this.#keys.get(id)!);
    return keys.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  /** The key with this id or text. Throws `DirectoryRefusal`, which never repeats the text. */
  key(idOrText: string): ApiKey {
    const key = this.#keys.get(idOrText) ?? this.#keysByDigest.get(digestOf(idOrText));
    if (key === undefined) throw new DirectoryRefusal('there is no such key');
    return key;
  }

  /** Everything, for a thread that starts: one entry an organization. */
  snapshot(): DirectoryChange[] {
    return this.organizations().map((organization) => ({ organization, keys: this.keysOf(organization.id) }));
  }

  /** Calls `listener` after every change; returns the function that ends that. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Creates an organization with a key of each kind in each of `keyModes`; returns their texts.
   * `alongside` says what else is in the same commit, and may refuse by throwing.
   */
  async createOrganization<M extends Mode>(
    name: string,
    keyModes: readonly M[],
    alongside: (organization: string) => StoreChange<unknown>[] = () => [],
  ): Promise<{ organization: Organization; keys: FirstKeys<M> }> {
    const nowMs = this.store.now();
    const organization = newOrganization(`${idPrefixes.organization}_${this.#randomText(24)}`, name, nowMs);
    const first = newFirstKeys(organization.id, keyModes, nowMs, this.#randomText);
    await this.#change(
      () => ({ organization, keys: first.keys }),
      () => alongside(organization.id),
    );
    return { organization, keys: first.texts };
  }

  /** Returns a new key's text, which is kept nowhere. `madeBy`: a member's id, or `operator`. */
  async createKey(
    org: string,
    mode: Mode,
    kind: KeyKind,
    madeBy: string,
    name = '',
  ): Promise<{ key: ApiKey; text: string }> {
    const owner = { org, mode, kind, madeBy, name: keyName(name) };
    const made = newKey(owner, this.store.now(), this.#randomText);
    await this.#change(() => {
      const organization = unlessClosed(this.organization(org));
      this.#refuseFormerMember(org, madeBy);
      this.#refuseManyNewKeys(org, madeBy);
      this.#refuseManyKeys(org, mode);
      return { organization, keys: [made.key] };
    });
    return made;
  }

  /** A member may have been removed, or have another role, since the request came. */
  #refuseFormerMember(org: string, madeBy: string): void {
    if (!madeBy.startsWith(memberPrefix) || mayHaveKeys(this.members.find(madeBy)?.roles[org])) return;
    throw new DirectoryRefusal(
      'who makes a key must be an owner or a developer of the organization',
      'member_missing',
    );
  }

  /**
   * A member who makes keys and ends them again would fill the memory of every edge. An operator
   * helps an organization whose member has done so.
   */
  #refuseManyNewKeys(org: string, madeBy: string): void {
    if (!madeBy.startsWith(memberPrefix)) return;
    const since = this.store.now() / 1000 - daySeconds;
    if (this.keysOf(org).filter(({ created }) => created > since).length < keysMadePerDayMax) return;
    throw new DirectoryRefusal(
      `the organization has made ${keysMadePerDayMax} keys in 24 hours, and can make more later; keys can be revoked at any time`,
      'too_many_new_keys',
    );
  }

  #refuseManyKeys(org: string, mode: Mode): void {
    const nowMs = this.store.now();
    const working = this.#workingOf.get(org) ?? new Set();
    let active = 0;
    for (const id of working) {
      const key = this.#keys.get(id)!;
      if (keyStatus(key, nowMs) !== 'active') working.delete(id);
      else if (key.mode === mode) active++;
    }
    if (active < activeKeysMax) return;
    throw new DirectoryRefusal(
      `the organization has ${activeKeysMax} keys that work in ${mode} mode: revoke some first`,
      'too_many_keys',
    );
  }

  /** Replaces a key by one of the same mode and kind; the old one works `overlapSeconds` more. */
  async rollKey(
    idOrText: string,
    overlapSeconds: number,
    madeBy: string,
  ): Promise<{ key: ApiKey; text: string; old: ApiKey }> {
    const nowMs = this.store.now();
    const made = newKey({ ...this.key(idOrText), madeBy }, nowMs, this.#randomText);
    const { keys } = await this.#change(() => {
      const current = this.key(idOrText);
      this.#refuseFormerMember(current.org, madeBy);
      this.#refuseManyNewKeys(current.org, madeBy);
      // Without an overlap the new key takes the place of the old one.
      if (overlapSeconds > 0) this.#refuseManyKeys(current.org, current.mode);
      const old = rolled(current, made.key.id, overlapSeconds, nowMs);
      return { organization: unlessClosed(this.organization(current.org)), keys: [made.key, old] };
    });
    return { ...made, old: keys[1]! };
  }

  /** Gives a key another name; an empty one takes its name away. */
  async nameKey(idOrText: string, name: string): Promise<ApiKey> {
    const { keys } = await this.#change(() => {
      const key = { ...this.key(idOrText), name: keyName(name) };
      return { organization: unlessClosed(this.organization(key.org)), keys: [key] };
    });
    return keys[0]!;
  }

  /** Stops a key at once. */
  async revokeKey(idOrText: string): Promise<ApiKey> {
    const { keys } = await this.#change(() => {
      const key = revoked(this.key(idOrText), this.store.now());
      return { organization: this.organization(key.org), keys: [key] };
    });
    return keys[0]!;
  }

  async closeStore(): Promise<void> {
    // The store waits for it, though not for ever.
    void this.keyUses.write();
    await this.store.close();
  }

  /**
   * Changes an organization by a rule, which may refuse by throwing `DirectoryRefusal`. What
   * `endings` has ends in the same commit.
   */
  async changeOrganization(
    org: string,
    rule: (organization: Organization, nowMs: number) => Organization,
    endings: () => readonly Ending[] = () => [],
  ): Promise<Organization> {
    const decide = () => ({ organization: rule(this.organization(org), this.store.now()), keys: [] });
    const { organization } = await this.#change(decide, () => [], endings);
    return organization;
  }

  /** Makes a change: `decide` returns the organization and keys after it, or throws. */
  async #change(
    decide: () => DirectoryChange,
    alongside: () => StoreChange<unknown>[] = () => [],
    endings: () => readonly Ending[] = () => [],
  ): Promise<DirectoryChange> {
    const change = await this.store.change(() => {
      const decided = decide();
      const { organization, keys } = decided;
      // Each change is kept for a while: what is as it was is not written again.
      const own = [organization, ...keys]
        .map((entry) => [entry.id, pack(entry)] as const)
        .filter(([row, content]) => !this.store.get(row)?.equals(content));
      const others = alongside();
      return {
        rows: [...own, ...others.flatMap(({ rows }) => rows)],
        value: decided,
        endings: endings(),
        apply: () => {
          this.#remember(organization, keys);
          for (const other of others) other.apply();
        },
      };
    });
    await this.#tell(change);
    return change;
  }

  async #tell(change: DirectoryChange): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener(change)));
  }

  #remember(organization: Organization, keys: readonly ApiKey[]): void {
    this.#organizations.set(organization.id, organization);
    if (!this.#keyIdsOf.has(organization.id)) {
      this.#keyIdsOf.set(organization.id, []);
      this.#workingOf.set(organization.id, new Set());
    }
    for (const key of keys) this.#rememberKey(key);
  }

  #rememberKey(key: ApiKey): void {
    if (!this.#keys.has(key.id)) this.#keyIdsOf.get(key.org)!.push(key.id);
    this.#workingOf.get(key.org)!.add(key.id);
    this.#keys.set(key.id, key);
    this.#keysByDigest.set(key.digest, key);
  }
}
