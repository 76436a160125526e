// What a shard knows of idempotency keys: those whose first request still runs, those whose
// responses are stored by the open commit batch, and those of the last 24 hours, whose responses
// lie in the log.

import { assert } from '../core/assert.ts';
import type { ApiRequest, ResolvedDefaults } from '../domain/record.ts';
import { JournalDamaged, type Log, type ResponseLocation, type StoredResponse } from '../journal/journal.ts';
import { type CommitBatch, keyOf } from './commit-batch.ts';
import type { GuardedReads } from './guarded-reads.ts';
import { IdempotencyIndex } from './idempotency-index.ts';

export interface KnownKey {
  /** The fingerprint of its request, or the beginning of it. */
  readonly fingerprint: Uint8Array;
  /** The defaults that are part of the fingerprint. They are lost with the response. */
  readonly resolvedDefaults: ResolvedDefaults | null;
  /** `running` while the first request runs, `lost` when the response can't be read any more. */
  readonly response: StoredResponse | 'running' | 'lost';
}

export class IdempotencyKeys {
  readonly index = new IdempotencyIndex();
  readonly #log: Pick<Log, 'readResponse'>;
  readonly #reads: GuardedReads;
  /** The requests that run for longer than a commit batch, by key digest. */
  readonly #running = new Map<string, KnownKey>();

  constructor(log: Pick<Log, 'readResponse'>, reads: GuardedReads) {
    this.#log = log;
    this.#reads = reads;
  }

  /** What is known of a key; undefined for a new one. */
  find(batch: CommitBatch, keyDigest: Uint8Array): KnownKey | undefined {
    const key = keyOf(keyDigest);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const stored = batch.stored.get(key);
    if (stored !== undefined) return known(stored.fingerprint, stored.response);
    const indexed = this.index.get(keyDigest, batch.serviceMs);
    if (indexed === undefined) return undefined;
    return known(indexed.fingerprint, this.#readResponse(indexed.location, keyDigest));
  }

  /** `lost` when the response can't be read. Even then the request must not run again. */
  #readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | 'lost' {
    return this.#reads.readOr('lost', () => {
      const found = this.#log.readResponse(location, keyDigest);
      if (found !== undefined) return found;
      throw new JournalDamaged(`the commit batch ${location.record} is missing`);
    });
  }

  /** Remembers the keys of a batch, whose responses lie at these places of the log. */
  remember({ entries, serviceMs }: CommitBatch, locations: readonly (ResponseLocation | null)[]): void {
    assert(locations.length === entries.length, 'the log has a place for each entry');
    let next = 0;
    for (const { idempotency } of entries) {
      const location = locations[next++];
      if (idempotency === null || !location) continue;
      const { keyDigest, fingerprint } = idempotency;
      this.index.add({ keyDigest, fingerprint, usedAtMs: serviceMs, location });
    }
  }

  /** Refuses the key of a request as in progress until `clearRunning`. */
  markRunning(request: ApiRequest | null): void {
    if (!request?.key_digest || !request.fingerprint) return;
    const { fingerprint, resolved_defaults: resolvedDefaults = null } = request;
    this.#running.set(keyOf(request.key_digest), { fingerprint, resolvedDefaults, response: 'running' });
  }

  clearRunning(request: ApiRequest | null): void {
    if (request?.key_digest) this.#running.delete(keyOf(request.key_digest));
  }
}

function known(fingerprint: Uint8Array, response: StoredResponse | 'lost'): KnownKey {
  const none = response === 'lost' || response.defaults === '';
  return { fingerprint, resolvedDefaults: none ? null : JSON.parse(response.defaults), response };
}
