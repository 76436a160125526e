// The stage of the domain's tests: the state of a shard in memory, a clock that the test sets, and repeatable ids and chance.
// `given` runs the commands that come before, `when` the command that is tested, and `expect` checks its answer, changes and
// events.
//
// Commands go through `executeCommand`, as in the service. The stage checks for every command that no record changes twice or
// is ever changed in place, that a new one is created now, that a refusal changes nothing and has a message in three languages, and that every answer and
// every event matches its published schema.

import assert from 'node:assert/strict';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { messageOf, type Refusal } from '../../src/contract/errors/table.ts';
import { fillDefaults, type Params } from '../../src/contract/routes/parsed-params.ts';
import { Event } from '../../src/contract/routes/resources.ts';
import type { Route } from '../../src/contract/routes/route.ts';
import { type QueryOperation, routeTable } from '../../src/contract/routes/table.ts';
import { validateParams } from '../../src/contract/routes/validate.ts';
import {
  type Language,
  languages,
  newestApiVersion,
  type PaymentMethodType,
} from '../../src/contract/vocabulary.ts';
import type { Now } from '../../src/core/clock.ts';
import { type Cause, causes } from '../../src/domain/cause.ts';
import type { AnyCommand, Done } from '../../src/domain/command.ts';
import type { Decision, Outcome, Settings } from '../../src/domain/decision.ts';
import { eventJson } from '../../src/domain/events.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import { type QueryContext, query } from '../../src/domain/query.ts';
import type { ApiRequest, Change, NetworkCallRecord, RecordKind, RecordOf } from '../../src/domain/record.ts';
import type { ShardAccount } from '../../src/shard/account.ts';
import { CommitBatch } from '../../src/shard/commit-batch.ts';
import { executeCommand, type IssuedCommand } from '../../src/shard/execute-command.ts';
import { memoryShares, shardMibMin } from '../../src/shard/memory.ts';
import type { Scope } from '../../src/shard/scope.ts';
import { ShardState } from '../../src/shard/shard-state.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { createManualClock } from '../manual-clock.ts';
import { MemoryColdStore } from '../store/memory-cold-store.ts';

export const settings: Settings = {
  baseUrl: 'https://pay.test',
  cardPageMs: 30 * 60_000,
  cashCodeMs: 3 * 24 * 3_600_000,
  webhookRetryMs: [5_000, 300_000, 1_800_000],
  attemptsKeptMax: 256,
  answersKeptMax: 64,
};

export const startMs = Date.UTC(2026, 10, 2, 9);
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** A JSON object as a test looks at it: the schemas have been checked. */
// biome-ignore lint/suspicious/noExplicitAny: a resource of any kind
export type Json = any;

const routes = new Map<string, Route>(routeTable.map((route) => [route.operation, route]));
const compiled = new Map<TSchema, ReturnType<typeof Compile>>();

/** Fails unless `value` fits `schema`. */
function assertFits(schema: TSchema, value: unknown, what: string): void {
  let validator = compiled.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    compiled.set(schema, validator);
  }
  if (validator.Check(value)) return;
  assert.fail(`${what} does not fit its schema: ${JSON.stringify([...validator.Errors(value)].slice(0, 3))}`);
}

/** Repeatable chance (a linear congruential generator with the constants of Numerical Recipes). */
function createChance(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** The state that the stages of all organizations share. */
export class World {
  readonly clock = createManualClock(startMs);
  readonly cold = new MemoryColdStore();
  readonly shard: ShardState;
  /** The changes of each command so far. */
  readonly log: (readonly Change[])[] = [];
  /** How many of them the checkpoint reflects. */
  checkpointed = 0;
  readonly #chance = createChance(7);
  readonly #draws: number[] = [];
  /** The ids of all records that there have been. */
  readonly made = new Set<string>();
  requests = 0;

  constructor(settings: Settings) {
    this.shard = new ShardState(
      {
        journal: {
          checkpoint: Object.assign(this.cold, { getMetadata: () => undefined }),
          log: { readResponse: () => undefined },
        },
        settings,
        availability: () => ({ ...bothMethods, cardPage: 'own', agents: null }),
        fillRandom: (bytes) => this.#fillRandom(bytes),
        secrets: { seal: (secret, { id }) => `${id} ${secret}` },
        memory: { ...memoryShares(shardMibMin), cacheBytesMax: 8 },
        webhookThreads: 1,
        onDamage: (reason) => assert.fail(reason),
        checkAddress: () => {},
        onVisitFailed: (error) => {
          throw error;
        },
      },
      [],
    );
  }

  get state(): RecordStore {
    return this.shard.records;
  }

  get now(): Now {
    return { nowMs: this.clock.now(), serviceMs: this.clock.monotonic() };
  }

  /** The next number below `limit` that chance gives is `value`. */
  draw(value: number, limit: number): void {
    this.#draws.push(Math.ceil((value * 2 ** 32) / limit));
  }

  /** A number is drawn from four bytes, a text from more. */
  #fillRandom(bytes: Uint8Array): void {
    const drawn = bytes.length === 4 ? this.#draws.shift() : undefined;
    if (drawn === undefined) for (let i = 0; i < bytes.length; i++) bytes[i] = this.#chance(256);
    else bytes.set(new Uint8Array(Uint32Array.of(drawn).buffer));
  }
}

/** Flushes the changes into the checkpoint. `during` is called while it is being written. */
export function checkpoint(world: World, during = () => {}): void {
  const { state, cold, log } = world;
  state.beginFlush();
  const unwritten = log.slice(world.checkpointed).flat();
  world.checkpointed = log.length;
  during();
  cold.write(unwritten);
  state.endFlush();
}

const bothMethods = { card: true, cash: true };

/** An organization with the default limits. */
function accountOf(id: string, methods: ShardAccount['methods']['test']): ShardAccount {
  const buckets = { all: null, writes: null, payment_creation: null, search: null };
  const limits = { buckets, dailyRequests: null, dailyPaymentCreations: null };
  return {
    id,
    name: 'Sandbox',
    branding: { colour: null, logoUrl: null },
    created: Math.floor(startMs / 1000),
    apiVersion: newestApiVersion,
    methods: { test: methods, live: methods },
    limits: { test: limits, live: limits },
  };
}

interface Who {
  readonly org: string;
  readonly livemode: boolean;
}

export const sandbox: Who = { org: 'org_sandbox00000000000000000', livemode: false };

/** What a test may vary for one command. */
interface Circumstances {
  readonly endpointsBusy?: boolean;
  readonly addressAllowed?: boolean;
  readonly request?: ApiRequest | null;
  readonly cause?: Cause;
  /** The language of the request. */
  readonly language?: Language;
}

export class Stage {
  readonly world: World;
  readonly who: Who;

  constructor(world = new World(settings), who: Who = sandbox) {
    this.world = world;
    this.who = who;
    this.offer(bothMethods);
  }

  /** The same stage for another organization or mode. */
  as(who: Partial<Who>): Stage {
    return new Stage(this.world, { ...this.who, ...who });
  }

  /** Switches the organization's payment methods on and off. */
  offer(methods: Readonly<Record<PaymentMethodType, boolean>>): void {
    this.world.shard.scopes.putAccount(accountOf(this.who.org, methods), this.world.now);
  }

  get scope(): Scope {
    const { org, livemode } = this.who;
    return this.world.shard.scopes.get(org, livemode, this.world.now);
  }

  get queryContext(): QueryContext {
    return this.world.shard.queryContext(this.scope, this.world.now);
  }

  get nowMs(): number {
    return this.world.clock.now();
  }

  advance(ms: number): void {
    this.world.clock.advance(ms);
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> {
    const record = this.world.state.get(kind, id);
    assert.ok(record, `there is a ${kind} ${id}`);
    return record;
  }

  /** Runs a command that must not be refused, and returns its answer. Addresses pass their check. */
  given(operation: AnyCommand, params: object = {}, id = '', more: Circumstances = {}): Json {
    return this.when(operation, params, id, { addressAllowed: true, ...more }).answer;
  }

  /** Runs a command that must make a network call, and returns the call. */
  calls(operation: AnyCommand, params: object, id: string): NetworkCallRecord {
    const { outcome } = this.when(operation, params, id).decision;
    assert.ok('waitsFor' in outcome, `${operation} waits for a network: ${JSON.stringify(outcome)}`);
    return outcome.waitsFor;
  }

  /** Runs the command that applies the outcome of a network call. */
  settle(call: NetworkCallRecord, outcome: NetworkOutcome = { result: 'done' }): Step {
    return this.when('apply_network_outcome', { call: call.id, outcome }, '', {
      request: call.request,
      cause: causes.network,
    });
  }

  when(operation: AnyCommand, params: object = {}, id = '', circumstances: Circumstances = {}): Step {
    const { language = 'en', endpointsBusy = false, addressAllowed = null } = circumstances;
    const { world, scope } = this;
    const route = routes.get(operation);
    const valid = route === undefined ? params : this.#admit(route, params);
    const { request = route === undefined ? null : this.newRequest(language) } = circumstances;
    const { cause = route === undefined ? causes.customer : causes.request } = circumstances;
    const command = { operation, id, params: valid, scope, request, cause, addressAllowed } as IssuedCommand;
    scope.endpoints.isBusy = endpointsBusy;
    const batch = new CommitBatch(world.now, world.state);
    const outcome = executeCommand(world.shard, batch, command, null);
    if ('checksAddress' in outcome) scope.endpoints.isBusy = false;
    const changes = batch.entries.flatMap((entry) => entry.changes);
    this.#note(changes);
    return new Step(operation, route, valid, { changes, networkCalls: batch.networkCalls, outcome });
  }

  /** Runs a query, and returns its answer or the refusal. */
  read(operation: QueryOperation, params: object = {}, id = ''): Json {
    const route = routes.get(operation)!;
    const outcome = query(
      this.world.state,
      operation,
      this.#admit(route, params) as object,
      this.queryContext,
      id,
    );
    if ('refusal' in outcome) return refusalOf(outcome.refusal);
    assert.ok('body' in outcome);
    const answer = JSON.parse(outcome.body);
    assertFits(route.result, answer, operation);
    return answer;
  }

  newRequest(language: Language = 'en'): ApiRequest {
    const number = String(++this.world.requests);
    return {
      request_id: `req_${number.padStart(24, '0')}`,
      idempotency_key: `key-${number}`,
      key_digest: null,
      fingerprint: null,
      resolved_defaults: null,
      language,
      api_version: newestApiVersion,
      member: null,
    };
  }

  #admit(route: Route, given: object): Params {
    const params: Params = { ...given };
    fillDefaults(route, params);
    assert.equal(validateParams(route, params), null, `${route.operation} takes ${JSON.stringify(given)}`);
    return deepFreeze(params);
  }

  #note(changes: readonly Change[]): void {
    assert.equal(new Set(changes.map(({ id }) => id)).size, changes.length, 'no record changes twice');
    for (const change of changes) {
      deepFreeze(change);
      if (!this.world.made.has(change.id))
        assert.equal(change.created, Math.floor(this.nowMs / 1000), `${change.kind} is created now`);
      this.world.made.add(change.id);
      if (change.kind === 'event' && !change.removed) {
        assertFits(Event, JSON.parse(eventJson(change, 0)), change.type);
      }
    }
    this.world.log.push(changes);
  }
}

/** A command that was run: its changes, network calls and outcome. */
export class Step {
  readonly operation: string;
  /** With the defaults of those that were not given. */
  readonly params: object;
  readonly decision: Decision<Done<AnyCommand>>;

  constructor(
    operation: string,
    route: Route | undefined,
    params: object,
    decision: Decision<Done<AnyCommand>>,
  ) {
    this.operation = operation;
    this.params = params;
    this.decision = decision;
    const { outcome } = decision;
    if (route !== undefined && 'body' in outcome) {
      assertFits(route.result, JSON.parse(outcome.body), operation);
      if (outcome.storedBody !== undefined)
        assertFits(route.result, JSON.parse(outcome.storedBody), operation);
    }
    if ('refusal' in outcome) {
      refusalOf(outcome.refusal);
      assert.deepEqual([decision.changes, decision.networkCalls], [[], []], 'a refusal changes nothing');
    }
    if ('waiterRefused' in outcome) refusalOf(outcome.waiterRefused);
  }

  get outcome(): Outcome<Done<AnyCommand>> {
    return this.decision.outcome;
  }

  /** The answer's body, or the result that the shard itself gets. */
  get answer(): Json {
    const { outcome } = this;
    if ('result' in outcome) return outcome.result;
    assert.ok('body' in outcome, `${this.operation} answers: ${JSON.stringify(outcome)}`);
    return JSON.parse(outcome.body);
  }

  /** The code of the refusal, `ok`, or `waits`. */
  get code(): string {
    const { outcome } = this;
    if ('refusal' in outcome) return outcome.refusal.code;
    if ('waiterRefused' in outcome) return outcome.waiterRefused.code;
    return 'body' in outcome || 'result' in outcome ? 'ok' : 'waits';
  }

  /** The types of the events, in order. */
  get events(): string[] {
    return this.decision.changes.flatMap((change) => (change.kind === 'event' ? [change.type] : []));
  }

  /** The records that changed, events and the day's total aside: kind and status of each, sorted. */
  get changes(): string[] {
    return this.decision.changes
      .filter(({ kind }) => kind !== 'event' && kind !== 'day_total')
      .map(nameOf)
      .sort();
  }

  /** The objects that the events carry. */
  get told(): Json[] {
    return this.decision.changes.flatMap((change) =>
      change.kind === 'event' ? [JSON.parse(change.object_json)] : [],
    );
  }

  /** Checks what is given of it: `answer` in part, a refusal by code and, with a second element, by parameter. */
  expect(expected: {
    readonly answer?: object;
    readonly refusal?: string | readonly [code: string, param: string | null];
    readonly events?: readonly string[];
    readonly changes?: readonly string[];
  }): this {
    const { answer, refusal, events = [], changes } = expected;
    if (refusal === undefined) {
      assert.ok(!('refusal' in this.outcome), `${this.operation}: ${JSON.stringify(this.outcome)}`);
    } else {
      const { outcome } = this;
      assert.ok('refusal' in outcome, `${this.operation} is refused, not ${JSON.stringify(outcome)}`);
      const { code, param } = refusalOf(outcome.refusal);
      assert.deepEqual(typeof refusal === 'string' ? code : [code, param], refusal);
    }
    if (answer !== undefined) assertHas(this.answer, answer);
    assert.deepEqual(this.events, events, `events of ${this.operation}`);
    if (changes !== undefined) assert.deepEqual(this.changes, [...changes].sort());
    return this;
  }
}

/** Fails unless `object` has these fields with these values, whatever else it has. */
function assertHas(object: Json, fields: object): void {
  const names = Object.keys(fields);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, object[name]])), fields);
}

/** Kind and status of a record, in short. */
function nameOf(record: Change): string {
  if (record.removed) return `${record.kind} removed`;
  return 'status' in record ? `${record.kind} ${record.status}` : record.kind;
}

/** The parts of a refusal that clients act on; its message can be said in every language. */
export function refusalOf(refusal: Refusal): { code: string; param: string | null; message: string } {
  const [message] = languages.map((language) => messageOf(refusal, language));
  return { code: refusal.code, param: refusal.param ?? null, message: message! };
}
