// The bench of the domain's tests: a state in memory, a clock that stands still, ids and chance that repeat. `given`
// plays what came before, `when` the command in question; `expect` says what it must answer, change and tell.
//
// Decisions are folded with the production `apply`. Whatever a test is about, the stage holds for every step: no
// record changes twice in a command or is ever written to in place, a refusal changes nothing and can be said in three
// languages, and every answer and every event fits its published schema.

import assert from 'node:assert/strict';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { messageOf, type Refusal } from '../../src/contract/errors/table.ts';
import { type IdKind, idPrefixes } from '../../src/contract/id-prefixes.ts';
import { defaultLimits } from '../../src/contract/limits.ts';
import { Event } from '../../src/contract/routes/resources.ts';
import type { Route } from '../../src/contract/routes/route.ts';
import { type QueryOperation, routeTable } from '../../src/contract/routes/table.ts';
import { fillDefaults, type Params, validateParams } from '../../src/contract/routes/validate.ts';
import { languages, modeOf, newestApiVersion } from '../../src/contract/vocabulary.ts';
import { createIdFactory, createRandomText } from '../../src/core/ids.ts';
import { slotOf } from '../../src/core/slot.ts';
import type { AnyCommand, Done } from '../../src/domain/command.ts';
import { type Command, decide } from '../../src/domain/decide.ts';
import type { Context, Decision, Outcome, Settings } from '../../src/domain/decision.ts';
import { eventJson } from '../../src/domain/events.ts';
import { endpointIndex } from '../../src/domain/indexes.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import { type QueryContext, query } from '../../src/domain/query.ts';
import type { ApiRequest, Change, NetworkCallRecord, RecordKind, RecordOf } from '../../src/domain/record.ts';
import { RecordStore } from '../../src/store/record-store.ts';
import { createManualClock } from '../manual-clock.ts';
import { MemoryColdStore } from '../store/memory-cold-store.ts';

export const settings: Settings = {
  baseUrl: 'https://pay.test',
  cardPageMs: 30 * 60_000,
  cashCodeMs: 3 * 24 * 3_600_000,
  webhookRetryMs: [5_000, 300_000, 1_800_000],
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
export function assertFits(schema: TSchema, value: unknown, what: string): void {
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

/** What everybody on the stage shares. */
class World {
  readonly clock = createManualClock(startMs);
  readonly cold = new MemoryColdStore();
  readonly state = new RecordStore(this.cold, 8);
  /** The changes of each command so far. */
  readonly log: (readonly Change[])[] = [];
  /** How many of them the checkpoint reflects. */
  checkpointed = 0;
  readonly chance = createChance(7);
  readonly ids: ReturnType<typeof createIdFactory>;
  readonly randomText: (length: number) => string;
  /** What chance gives next, before it is left to itself. */
  readonly draws: number[] = [];
  /** The most that the time in an id was ever ahead. */
  idLeadMs = 0;
  requests = 0;

  constructor() {
    this.randomText = createRandomText((bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = this.chance(256);
    });
    this.ids = createIdFactory(this.randomText);
  }

  newId(kind: IdKind, slot: number): string {
    const id = this.ids.next(idPrefixes[kind], slot, this.clock.now());
    this.idLeadMs = Math.max(this.idLeadMs, this.ids.lastMs - this.clock.now());
    return id;
  }
}

/** Plays a whole checkpoint; `during` happens while it is being written. */
export function checkpoint(world: World, during = () => {}): void {
  const { state, cold, log } = world;
  state.beginFlush();
  const unwritten = log.slice(world.checkpointed).flat();
  world.checkpointed = log.length;
  during();
  cold.write(unwritten);
  state.endFlush();
}

interface Who {
  readonly org: string;
  readonly livemode: boolean;
}

export const sandbox: Who = { org: 'org_sandbox00000000000000000', livemode: false };

/** What a test may vary for one command. */
export type Circumstances = Partial<
  Pick<Context, 'endpointsBusy' | 'addressAllowed' | 'request' | 'language' | 'account'>
>;

export class Stage {
  readonly world: World;
  readonly who: Who;
  methods = { card: true, cash: true };

  constructor(world = new World(), who: Who = sandbox) {
    this.world = world;
    this.who = who;
  }

  /** The same stage for another organization or mode. */
  as(who: Partial<Who>): Stage {
    return new Stage(this.world, { ...this.who, ...who });
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

  /** Plays a command that must not be refused; its answer. Addresses pass their check. */
  given(operation: AnyCommand, params: object = {}, id = '', more: Circumstances = {}): Json {
    return this.when(operation, params, id, { addressAllowed: true, ...more }).answer;
  }

  /** Plays a command that must be taken to a payment network. */
  calls(operation: AnyCommand, params: object, id: string): NetworkCallRecord {
    const { outcome } = this.when(operation, params, id).decision;
    assert.ok('waitsFor' in outcome, `${operation} waits for a network: ${JSON.stringify(outcome)}`);
    return outcome.waitsFor;
  }

  /** A payment network answers, on behalf of the request that waits for it. */
  settle(call: NetworkCallRecord, outcome: NetworkOutcome = { result: 'done' }): Step {
    return this.when('settle_network_call', { call: call.id, outcome }, '', {
      request: call.request,
    });
  }

  when(operation: AnyCommand, params: object = {}, id = '', more: Circumstances = {}): Step {
    const context = this.context(routes.has(operation) ? more : { request: null, ...more });
    return this.play(operation, params, id, context);
  }

  /** Plays a command in circumstances of its own. */
  play(operation: AnyCommand, params: object, id: string, context: Context): Step {
    const route = routes.get(operation);
    const valid = route === undefined ? params : this.#admit(route, params);
    const decision = decide(this.world.state, { operation, id, params: valid } as Command, context);
    this.#fold(decision);
    return new Step(operation, route, decision);
  }

  /** Reads: the answer, or the refusal's code and parameter. */
  read(operation: QueryOperation, params: object = {}, id = ''): Json {
    const route = routes.get(operation)!;
    const outcome = query(
      this.world.state,
      operation,
      this.#admit(route, params) as object,
      this.context(),
      id,
    );
    if ('refusal' in outcome) return refusalOf(outcome.refusal);
    assert.ok('body' in outcome);
    const answer = JSON.parse(outcome.body);
    assertFits(route.result, answer, operation);
    return answer;
  }

  context(more: Circumstances = {}): Context & QueryContext {
    const { world, who, nowMs } = this;
    const endpoints = [...world.state.scan(endpointIndex, { descending: false })].filter(
      (record) => record.kind === 'webhook_endpoint',
    );
    return {
      ...who,
      nowMs,
      serviceMs: world.clock.monotonic(),
      account: this.#account(),
      settings,
      language: 'en',
      apiVersion: newestApiVersion,
      request: this.#nextRequest(),
      endpoints: endpoints.filter(
        ({ org, livemode, status }) => org === who.org && livemode === who.livemode && status !== 'deleted',
      ),
      endpointsBusy: false,
      addressAllowed: null,
      idLeadMs: world.idLeadMs,
      newId: (kind) => world.newId(kind, slotOf(who.org)),
      randomText: world.randomText,
      sealSecret: (secret, endpoint) => `${endpoint} ${secret}`,
      randomBelow: (limit) => world.draws.shift() ?? world.chance(limit),
      ...more,
    };
  }

  #account(): Context['account'] {
    const { org, livemode } = this.who;
    const defaults = defaultLimits[modeOf(livemode)];
    const limits = Object.fromEntries(
      Object.entries(defaults).map(([name, perMinute]) => [name, { perMinute, source: 'default' }]),
    ) as Context['account']['limits'];
    return { id: org, name: 'Sandbox', created: Math.floor(startMs / 1000), methods: this.methods, limits };
  }

  #nextRequest(): ApiRequest {
    const number = String(++this.world.requests);
    return {
      request_id: `req_${number.padStart(24, '0')}`,
      idempotency_key: `key-${number}`,
      key_digest: null,
      fingerprint: null,
      resolved_defaults: null,
      language: 'en',
      api_version: newestApiVersion,
    };
  }

  #admit(route: Route, given: object): Params {
    const params: Params = { ...given };
    fillDefaults(route, params);
    assert.equal(validateParams(route, params), null, `${route.operation} takes ${JSON.stringify(given)}`);
    return deepFreeze(params);
  }

  #fold({ changes }: Pick<Decision, 'changes'>): void {
    assert.equal(new Set(changes.map(({ id }) => id)).size, changes.length, 'no record changes twice');
    for (const change of changes) {
      this.world.state.apply(deepFreeze(change));
      if (change.kind === 'event' && !change.removed) {
        assertFits(Event, JSON.parse(eventJson(change, 0)), change.type);
      }
    }
    this.world.log.push(changes);
  }
}

/** What one command came to. */
export class Step {
  readonly operation: string;
  readonly decision: Decision<Done<AnyCommand>>;

  constructor(operation: string, route: Route | undefined, decision: Decision<Done<AnyCommand>>) {
    this.operation = operation;
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

  /** The records that changed, events aside: kind and status of each, sorted. */
  get changes(): string[] {
    return this.decision.changes
      .filter(({ kind }) => kind !== 'event')
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
export function assertHas(object: Json, fields: object): void {
  const names = Object.keys(fields);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, object[name]])), fields);
}

/** Kind and status of a record, in short. */
export function nameOf(record: Change): string {
  if (record.removed) return `${record.kind} removed`;
  return 'status' in record ? `${record.kind} ${record.status}` : record.kind;
}

/** The parts of a refusal that clients act on; its message can be said in every language. */
export function refusalOf(refusal: Refusal): { code: string; param: string | null; message: string } {
  const [message] = languages.map((language) => messageOf(refusal, language));
  return { code: refusal.code, param: refusal.param ?? null, message: message! };
}
