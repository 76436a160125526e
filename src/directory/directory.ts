// The directory: all organizations and their API keys, in memory and in a small LMDB environment of their own. The
// main thread owns it; operators' commands are its only writers. A change is on disk before it is in memory, and in
// memory before the listeners (who push it to the other threads) hear of it; a method settles when they have all
// settled, so whoever awaits it knows that the change is durable and in force.

import { randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, type RootDatabase } from 'lmdb';
import { pack, unpack } from 'msgpackr';
import type { Bucket } from '../contract/limits.ts';
import type { Clock } from '../core/clock.ts';
import { createRandomText } from '../core/ids.ts';
import type { BucketOverride } from '../domain/limits-in-force.ts';
import type { Mode } from '../domain/record.ts';
import { dataFile } from '../journal/environment.ts';
import { fileDefect } from '../journal/page-check.ts';
import { seal, unseal } from '../journal/seal.ts';
import { type ApiKey, digestOf, type KeyKind, keyKinds, newKey, revoked, rolled } from './api-key.ts';
import {
  activate,
  close,
  type Methods,
  newOrganization,
  type Organization,
  reinstate,
  suspend,
  unlessClosed,
  withDailyCap,
  withLimit,
  withMethods,
  withoutLimits,
} from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';

/** An organization and all of its keys, as they are after a change. Plain data: it may be posted to a thread. */
export interface DirectoryChange {
  readonly organization: Organization;
  readonly keys: readonly ApiKey[];
}

export type ChangeListener = (change: DirectoryChange) => void | Promise<void>;

/** The texts of an organization's first keys, by mode. */
export type FirstKeys<M extends Mode = Mode> = Readonly<Record<M, Readonly<Record<KeyKind, string>>>>;

/** The layout of the rows below; another one is refused. */
const format = 1;
const formatRow = 'format';
const mapSize = 2 ** 30;

/** The folder can't be used as it is; the message says what to do. */
export class DirectoryDamaged extends Error {
  override name = 'DirectoryDamaged';
}

export class Directory {
  readonly #store: RootDatabase<Buffer, string>;
  readonly #file: string;
  readonly #now: Clock;
  readonly #randomText = createRandomText(randomFillSync);
  readonly #organizations = new Map<string, Organization>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #keysByDigest = new Map<string, ApiKey>();
  readonly #keyIdsOf = new Map<string, string[]>();
  readonly #listeners = new Set<ChangeListener>();

  /**
   * Opens the directory in `folder`, creating it when it isn't there. Throws `DirectoryDamaged` when the folder was
   * damaged or written by another version.
   */
  constructor(folder: string, now: Clock) {
    this.#now = now;
    this.#file = dataFile(folder);
    const defect = existsSync(this.#file) ? fileDefect(this.#file, 'leaves') : null;
    if (defect !== null) throw this.#damaged(defect);
    // Without overlapping syncs a transaction that has returned is on disk.
    this.#store = open({ path: folder, encoding: 'binary', overlappingSync: false, mapSize });
    const found = this.#store.get(formatRow);
    if (found === undefined) this.#store.transactionSync(() => this.#put(formatRow, format));
    else if (this.#decode(formatRow, found) !== format)
      throw new DirectoryDamaged(`${folder} was written by another version: use the one that wrote it`);
    for (const value of this.#rows('org_')) this.#remember(value as Organization, []);
    for (const value of this.#rows('key_')) this.#rememberKey(value as ApiKey);
  }

  /** Every organization, oldest first. */
  organizations(): Organization[] {
    return [...this.#organizations.values()].sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  /** Throws `DirectoryRefusal` when there is no such organization. */
  organization(id: string): Organization {
    const organization = this.#organizations.get(id);
    if (organization === undefined) throw new DirectoryRefusal('there is no such organization');
    return organization;
  }

  /** Every key the organization ever had, oldest first. Throws `DirectoryRefusal`. */
  keysOf(org: string): ApiKey[] {
    const keys = this.#keyIdsOf.get(this.organization(org).id)!.map((id) => this.#keys.get(id)!);
    return keys.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  }

  /** The key with this id, or with this text. Throws `DirectoryRefusal`, which never repeats what was asked for. */
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

  /** Creates an organization with a key of each kind in each of `keyModes`, and returns the keys' texts. */
  async createOrganization<M extends Mode>(
    name: string,
    keyModes: readonly M[],
  ): Promise<{ organization: Organization; keys: FirstKeys<M> }> {
    const nowMs = this.#now();
    const organization = newOrganization(`org_${this.#randomText(24)}`, name, nowMs);
    const made: ApiKey[] = [];
    const texts = keyModes.map((mode) => {
      const kinds = keyKinds.map((kind) => {
        const { key, text } = newKey({ org: organization.id, mode, kind }, nowMs, this.#randomText);
        made.push(key);
        return [kind, text];
      });
      return [mode, Object.fromEntries(kinds)];
    });
    await this.#commit(organization, made);
    return { organization, keys: Object.fromEntries(texts) };
  }

  activate(org: string): Promise<Organization> {
    return this.#change(org, activate);
  }

  suspend(org: string): Promise<Organization> {
    return this.#change(org, suspend);
  }

  reinstate(org: string): Promise<Organization> {
    return this.#change(org, reinstate);
  }

  close(org: string): Promise<Organization> {
    return this.#change(org, close);
  }

  setMethods(org: string, mode: Mode, methods: Partial<Methods>): Promise<Organization> {
    return this.#change(org, (organization) => withMethods(organization, mode, methods));
  }

  setLimit(org: string, mode: Mode, bucket: Bucket, limit: BucketOverride): Promise<Organization> {
    return this.#change(org, (organization) => withLimit(organization, mode, bucket, limit, this.#now()));
  }

  setDailyCap(org: string, mode: Mode, cap: Parameters<typeof withDailyCap>[2]): Promise<Organization> {
    return this.#change(org, (organization) => withDailyCap(organization, mode, cap));
  }

  resetLimits(org: string, mode: Mode): Promise<Organization> {
    return this.#change(org, (organization) => withoutLimits(organization, mode));
  }

  /** Creates a key and returns its text, which is kept nowhere. */
  async createKey(org: string, mode: Mode, kind: KeyKind): Promise<{ key: ApiKey; text: string }> {
    const organization = unlessClosed(this.organization(org));
    const made = newKey({ org, mode, kind }, this.#now(), this.#randomText);
    await this.#commit(organization, [made.key]);
    return made;
  }

  /** Replaces a key by a new one of the same mode and kind; the old one works for `overlapSeconds` more. */
  async rollKey(
    idOrText: string,
    overlapSeconds: number,
  ): Promise<{ key: ApiKey; text: string; old: ApiKey }> {
    const current = this.key(idOrText);
    const organization = unlessClosed(this.organization(current.org));
    const nowMs = this.#now();
    const made = newKey(current, nowMs, this.#randomText);
    const old = rolled(current, made.key.id, overlapSeconds, nowMs);
    await this.#commit(organization, [made.key, old]);
    return { ...made, old };
  }

  /** Stops a key at once. */
  async revokeKey(idOrText: string): Promise<ApiKey> {
    const key = revoked(this.key(idOrText), this.#now());
    await this.#commit(this.organization(key.org), [key]);
    return key;
  }

  async closeStore(): Promise<void> {
    await this.#store.close();
  }

  async #change(org: string, rule: (organization: Organization) => Organization): Promise<Organization> {
    const next = rule(this.organization(org));
    await this.#commit(next, []);
    return next;
  }

  async #commit(organization: Organization, keys: readonly ApiKey[]): Promise<void> {
    this.#store.transactionSync(() => {
      this.#put(organization.id, organization);
      for (const key of keys) this.#put(key.id, key);
    });
    this.#remember(organization, keys);
    const change = { organization, keys: this.keysOf(organization.id) };
    await Promise.all([...this.#listeners].map((listener) => listener(change)));
  }

  *#rows(prefix: string): Generator<unknown> {
    const rows = this.#store.getRange({ start: prefix, end: `${prefix}\uffff` });
    for (const { key, value } of rows) yield this.#decode(key, value);
  }

  #put(row: string, value: unknown): void {
    this.#store.putSync(row, seal(pack(value)));
  }

  #decode(row: string, bytes: Buffer): unknown {
    const packed = unseal(bytes);
    if (packed === null) throw this.#damaged(`the row ${row} is not as it was written`);
    return unpack(packed);
  }

  #damaged(defect: string): DirectoryDamaged {
    return new DirectoryDamaged(`${this.#file} is damaged: ${defect}. Restore the data folder from a backup`);
  }

  #remember(organization: Organization, keys: readonly ApiKey[]): void {
    this.#organizations.set(organization.id, organization);
    if (!this.#keyIdsOf.has(organization.id)) this.#keyIdsOf.set(organization.id, []);
    for (const key of keys) this.#rememberKey(key);
  }

  #rememberKey(key: ApiKey): void {
    if (!this.#keys.has(key.id)) this.#keyIdsOf.get(key.org)!.push(key.id);
    this.#keys.set(key.id, key);
    this.#keysByDigest.set(key.digest, key);
  }
}
