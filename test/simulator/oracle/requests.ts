// What a shard makes of the requests that it takes: whether each is admitted by its limits, what stops it at a gate, and whether
// it runs. So it is known what its answer must say (answers.ts) before it is sent.

import { isDeepStrictEqual } from 'node:util';
import { unavailable } from '../../../src/contract/errors/table.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { routeTable } from '../../../src/contract/routes/table.ts';
import { languages } from '../../../src/contract/vocabulary.ts';
import type { Now } from '../../../src/core/clock.ts';
import { scopeOf } from '../../../src/domain/indexes.ts';
import type { NetworkCallRecord } from '../../../src/domain/record.ts';
import type { Checkpoint } from '../../../src/journal/journal.ts';
import type { ShardAccount } from '../../../src/shard/account.ts';
import type { AnyOutcome } from '../../../src/shard/answer.ts';
import type { Peer } from '../../../src/shard/commit-batch.ts';
import { type RequestFrame, requestFlags } from '../../../src/shard/frames.ts';
import { readCounts } from '../../../src/shard/metadata.ts';
import type { ShardState } from '../../../src/shard/shard-state.ts';
import type { Answers, Expected } from './answers.ts';
import type { DurableReads } from './durable-reads.ts';
import { faultsOf } from './faults.ts';
import { countedIn, Limits } from './limits.ts';

export class Requests {
  readonly #answers: Answers;
  readonly #reads: DurableReads;
  readonly #accounts: Map<string, ShardAccount>;
  readonly #counts: Pick<Checkpoint, 'getMetadata'>;
  readonly #now: () => Now;
  readonly #scopes = new Map<string, Limits>();
  /** The keys of requests that wait for a network or a name server, by their ids. */
  readonly #running = new Map<string, string>();
  /** Requests, with a key or without, that wait for one. */
  readonly #waiting = new Set<string>();
  /** The ids of the requests that have arrived and are not answered yet. */
  readonly #unanswered = new Set<string>();
  /** Since when those have gone of whose end the shard does not know yet, in service time. */
  readonly #gone = new Map<Peer, number>();
  /** The id of the request that is executed, and whether it runs. */
  #executed: { readonly requestId: string; runs: boolean } | null = null;

  /** `counts`: where an earlier process has stored them. `now`: the time of the shard. */
  constructor(
    answers: Answers,
    reads: DurableReads,
    accounts: Iterable<ShardAccount>,
    counts: Pick<Checkpoint, 'getMetadata'>,
    now: () => Now,
  ) {
    this.#answers = answers;
    this.#reads = reads;
    this.#accounts = new Map([...accounts].map((account) => [account.id, account]));
    this.#counts = counts;
    this.#now = now;
  }

  /** Hears of what changes limits, and of addresses that were looked up in vain. `calls`: to networks, that are open. */
  watch(state: ShardState, calls: Iterable<NetworkCallRecord>): void {
    const { scopes } = state;
    for (const { accepted, org, livemode, request } of calls) {
      if (accepted || request === null || request.key_digest === null) continue;
      this.#running.set(request.request_id, `${scopeOf(org, livemode)} ${request.idempotency_key}`);
    }
    const { checkAddress } = state;
    const checkAndTell: typeof checkAddress = (url, checked) => {
      const { requestId } = this.#executed ?? {};
      checkAddress(url, (batch, allowed) => {
        // Of a lookup that has failed nothing is decided, and the key is free.
        if (allowed === null && requestId !== undefined) this.#running.delete(requestId);
        checked(batch, allowed);
      });
    };
    Object.assign(state, { checkAddress: checkAndTell });
    const [get, putAccount] = [scopes.get.bind(scopes), scopes.putAccount.bind(scopes)];
    const disconnected = scopes.disconnected.bind(scopes);
    scopes.disconnected = (peer) => {
      this.#gone.delete(peer);
      for (const { exports } of this.#scopes.values())
        for (const [id, by] of exports) if (by === peer) exports.delete(id);
      disconnected(peer);
    };
    scopes.get = (org, livemode, now) => {
      this.limitsOf(org, livemode, now);
      return get(org, livemode, now);
    };
    scopes.putAccount = (account, now) => {
      this.#accounts.set(account.id, account);
      for (const livemode of [false, true])
        this.#scopes.get(scopeOf(account.id, livemode))?.change(account, now);
      putAccount(account, now);
    };
  }

  limitsOf(org: string, livemode: boolean, now: Now): Limits {
    const name = scopeOf(org, livemode);
    const known = this.#scopes.get(name);
    if (known !== undefined) return known;
    const account = this.#accounts.get(org) as ShardAccount;
    const limits = new Limits(account, livemode, now, readCounts(this.#counts.getMetadata(name)));
    this.#scopes.set(name, limits);
    return limits;
  }

  /** Somebody who has asked for something has gone. */
  goes(peer: Peer): void {
    this.#gone.set(peer, this.#now().serviceMs);
  }

  /** Whether the shard knows of all that had gone by then. */
  knowsOfGone(serviceMs: number): boolean {
    return [...this.#gone.values()].every((goneMs) => goneMs > serviceMs);
  }

  /** `run` executes a request of `peer`. */
  execute(frame: RequestFrame, peer: Peer, now: Now, state: ShardState, run: () => void): void {
    const { org, requestId, query, flags, id, idempotencyKey } = frame;
    const route = routeTable[frame.route] as Route;
    const livemode = (flags & requestFlags.livemode) !== 0;
    const isMember = (flags & requestFlags.byMember) !== 0;
    const language = languages[frame.language] ?? 'en';
    const limits = this.limitsOf(org, livemode, now);
    const counted = countedIn(route, query);
    const refused = isMember ? null : limits.admit(route, counted, now, language);
    const { early, late, params } = faultsOf(route, frame);
    const hasKey = route.method === 'POST' && (flags & requestFlags.hasIdempotencyKey) !== 0;
    const key = hasKey ? `${scopeOf(org, livemode)} ${idempotencyKey}` : null;
    const expected: Expected = {
      ...{ language, baseUrl: state.settings.baseUrl, params },
      limits: limits.headers(counted, now),
      key,
      isRunning: [...this.#running.values()].includes(key ?? ''),
      address: `${route.operation} ${id}?${query}`,
      ends: [],
    };
    this.#answers.expect(requestId, expected);
    const { refusesWrites } = state;
    const executed = { requestId, runs: false };
    this.#executed = executed;
    run();
    this.#executed = null;
    const isUnavailable = route.kind === 'command' && refusesWrites;
    if (executed.runs) {
      if (route.spends === 'payment_creation' && !isMember) limits.created();
      const stopped =
        refused !== null || early !== null || late !== null || isUnavailable || expected.isRunning;
      // Then it should not have run.
      if (stopped) expected.ends.length = 0;
    } else if (refused !== null) expected.ends.push({ refused, isLate: false });
    else if (early !== null) expected.ends.push({ fault: early, isLate: false });
    else if (route.kind === 'export' && late === null) {
      limits.exports.set(requestId, peer);
      expected.ends.push({ body: '', stored: null });
    } else if (late === null && isUnavailable) expected.ends.push({ refused: unavailable, isLate: true });
    else expected.ends.push({ fault: late, isLate: true });
    const scope = state.scopes.get(org, livemode, now);
    const isSame = isDeepStrictEqual([...scope.exports.keys()], [...limits.exports.keys()]);
    const fault = isSame ? null : `${[...scope.exports.keys()]} are exported`;
    this.#answers.counted(requestId, fault ?? limits.differsFrom(scope.counts(), now));
  }

  /** A request has reached the shard. */
  arrived(requestId: string): void {
    this.#unanswered.add(requestId);
  }

  /** An answer leaves the shard. */
  answered(requestId: string): void {
    if (this.#unanswered.delete(requestId)) this.#reads.leaves(requestId);
  }

  /** The ids of requests that have arrived, wait for nobody, and have no answer. */
  get unanswered(): string[] {
    return [...this.#unanswered].filter((id) => !this.#waiting.has(id));
  }

  /** The outcome of what a request has asked for; `requestId`: null for a query, which is executed at once. */
  cameTo(requestId: string | null, outcome: AnyOutcome): void {
    const executed = this.#executed;
    if (executed !== null) executed.runs = true;
    const id = requestId ?? executed?.requestId;
    if (id === undefined) return;
    if (requestId === null && 'body' in outcome) this.#reads.executed(id, outcome.body);
    const key = this.#answers.keyOf(id);
    if ('waitsFor' in outcome || 'checksAddress' in outcome) {
      this.#waiting.add(id);
      if (key !== null) this.#running.set(id, key);
    } else {
      this.#waiting.delete(id);
      this.#running.delete(id);
    }
    if ('refusal' in outcome) this.#answers.ended(id, { refused: outcome.refusal, isLate: false });
    else if ('waiterRefused' in outcome)
      this.#answers.ended(id, { refused: outcome.waiterRefused, isLate: false });
    else if ('body' in outcome)
      this.#answers.ended(id, { body: outcome.body, stored: outcome.storedBody ?? null });
  }
}
