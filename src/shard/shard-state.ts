// The state of a shard in memory: records, scopes, the idempotency index, and the requests that wait. The shard's turns own it.
// Nothing here waits or does I/O, except reads of the checkpoint.

import { errorBody, type Refusal, refuse } from '../contract/errors/table.ts';
import { type IdKind, idPrefixes } from '../contract/id-prefixes.ts';
import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import { createIdFactory, createRandomText, type FillRandom, type IdFactory } from '../core/ids.ts';
import { createMoroccoCalendar } from '../core/morocco-day.ts';
import { isOfLanguage, type OnVisitFailed } from '../core/visit-failure.ts';
import type { SecretBox } from '../crypto/secret-box.ts';
import type { AnyCommand, Done } from '../domain/command.ts';
import { type Command, decide } from '../domain/decide.ts';
import type { Context, Decision, Settings } from '../domain/decision.ts';
import { kindIndex, scopeOf } from '../domain/indexes.ts';
import type { QueryContext } from '../domain/query.ts';
import type {
  ApiRequest,
  NetworkCallRecord,
  ResolvedDefaults,
  WebhookEndpointRecord,
} from '../domain/record.ts';
import type { View } from '../domain/view.ts';
import {
  type Checkpoint,
  JournalDamaged,
  type Log,
  type ResponseLocation,
  type StoredResponse,
} from '../journal/journal.ts';
import { RecordStore } from '../store/record-store.ts';
import type { Availability, ShardAccount } from './account.ts';
import { DamagedTasks } from './damaged-tasks.ts';
import { IdempotencyIndex } from './idempotency-index.ts';
import type { Issue, IssuedCommand } from './issued-command.ts';
import { cacheBytesBeside, type MemoryShares } from './memory.ts';
import { Outbox } from './outbox.ts';
import { Scope, type ScopeCounts } from './scope.ts';
import { decodeCounts, type IdTimes } from './small-values.ts';
import { keyOf, type Peer, type Turn } from './turn.ts';
import type { Waiter } from './waiter.ts';

export interface ShardStateOptions {
  /** The reads of the journal that are needed here. */
  readonly journal: {
    readonly checkpoint: Pick<Checkpoint, 'get' | 'scan' | 'strayRow' | 'getSmallValue'>;
    readonly log: Pick<Log, 'readResponse'>;
  };
  readonly settings: Settings;
  readonly availability: Availability;
  readonly fillRandom: FillRandom;
  /** Seals the signing secrets. */
  readonly secrets: Pick<SecretBox, 'seal'>;
  readonly memory: MemoryShares;
  /** Called with the reason when a record or a stored response can't be read. Everything else goes on. */
  readonly onDamage: (reason: string) => void;
  /** Called with an exception that a request has caused before anything was changed. */
  readonly onVisitFailed: OnVisitFailed;
  /** Looks a webhook address up and answers whether it may be used. */
  readonly checkAddress: (command: IssuedCommand, waiter: Waiter | null, url: string) => void;
}

const readFailed = refuse('api_error');
const recordDamaged = refuse('api_error', { message: 'api_error.record_damaged' });

export interface KnownKey {
  /** The fingerprint of its request, or the beginning of it. */
  readonly fingerprint: Uint8Array;
  /** The defaults that are part of the fingerprint. They are lost with the answer. */
  readonly resolvedDefaults: ResolvedDefaults | null;
  /** `running` while the first request runs, `lost` when the answer can't be read any more. */
  readonly answer: StoredResponse | 'running' | 'lost';
}

export class ShardState {
  readonly records: RecordStore;
  /** What queries read. */
  view: View;
  readonly index = new IdempotencyIndex();
  readonly outbox: Outbox;
  readonly damagedTasks: DamagedTasks;
  /** Finds what the shard does by itself, without damaged tasks. */
  readonly tasks: Pick<View, 'scan'>;
  /** The webhook thread, once it has connected. */
  webhooks: Peer | null = null;
  readonly settings: Settings;
  /** The disk is full, so nothing is written and no checkpoint begins. */
  readOnly = false;
  /** No charge and no session is due before this, in service time. */
  dueMs = 0;
  readonly #options: ShardStateOptions;
  #ids: IdFactory;
  #idLeadMs = 0;
  readonly #randomText: (length: number) => string;
  readonly #calendar = createMoroccoCalendar();
  readonly #accounts = new Map<string, ShardAccount>();
  /** By organization: the scopes of test mode, then those of live mode. */
  readonly #scopes = [new Map<string, Scope>(), new Map<string, Scope>()] as const;
  readonly #dirtyScopes = new Set<Scope>();
  /** The waiters for the outcomes of network calls, by the id of the call. */
  readonly #waiting = new Map<string, Waiter>();
  /** The requests that run for longer than a turn, by the digest of their idempotency key. */
  readonly #running = new Map<string, KnownKey>();

  /** `accounts` are those of all organizations of which the shard may have records. */
  constructor(options: ShardStateOptions, accounts: Iterable<ShardAccount>) {
    this.#options = options;
    for (const account of accounts) this.#accounts.set(account.id, account);
    this.settings = options.settings;
    this.records = new RecordStore(options.journal.checkpoint, options.memory.cacheBytesMax);
    this.view = this.records;
    this.damagedTasks = new DamagedTasks(options.onDamage);
    this.tasks = { scan: (index, range) => this.records.scan(index, range, this.damagedTasks) };
    this.outbox = new Outbox(this.records, this.damagedTasks, options.memory.outboxBytesMax);
    this.#randomText = createRandomText(options.fillRandom);
    this.#ids = createIdFactory(this.#randomText);
  }

  /** Whether commands are refused, because the disk is full or too much in memory is not in the checkpoint yet. */
  get refusesWrites(): boolean {
    return this.readOnly || this.records.unwrittenBytes > this.#options.memory.unwrittenBytesMax;
  }

  /** Gives the cache the memory that the idempotency index leaves of their common share. */
  shareMemory(): void {
    this.records.limitCache(cacheBytesBeside(this.#options.memory, this.index.bytes));
  }

  get idTimes(): IdTimes {
    return { lastMs: this.#ids.lastMs, leadMs: this.#idLeadMs };
  }

  #newId(kind: IdKind, slot: number, nowMs: number): string {
    const id = this.#ids.next(idPrefixes[kind], slot, nowMs);
    this.#idLeadMs = Math.max(this.#idLeadMs, this.#ids.lastMs - nowMs);
    return id;
  }

  /** Makes new ids come after all earlier ones. */
  startIds({ lastMs, leadMs }: IdTimes): void {
    this.#ids = createIdFactory(this.#randomText, lastMs);
    this.#idLeadMs = leadMs;
  }

  /** Marks the requests as running whose network calls were open when the last process ended. */
  rememberRunning(calls: readonly NetworkCallRecord[]): void {
    for (const call of calls) if (!call.accepted) this.runs(call.request);
  }

  /** Every organization that the shard knows of. */
  get organizations(): Iterable<string> {
    return this.#accounts.keys();
  }

  knows(org: string): boolean {
    return this.#accounts.has(org);
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  putAccount(account: ShardAccount, now: Now): void {
    this.#accounts.set(account.id, account);
    for (const livemode of [false, true]) {
      this.#scopes[livemode ? 1 : 0].get(account.id)?.change(account, now);
    }
  }

  scope(org: string, livemode: boolean, now: Now): Scope {
    const scopes = this.#scopes[livemode ? 1 : 0];
    const known = scopes.get(org);
    if (known !== undefined) return known;
    const name = scopeOf(org, livemode);
    const settings = this.#accounts.get(org);
    assert(settings !== undefined, `organization ${org} is not known to this shard`);
    const { availability, journal } = this.#options;
    const stored = journal.checkpoint.getSmallValue(name);
    const counts = stored === undefined ? null : decodeCounts(stored);
    const scope = new Scope(name, livemode, settings, availability, this.#calendar, now, counts);
    scopes.set(org, scope);
    return scope;
  }

  countsChanged(scope: Scope): void {
    this.#dirtyScopes.add(scope);
  }

  /** The counts that changed since the last call, by scope. */
  takeCounts(): Map<string, ScopeCounts> {
    const counts = new Map<string, ScopeCounts>();
    for (const scope of this.#dirtyScopes) counts.set(scope.name, scope.counts());
    this.#dirtyScopes.clear();
    return counts;
  }

  queryContext(scope: Scope, now: Now): QueryContext {
    return {
      org: scope.org,
      livemode: scope.livemode,
      account: scope.account(now),
      settings: this.settings,
      idLeadMs: this.#idLeadMs,
    };
  }

  /**
   * Runs a read. If it finds a damaged record, `refused` makes the result, so only the requests that need that record are
   * refused.
   */
  read<T, R>(read: () => T, refused: (refusal: Refusal) => R): T | R {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      this.#options.onDamage(error.message);
      return refused(recordDamaged);
    }
  }

  /**
   * Runs a read for a visit, of which nothing has changed yet. An exception of the language is a bug that its bytes have met, and
   * the visit alone fails. All others, a broken invariant among them, end the shard.
   */
  readForVisit<T, R>(requestId: string | null, read: () => T, refused: (refusal: Refusal) => R): T | R {
    try {
      return this.read(read, refused);
    } catch (error) {
      if (!isOfLanguage(error)) throw error;
      this.#options.onVisitFailed(error, 'api', requestId);
      return refused(readFailed);
    }
  }

  /** Decides a command. This changes nothing yet. */
  decide<O extends AnyCommand>(command: Command<O> & Issue, now: Now): Decision<Done<O>> {
    return this.read(
      () => decide(this.records, command, this.#context(command, now)),
      (refusal) => ({ changes: [], networkCalls: [], outcome: { refusal } }),
    );
  }

  #context({ scope, request, cause, addressAllowed }: Issue, now: Now): Context {
    const { nowMs, serviceMs } = now;
    return {
      nowMs,
      serviceMs,
      org: scope.org,
      livemode: scope.livemode,
      account: scope.account(now),
      settings: this.settings,
      language: request?.language ?? 'en',
      apiVersion: request?.api_version ?? scope.settings.apiVersion,
      request,
      cause,
      endpoints: this.#endpointsOf(scope),
      endpointsBusy: scope.endpointsBusy,
      addressAllowed,
      newId: (kind) => this.#newId(kind, scope.slot, nowMs),
      randomText: this.#randomText,
      sealSecret: (secret, id) => this.#options.secrets.seal(secret, { id, org: scope.org }),
      randomBelow: this.#randomBelow,
    };
  }

  readonly #randomBelow = (limit: number): number => {
    const words = new Uint32Array(1);
    this.#options.fillRandom(new Uint8Array(words.buffer));
    return Math.floor((words[0]! / 2 ** 32) * limit);
  };

  #endpointsOf(scope: Scope): readonly WebhookEndpointRecord[] {
    if (scope.endpoints === null) {
      const index = kindIndex('webhook_endpoint', scope.name);
      scope.endpoints = [...this.records.scan(index, { descending: false })] as WebhookEndpointRecord[];
    }
    return scope.endpoints;
  }

  /** Applies a decision. */
  apply(turn: Turn, decision: Pick<Decision, 'changes' | 'networkCalls'>): void {
    for (const change of decision.changes) {
      this.outbox.observe(change);
      this.records.apply(change);
      if (change.kind === 'charge' || change.kind === 'checkout_session') {
        this.dueMs = Math.min(this.dueMs, change.due_at_ms);
      } else if (change.kind === 'webhook_endpoint') {
        const scope = this.#scopes[change.livemode ? 1 : 0].get(change.org);
        if (scope !== undefined) scope.endpoints = null;
      }
    }
    turn.networkCalls.push(...decision.networkCalls);
  }

  /** What is known of an idempotency key; undefined for a new one. */
  knownKey(turn: Turn, keyDigest: Uint8Array): KnownKey | undefined {
    const key = keyOf(keyDigest);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const stored = turn.stored.get(key);
    if (stored !== undefined) return known(stored.fingerprint, stored.answer);
    const indexed = this.index.get(keyDigest, turn.serviceMs);
    if (indexed === undefined) return undefined;
    return known(indexed.fingerprint, this.#readStored(indexed.location, keyDigest));
  }

  /** Remembers the keys whose responses lie at these places of the log from now on. */
  remember({ entries, serviceMs }: Turn, locations: readonly (ResponseLocation | null)[]): void {
    for (let i = 0; i < entries.length; i++) {
      const { idempotency } = entries[i]!;
      const location = locations[i];
      if (idempotency !== null && location) {
        const { keyDigest, fingerprint } = idempotency;
        this.index.add({ keyDigest, fingerprint, usedAtMs: serviceMs, location });
      }
    }
  }

  /** The stored response of a known key, or `lost` when it can't be read. Even then the request must not run again. */
  #readStored(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | 'lost' {
    return this.read(
      () => {
        const answer = this.#options.journal.log.readResponse(location, keyDigest);
        if (answer !== undefined) return answer;
        throw new JournalDamaged(`the log batch ${location.record} is missing`);
      },
      () => 'lost',
    );
  }

  errorBody(refusal: Refusal, request: Pick<ApiRequest, 'language' | 'request_id'>): string {
    const { baseUrl } = this.settings;
    return errorBody(refusal, { language: request.language, requestId: request.request_id, baseUrl });
  }

  /** Makes the command wait until it is known whether the address may be used. */
  checkAddress(command: IssuedCommand, waiter: Waiter | null, url: string): void {
    command.scope.endpointsBusy = true;
    this.runs(command.request);
    this.#options.checkAddress(command, waiter, url);
  }

  addressChecked({ scope, request }: Issue): void {
    scope.endpointsBusy = false;
    this.ran(request);
  }

  /** Makes the request run until the outcome of its network call is known. Then `waiter` is answered. */
  waitFor({ id, request }: NetworkCallRecord, waiter: Waiter | null): void {
    if (waiter !== null) this.#waiting.set(id, waiter);
    this.runs(request);
  }

  /** Removes and returns the waiter for a network call, if there is still one. */
  takeWaiting(call: string): Waiter | undefined {
    const waiter = this.#waiting.get(call);
    this.#waiting.delete(call);
    return waiter;
  }

  /** Marks a request as running for longer than its turn. Its key is refused as in progress until `ran`. */
  runs(request: ApiRequest | null): void {
    if (request?.key_digest && request.fingerprint) {
      const { fingerprint, resolved_defaults } = request;
      const resolvedDefaults = resolved_defaults ?? null;
      this.#running.set(keyOf(request.key_digest), { fingerprint, resolvedDefaults, answer: 'running' });
    }
  }

  ran(request: ApiRequest | null): void {
    if (request?.key_digest) this.#running.delete(keyOf(request.key_digest));
  }
}

function known(fingerprint: Uint8Array, answer: StoredResponse | 'lost'): KnownKey {
  const none = answer === 'lost' || answer.defaults === '';
  return { fingerprint, resolvedDefaults: none ? null : JSON.parse(answer.defaults), answer };
}
