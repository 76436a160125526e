// The directory has all organizations and their API keys, in memory and in a store of its own. The main thread owns it;
// operators' commands are its only writers. A change is first on disk, then in memory, and then given to the listeners, who
// send it to the other threads. A method resolves when all listeners have resolved: the change is then durable and in force.
//
// It also stores the sequence that each shard has reached, and counts its own changes; the shards store that count. So a
// start notices when one of them was restored from an older backup than the others.

import { randomBytes, randomFillSync } from 'node:crypto';
import { pack, unpack } from 'msgpackr';
import { idPrefixes } from '../contract/id-prefixes.ts';
import type { Bucket } from '../contract/limits.ts';
import type { Mode } from '../contract/vocabulary.ts';
import type { Clock } from '../core/clock.ts';
import { createRandomText } from '../core/ids.ts';
import type { BucketOverride } from '../domain/limits-in-force.ts';
import type { Part } from '../journal/identity.ts';
import { JournalDamaged, JournalFailure } from '../journal/journal.ts';
import { createRowStore, RowStore } from '../journal/row-store.ts';
import { type ApiKey, digestOf, type KeyKind, keyKinds, newKey, revoked, rolled } from './api-key.ts';
import { changeRowOf, encodeChange, expiredChanges } from './change-log.ts';
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
const format = 2;
const formatRow = 'format';
const revisionRow = 'revision';
const keyCheckRow = 'secrets-key';
const listenKeyRow = 'listen_key';
const listenKeyBytes = 32;

/** Whether a row is about the shards of its own folder, and means nothing in another one. */
export function isNotedRow(row: string): boolean {
  return row.startsWith('noted/');
}

/** The row with the sequence that a shard is known to have reached. */
function notedRow(generation: number, shard: number): string {
  return `noted/${generation}/${shard}`;
}

/** How many changes were made to the directory in a store. */
export function revisionOf(store: RowStore): number {
  const bytes = store.get(revisionRow);
  return bytes === undefined ? 0 : (unpack(bytes) as number);
}

/** Creates an empty directory. */
export async function createDirectory(folder: string, part: Part): Promise<void> {
  await createRowStore(folder, part);
  const store = new RowStore(folder, part);
  await store.write(new Map([[formatRow, pack(format)]]));
  await store.close();
}

export interface DirectoryOptions {
  readonly folder: string;
  readonly part: Part;
  readonly now: Clock;
  /**
   * A change could not be written. Where the disk was at fault the next one may do; `fatal` says that the store can't
   * be used any more.
   */
  readonly onFailure?: (error: unknown, fatal: boolean) => void;
  /** Up to which revision nobody needs the log of changes any more; without it its age alone decides. */
  readonly archivedRevision?: () => number;
}

export class Directory {
  readonly #store: RowStore;
  readonly #now: Clock;
  readonly #onFailure: NonNullable<DirectoryOptions['onFailure']>;
  readonly #archivedRevision: NonNullable<DirectoryOptions['archivedRevision']>;
  readonly #randomText = createRandomText(randomFillSync);
  readonly #organizations = new Map<string, Organization>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #keysByDigest = new Map<string, ApiKey>();
  readonly #keyIdsOf = new Map<string, string[]>();
  readonly #listeners = new Set<ChangeListener>();
  #revision = 0;
  /** The last write. The next one waits for it, because it is decided on its result. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** Opens the directory that was created in a folder. Throws `JournalDamaged` when it can't be used as it is. */
  constructor({
    folder,
    part,
    now,
    onFailure = () => {},
    archivedRevision = () => Number.POSITIVE_INFINITY,
  }: DirectoryOptions) {
    this.#now = now;
    this.#archivedRevision = archivedRevision;
    this.#onFailure = onFailure;
    this.#store = new RowStore(folder, part);
    if (this.#number(formatRow) !== format)
      throw new JournalDamaged(`${folder} was written by another version: use the one that wrote it`);
    this.#load();
  }

  /** Reads everything from the disk. */
  #load(): void {
    for (const map of [this.#organizations, this.#keys, this.#keysByDigest, this.#keyIdsOf]) map.clear();
    this.#revision = revisionOf(this.#store);
    for (const row of this.#store.rows(`${idPrefixes.organization}_`))
      this.#remember(unpack(row) as Organization, []);
    for (const row of this.#store.rows('key_')) this.#rememberKey(unpack(row) as ApiKey);
  }

  /** The number in a row; 0 without one. */
  #number(row: string): number {
    const bytes = this.#store.get(row);
    return bytes === undefined ? 0 : (unpack(bytes) as number);
  }

  /** How many changes were made. */
  get revision(): number {
    return this.#revision;
  }

  /** The sequence that a shard is known to have reached, at least; 0 when nothing is known. */
  notedSequence(generation: number, shard: number): number {
    return this.#number(notedRow(generation, shard));
  }

  /** Notes the sequence that a shard has reached. Never rejects: what is noted is a lower bound. */
  async noteSequence(generation: number, shard: number, sequence: number): Promise<void> {
    await this.#write(() => new Map([[notedRow(generation, shard), pack(sequence)]])).catch(() => {});
  }

  /** A value that is sealed with the key of the signing secrets, to recognize that key; null before the first start. */
  get keyCheckValue(): string | null {
    const bytes = this.#store.get(keyCheckRow);
    return bytes === undefined ? null : (unpack(bytes) as string);
  }

  async putKeyCheckValue(sealed: string): Promise<void> {
    await this.#write(() => new Map([[keyCheckRow, pack(sealed)]]));
  }

  /** Makes entries for organizations that the shards have and this directory has lost: suspended, without any key. */
  async restoreOrganizations(ids: Iterable<string>): Promise<void> {
    for (const id of ids) {
      const entry = suspend(newOrganization(id, id, this.#now()));
      await this.#change(() => ({ organization: entry, keys: [] }));
    }
  }

  /** Puts an organization and its keys as another directory had them. */
  async restore(entry: DirectoryChange): Promise<void> {
    await this.#change(() => entry);
  }

  /** Continues the count of changes at `revision`, up to which the shards know of changes that this directory has lost. */
  async skipTo(revision: number): Promise<void> {
    const rows: [string, Buffer][] = [[revisionRow, pack(revision)]];
    await this.#write(
      () => {
        const change = { revision, after: this.#revision, timeMs: this.#now(), rows };
        return new Map([...rows, [changeRowOf(revision), encodeChange(change)]]);
      },
      () => {
        this.#revision = revision;
      },
    );
  }

  /** The key that the signing secrets of `listen` are derived from; made when it is asked for the first time. */
  async listenKey(): Promise<Uint8Array> {
    const made = () => new Map([[listenKeyRow, randomBytes(listenKeyBytes)]]);
    if (this.#store.get(listenKeyRow) === undefined) await this.#write(made);
    return Uint8Array.from(this.#store.get(listenKeyRow)!);
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
    const organization = newOrganization(`${idPrefixes.organization}_${this.#randomText(24)}`, name, nowMs);
    const made: ApiKey[] = [];
    const texts = keyModes.map((mode) => {
      const kinds = keyKinds.map((kind) => {
        const { key, text } = newKey({ org: organization.id, mode, kind }, nowMs, this.#randomText);
        made.push(key);
        return [kind, text];
      });
      return [mode, Object.fromEntries(kinds)];
    });
    await this.#change(() => ({ organization, keys: made }));
    return { organization, keys: Object.fromEntries(texts) };
  }

  activate(org: string): Promise<Organization> {
    return this.#changeOrganization(org, activate);
  }

  suspend(org: string): Promise<Organization> {
    return this.#changeOrganization(org, suspend);
  }

  reinstate(org: string): Promise<Organization> {
    return this.#changeOrganization(org, reinstate);
  }

  close(org: string): Promise<Organization> {
    return this.#changeOrganization(org, close);
  }

  setMethods(org: string, mode: Mode, methods: Partial<Methods>): Promise<Organization> {
    return this.#changeOrganization(org, (organization) => withMethods(organization, mode, methods));
  }

  setLimit(org: string, mode: Mode, bucket: Bucket, limit: BucketOverride): Promise<Organization> {
    return this.#changeOrganization(org, (organization) =>
      withLimit(organization, mode, bucket, limit, this.#now()),
    );
  }

  setDailyCap(org: string, mode: Mode, cap: Parameters<typeof withDailyCap>[2]): Promise<Organization> {
    return this.#changeOrganization(org, (organization) => withDailyCap(organization, mode, cap));
  }

  resetLimits(org: string, mode: Mode): Promise<Organization> {
    return this.#changeOrganization(org, (organization) => withoutLimits(organization, mode));
  }

  /** Creates a key and returns its text, which is kept nowhere. */
  async createKey(org: string, mode: Mode, kind: KeyKind): Promise<{ key: ApiKey; text: string }> {
    const made = newKey({ org, mode, kind }, this.#now(), this.#randomText);
    await this.#change(() => ({ organization: unlessClosed(this.organization(org)), keys: [made.key] }));
    return made;
  }

  /** Replaces a key by a new one of the same mode and kind; the old one works for `overlapSeconds` more. */
  async rollKey(
    idOrText: string,
    overlapSeconds: number,
  ): Promise<{ key: ApiKey; text: string; old: ApiKey }> {
    const nowMs = this.#now();
    const made = newKey(this.key(idOrText), nowMs, this.#randomText);
    const { keys } = await this.#change(() => {
      const current = this.key(idOrText);
      const old = rolled(current, made.key.id, overlapSeconds, nowMs);
      return { organization: unlessClosed(this.organization(current.org)), keys: [made.key, old] };
    });
    return { ...made, old: keys[1]! };
  }

  /** Stops a key at once. */
  async revokeKey(idOrText: string): Promise<ApiKey> {
    const { keys } = await this.#change(() => {
      const key = revoked(this.key(idOrText), this.#now());
      return { organization: this.organization(key.org), keys: [key] };
    });
    return keys[0]!;
  }

  async closeStore(): Promise<void> {
    await this.#lastWrite;
    await this.#store.close();
  }

  async #changeOrganization(
    org: string,
    rule: (organization: Organization) => Organization,
  ): Promise<Organization> {
    const { organization } = await this.#change(() => ({
      organization: rule(this.organization(org)),
      keys: [],
    }));
    return organization;
  }

  /** Makes a change: `decide` says which organization and keys it leaves, and may refuse by throwing. */
  async #change(decide: () => DirectoryChange): Promise<DirectoryChange> {
    let change!: DirectoryChange;
    const makeRows = () => {
      change = decide();
      const entries = [change.organization, ...change.keys];
      const revision = this.#revision + 1;
      const rows: [string, Buffer][] = entries.map((entry) => [entry.id, pack(entry)]);
      rows.push([revisionRow, pack(revision)]);
      const logged = encodeChange({ revision, after: this.#revision, timeMs: this.#now(), rows });
      const expired = expiredChanges(this.#store, this.#now(), this.#archivedRevision());
      return new Map<string, Buffer | null>([...rows, [changeRowOf(revision), logged], ...expired]);
    };
    try {
      await this.#write(makeRows, () => {
        this.#revision++;
        this.#remember(change.organization, change.keys);
      });
    } catch (error) {
      // The change may be on disk although its write failed. The directory was read again, and what was read is in force.
      if (error instanceof JournalFailure) await this.#tell(change.organization.id);
      throw error;
    }
    await this.#tell(change.organization.id);
    return change;
  }

  /** Writes rows after the last write. They are made then, and `onWritten` is called when they are on disk. */
  #write(make: () => ReadonlyMap<string, Uint8Array | null>, onWritten = () => {}): Promise<void> {
    const written = this.#lastWrite.then(async () => {
      const rows = make();
      try {
        await this.#store.write(rows);
        onWritten();
      } catch (error) {
        this.#onFailure(error, !(error instanceof JournalFailure));
        if (error instanceof JournalFailure) this.#load();
        throw error;
      }
    });
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  async #tell(org: string): Promise<void> {
    const organization = this.#organizations.get(org);
    if (organization === undefined) return;
    const change = { organization, keys: this.keysOf(org) };
    await Promise.all([...this.#listeners].map((listener) => listener(change)));
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
