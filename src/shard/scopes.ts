// The scopes of a shard: its organizations in both modes, made from their accounts when they are
// first used, and the rate-limit counts that were not written yet.

import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import { createMoroccoCalendar } from '../core/morocco-day.ts';
import { scopeOf } from '../domain/indexes.ts';
import type { Checkpoint } from '../journal/journal.ts';
import type { Availability, ShardAccount } from './account.ts';
import type { Peer } from './commit-batch.ts';
import { readCounts } from './metadata.ts';
import { Scope, type ScopeCounts } from './scope.ts';

export class Scopes {
  readonly #checkpoint: Pick<Checkpoint, 'getMetadata'>;
  readonly #availability: Availability;
  readonly #calendar = createMoroccoCalendar();
  readonly #accounts = new Map<string, ShardAccount>();
  readonly #test = new Map<string, Scope>();
  readonly #live = new Map<string, Scope>();
  readonly #changed = new Set<Scope>();

  constructor(
    checkpoint: Pick<Checkpoint, 'getMetadata'>,
    availability: Availability,
    accounts: Iterable<ShardAccount>,
  ) {
    this.#checkpoint = checkpoint;
    this.#availability = availability;
    for (const account of accounts) this.#accounts.set(account.id, account);
  }

  get organizations(): Iterable<string> {
    return this.#accounts.keys();
  }

  knows(org: string): boolean {
    return this.#accounts.has(org);
  }

  putAccount(account: ShardAccount, now: Now): void {
    this.#accounts.set(account.id, account);
    this.#test.get(account.id)?.change(account, now);
    this.#live.get(account.id)?.change(account, now);
  }

  get(org: string, livemode: boolean, now: Now): Scope {
    const scopes = livemode ? this.#live : this.#test;
    const known = scopes.get(org);
    if (known !== undefined) return known;
    const account = this.#accounts.get(org);
    assert(account !== undefined, `organization ${org} is not known to this shard`);
    const counts = readCounts(this.#checkpoint.getMetadata(scopeOf(org, livemode)));
    const [availability, calendar] = [this.#availability, this.#calendar];
    const scope = new Scope({ livemode, account, availability, calendar, now, counts });
    scopes.set(org, scope);
    return scope;
  }

  /** A peer has gone, and the exports that it streamed with it. */
  disconnected(peer: Peer): void {
    for (const { exports } of [...this.#test.values(), ...this.#live.values()])
      for (const [id, by] of exports) if (by === peer) exports.delete(id);
  }

  countsChanged(scope: Scope): void {
    this.#changed.add(scope);
  }

  /** The counts that changed since the last call, by scope. */
  takeCounts(): Map<string, ScopeCounts> {
    const counts = new Map([...this.#changed].map((scope) => [scope.name, scope.counts()]));
    this.#changed.clear();
    return counts;
  }
}
