// The state of a shard in memory, in its parts: each user takes those that it needs. Nothing here
// waits or does I/O, except reads of the checkpoint.

import type { Now } from '../core/clock.ts';
import type { FillRandom } from '../core/ids.ts';
import type { SecretBox } from '../crypto/secret-box.ts';
import type { Settings } from '../domain/decision.ts';
import type { QueryContext } from '../domain/query.ts';
import type { StoredRecord } from '../domain/record.ts';
import { RememberedTexts } from '../domain/remembered-texts.ts';
import type { Checkpoint, Log } from '../journal/journal.ts';
import { RecordStore } from '../store/record-store.ts';
import type { Availability, ShardAccount } from './account.ts';
import type { Waiter } from './answer.ts';
import type { AddressChecked } from './commit-batch.ts';
import { EndpointHealths } from './endpoint-health.ts';
import { Endpoints } from './endpoints.ts';
import { GuardedReads, type ReadObserver } from './guarded-reads.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { cacheBytesBeside, type MemoryShares } from './memory.ts';
import { OpenCalls } from './open-calls.ts';
import { Outboxes } from './outboxes.ts';
import type { Scope } from './scope.ts';
import { Scopes } from './scopes.ts';
import { ShardIds } from './shard-ids.ts';
import { Tasks } from './tasks.ts';

export interface ShardStateOptions extends ReadObserver {
  /** The reads of the journal that are needed here. */
  readonly journal: {
    readonly checkpoint: Pick<Checkpoint, 'get' | 'scan' | 'strayRow' | 'getMetadata'>;
    readonly log: Pick<Log, 'readResponse'>;
  };
  readonly settings: Settings;
  readonly availability: Availability;
  readonly fillRandom: FillRandom;
  readonly secrets: Pick<SecretBox, 'seal'>;
  readonly memory: MemoryShares;
  /** How many threads deliver webhooks. */
  readonly webhookThreads: number;
  /** Looks a webhook address up, and calls `checked` in a later commit batch. */
  readonly checkAddress: (url: string, checked: AddressChecked) => void;
}

export class ShardState {
  readonly settings: Settings;
  readonly secrets: Pick<SecretBox, 'seal'>;
  readonly checkAddress: ShardStateOptions['checkAddress'];
  readonly records: RecordStore;
  readonly scopes: Scopes;
  readonly ids: ShardIds;
  readonly keys: IdempotencyKeys;
  /** Who waits for the outcome of a network call, by the id of the call. */
  readonly waiters = new Map<string, Waiter>();
  readonly openCalls = new OpenCalls();
  readonly endpoints: Endpoints;
  readonly reads: GuardedReads;
  readonly tasks: Tasks;
  readonly outboxes: Outboxes;
  readonly health = new EndpointHealths();
  readonly #memory: MemoryShares;
  /** Those of a few thousand ordinary records. */
  readonly #texts = new RememberedTexts<StoredRecord>(2 * 1024 * 1024);
  #readOnly = false;

  /** `accounts` are those of all organizations of which the shard may have records. */
  constructor(options: ShardStateOptions, accounts: Iterable<ShardAccount>) {
    const { journal, settings, secrets, availability, memory } = options;
    this.#memory = memory;
    this.settings = settings;
    this.secrets = secrets;
    this.checkAddress = options.checkAddress;
    this.records = new RecordStore(journal.checkpoint, memory.cacheBytesMax);
    this.scopes = new Scopes(journal.checkpoint, availability, accounts);
    this.ids = new ShardIds(options.fillRandom);
    this.reads = new GuardedReads(options);
    this.keys = new IdempotencyKeys(journal.log, this.reads);
    this.endpoints = new Endpoints(this.records);
    this.tasks = new Tasks(this.records, options.onDamage);
    this.outboxes = new Outboxes(this.records, this.tasks, options.webhookThreads, memory.outboxBytesMax);
  }

  /** The disk is full or the folder is paused: nothing is written and no checkpoint begins. */
  get readOnly(): boolean {
    return this.#readOnly;
  }

  setReadOnly(readOnly: boolean): void {
    this.#readOnly = readOnly;
  }

  /** Whether commands are refused: also when too much in memory is not in the checkpoint yet. */
  get refusesWrites(): boolean {
    return this.#readOnly || this.records.unwrittenBytes > this.#memory.unwrittenBytesMax;
  }

  /** Gives the cache the memory that the idempotency index leaves of their common share. */
  shareMemory(): void {
    this.records.limitCache(cacheBytesBeside(this.#memory, this.keys.index.bytes));
  }

  queryContext(scope: Scope, now: Now): QueryContext {
    return {
      org: scope.org,
      livemode: scope.livemode,
      account: scope.account(now),
      settings: this.settings,
      idLeads: this.ids.leads,
      texts: this.#texts,
    };
  }
}
