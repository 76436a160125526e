// Random commands, public and internal, in any order and with any ids. The answers, events and states must be those of the
// model, and the invariants must hold after every step. `DOMAIN_MODEL_RUNS` is the number of runs (default 1,000), and
// `DOMAIN_MODEL_SEED` repeats one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type QueryOperation, routeTable } from '../../src/contract/routes/table.ts';
import { newestApiVersion } from '../../src/contract/vocabulary.ts';
import { causes } from '../../src/domain/cause.ts';
import type { AnyCommand } from '../../src/domain/command.ts';
import type { Command } from '../../src/domain/decide.ts';
import { dueRecords } from '../../src/domain/due.ts';
import { endedIndex, kindIndex, networkCallIndex, scopeOf } from '../../src/domain/indexes.ts';
import type { RecordKind, RecordOf, StoredRecord } from '../../src/domain/record.ts';
import { RecordStore } from '../../src/store/record-store.ts';
import { assertEvents, assertInvariants, ofKind } from './invariants.ts';
import { Model } from './model/model.ts';
import { card, nextSerial, scenes } from './scenes.ts';
import { checkpoint, hourMs, minuteMs, Stage, settings } from './stage.ts';
import { drawnKinds, drawnTransitions, transitionsOf } from './state-diagrams.ts';

const runs = Number(process.env.DOMAIN_MODEL_RUNS ?? 1_000);
const seed = process.env.DOMAIN_MODEL_SEED;

/** One step: what to do, and two numbers that say to what and how. */
interface Action {
  readonly do: (typeof kinds)[number];
  readonly pick: number;
  readonly how: number;
}

// Commands that make objects are as frequent as those that end them, so that runs reach all states.
const kinds = [
  ...['create_payment_intent', 'create_checkout_session', 'choose_method', 'choose_method'],
  ...['confirm_payment_intent', 'confirm_payment_intent', 'confirm_payment_intent'],
  ...[
    'apply_network_outcome',
    'apply_network_outcome',
    'apply_network_outcome',
    'apply_network_outcome',
    'apply_network_outcome',
  ],
  ...['submit_card', 'submit_card', 'submit_card', 'answer_challenge', 'answer_challenge', 'abandon_charge'],
  ...['cancel_payment_intent', 'expire_checkout_session', 'update_payment_intent'],
  ...[
    'complete_charge',
    'fail_charge',
    'expire_charge',
    'pay_cash',
    'create_refund',
    'create_refund',
    'create_refund',
  ],
  ...['succeed_refund', 'fail_refund', 'expire_due', 'advance', 'due', 'checkpoint', 'close_review', 'pay'],
  ...['record_attempt', 'record_successes', 'resend_delivery', 'resend_failed'],
] as const;

const action: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom(...kinds),
  pick: fc.nat(60),
  how: fc.nat(11),
});

const retrieves: Readonly<Partial<Record<RecordKind, QueryOperation>>> = {
  payment_intent: 'retrieve_payment_intent',
  charge: 'retrieve_charge',
  checkout_session: 'retrieve_checkout_session',
  refund: 'retrieve_refund',
  review: 'retrieve_review',
  event: 'retrieve_event',
};

/** A run: the service, the model, and a fold of every change that the service made. */
class Run {
  readonly stage = new Stage();
  readonly model: Model;
  readonly records = new Map<string, StoredRecord>();
  /** Ids of the other mode, and one that was never made. */
  readonly strangers: readonly string[];
  /** Every call to a network that there was. */
  readonly #calls: string[] = [];
  /** Centimes that customers handed over, whatever became of them. */
  #arrived = 0;
  steps = 0;

  constructor() {
    const live = scenes.paid(this.stage.as({ livemode: true }));
    this.strangers = [live.intent, live.charge, live.session, 'x'];
    this.stage.given('create_webhook_endpoint', { url: 'https://a.test', enabled_events: ['*'] });
    const changes = this.stage.world.log.flat();
    this.#fold(changes.filter(({ livemode }) => !livemode));
    this.model = new Model(changes);
  }

  play({ do: what, pick, how }: Action): void {
    this.steps++;
    switch (what) {
      case 'advance':
        this.stage.advance([1, 1_000, minuteMs, minuteMs, 30 * minuteMs, 72 * hourMs][how >> 1]!);
        return;
      case 'checkpoint':
        checkpoint(this.stage.world);
        return;
      case 'pay':
        this.#pay(pick);
        return;
      case 'due':
        this.#playDue();
        return;
      default: {
        const [id, params] = this.#aim(what, pick, how);
        this.#command(what, id, params);
      }
    }
  }

  /** Pays in the usual way, so that runs reach what comes after a payment. */
  #pay(pick: number): void {
    const id = this.#one('payment_intent', pick);
    this.#command('confirm_payment_intent', id, { payment_method_type: 'card' });
    for (const call of ofKind(this.records, 'network_call')) {
      if (call.payment_intent === id)
        this.#command('apply_network_outcome', '', { call: call.id, outcome: { result: 'done' } });
    }
    const intent = ofKind(this.records, 'payment_intent').find((each) => each.id === id);
    this.#command('complete_charge', intent?.latest_charge ?? 'x', {});
  }

  #playDue(): void {
    const { nowMs, world } = this.stage;
    const open = [
      ...ofKind(this.records, 'charge').filter(({ status }) => status === 'pending'),
      ...ofKind(this.records, 'checkout_session').filter(({ status }) => status === 'open'),
    ];
    const wanted = open
      .filter(({ due_at_ms }) => due_at_ms <= nowMs)
      .sort((a, b) => a.due_at_ms - b.due_at_ms || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    const due = dueRecords(world.state, nowMs, 1000).map(({ id }) => id);
    assert.deepEqual(due, wanted);
    for (const id of due) this.#command('expire_due', id, {});
  }

  #command(operation: AnyCommand, id: string, params: object): void {
    const { stage, model } = this;
    const isPublic = routeTable.some((route) => route.operation === operation);
    const request = isPublic ? stage.newRequest() : null;
    const cause = isPublic ? causes.request : causes.customer;
    const step = stage.when(operation, params, id, { request, cause });
    const { scope, who, world } = stage;
    const asked = {
      ...{ ...world.now, ...who, account: scope.account(world.now), settings, language: 'en' as const },
      ...{ apiVersion: newestApiVersion, request, cause, endpointsBusy: false, addressAllowed: null },
    };
    const command = { operation, id, params: step.params } as Command;
    assert.equal(
      model.differs(command, asked, step.decision),
      null,
      `${operation} ${JSON.stringify(params)}`,
    );
    if (step.code === 'ok') this.#arrived += arrivedBy(this.records, operation, id, params);
    this.#fold(step.decision.changes);
    // What changes nothing, as most that is refused, leaves them as they were.
    if (step.code === 'ok' || step.decision.changes.length > 0)
      assertInvariants(this.records, stage.world.state, this.#arrived);
  }

  /** The id and the parameters of a command. Now and then the id is unknown, or belongs to somebody else. */
  #aim(operation: AnyCommand, pick: number, how: number): [id: string, params: object] {
    const of = (kind: RecordKind) => {
      const id = this.#one(kind, pick);
      // Pages, operators and time name no organization, because the service finds it by the record.
      return isInternal(operation) && this.strangers.includes(id) ? 'x' : id;
    };
    const methods = [['card'], ['cash'], ['card', 'cash'], ['card', 'cash']][how % 4]!;
    const method = how % 3 === 0 ? 'cash' : 'card';
    const odd = how > 8;
    switch (operation) {
      case 'create_payment_intent':
        return [
          '',
          {
            amount: [99, 25_000, 25_000, 10_000][pick % 4]!,
            currency: 'mad',
            payment_method_types: methods,
          },
        ];
      case 'create_checkout_session': {
        const success_url = 'https://a.test';
        return ['', { amount: 20_000, currency: 'mad', payment_method_types: methods, success_url }];
      }
      case 'confirm_payment_intent':
        return [of('payment_intent'), how === 11 ? {} : { payment_method_type: method }];
      case 'cancel_payment_intent':
        return [of('payment_intent'), {}];
      case 'update_payment_intent':
        return [of('payment_intent'), { description: `Order ${pick}`, metadata: { [`k${how}`]: 'x' } }];
      case 'choose_method':
        return [of('checkout_session'), { method }];
      case 'expire_checkout_session':
        return [of('checkout_session'), {}];
      case 'submit_card':
        return [of('charge'), { token: 'tok', card, challenge: how % 3 === 0 }];
      case 'answer_challenge':
        return [of('charge'), { passed: how % 3 > 0 }];
      case 'abandon_charge':
        return [of('charge'), {}];
      case 'apply_network_outcome':
        return ['', { call: this.#call(pick), outcome: outcomes[how % outcomes.length]! }];
      case 'complete_charge':
        return [of('charge'), odd ? { amount: pick + 1 } : {}];
      case 'pay_cash': {
        const codes = ofKind(this.records, 'charge').filter(({ cash_number }) => cash_number !== null);
        const code = codes.length === 0 ? undefined : codes[pick % codes.length]!;
        const amount = odd || code === undefined ? how + 1 : code.amount;
        return ['', { number: code?.cash_number ?? '000000000000', amount }];
      }
      case 'create_refund': {
        const about = how % 2 === 0 ? { charge: of('charge') } : { payment_intent: of('payment_intent') };
        return ['', how % 3 === 0 ? about : { ...about, amount: [1, 2_500, 10_000, 99_999][pick % 4]! }];
      }
      case 'succeed_refund':
      case 'fail_refund':
        return [of('refund'), {}];
      case 'close_review':
        return [of('review'), { as: how % 2 === 0 ? 'refunded' : 'approved' }];
      case 'record_attempt': {
        const delivery = this.#one('delivery', pick);
        const number = this.stage.world.state.get('delivery', delivery)?.attempt_count ?? 0;
        const result = { ...attempt, failure: how % 2 === 0 ? null : 'refused' };
        return ['', { delivery, number, serial: nextSerial(this.stage), first: how % 3 === 0, result }];
      }
      case 'record_successes': {
        const reports = [pick, pick >> 1, pick].map((each) => ({
          ...{ delivery: this.#one('delivery', each), number: 0, first: how % 3 === 0, result: attempt },
        }));
        return ['', { reports }];
      }
      case 'resend_delivery':
        return ['', { delivery: of('delivery') }];
      case 'resend_failed':
        return [of('webhook_endpoint'), {}];
      default:
        return [of(how % 2 === 0 ? 'charge' : 'checkout_session'), {}];
    }
  }

  /** One of the ids, mostly one of the newest, because most happens with those. */
  #among(ids: readonly string[], pick: number): string {
    const stranger = pick % 16 === 15 || ids.length === 0;
    if (stranger) return this.strangers[pick % this.strangers.length]!;
    return ids.at(-1 - Math.floor((pick / 61) ** 3 * ids.length))!;
  }

  #call(pick: number): string {
    const open = ofKind(this.records, 'network_call').map(({ id }) => id);
    return pick % 8 === 7 || open.length === 0 ? this.#among(this.#calls, pick) : open[pick % open.length]!;
  }

  #one(kind: RecordKind, pick: number): string {
    return this.#among(
      ofKind(this.records, kind).map(({ id }) => id),
      pick,
    );
  }

  #fold(changes: readonly StoredRecord[]): void {
    for (const change of changes) {
      if (change.kind === 'network_call' && !change.removed) this.#calls.push(change.id);
      if (change.removed) this.records.delete(change.id);
      else this.records.set(change.id, change);
      const retrieve = retrieves[change.kind];
      if (retrieve !== undefined) assert.equal(this.stage.read(retrieve, {}, change.id).id, change.id);
    }
  }

  /** Fails if an object took a transition that is not in the state diagrams. */
  assertDrawn(): void {
    const taken = transitionsOf(this.stage.world.log);
    for (const kind of drawnKinds) {
      for (const transition of taken[kind])
        assert.ok(drawn.get(kind)!.has(transition), `${kind}: ${transition}`);
    }
  }

  /** Fails unless a replay of all changes gives the same state. */
  assertReplays(): void {
    const replayed = new RecordStore();
    for (const change of this.stage.world.log.flat()) replayed.apply(change);
    const scope = scopeOf(this.stage.who.org, false);
    const listed = ['payment_intent', 'charge', 'checkout_session', 'refund', 'review', 'event'] as const;
    for (const index of [...listed.map((kind) => kindIndex(kind, scope)), networkCallIndex, endedIndex]) {
      const range = { descending: false };
      const all = [...replayed.scan(index, range)];
      assert.deepEqual([...this.stage.world.state.scan(index, range)], all, index);
      for (const record of all) if (!record.livemode) assert.equal(this.records.get(record.id), record);
    }
  }
}

const drawn = new Map(drawnKinds.map((kind) => [kind, drawnTransitions(kind)]));

const outcomes = [
  { result: 'done' },
  { result: 'accepted' },
  { result: 'done' },
  { result: 'declined', decline_code: 'lost_card' },
  { result: 'done' },
  { result: 'failed', reason: 'down' },
] as const;

const attempt = { at_ms: 0, duration_ms: 1, status: 200, failure: null, answer: 'no' };

const internal: readonly AnyCommand[] = [
  'close_review',
  'resend_delivery',
  'resend_failed',
  'choose_method',
  'submit_card',
  'answer_challenge',
  'abandon_charge',
  'expire_due',
];
const isInternal = (operation: AnyCommand): boolean => internal.includes(operation);

/** The centimes that a command brings which is not refused. */
function arrivedBy(
  before: ReadonlyMap<string, StoredRecord>,
  operation: AnyCommand,
  id: string,
  params: {
    readonly amount?: number;
    readonly call?: string;
    readonly outcome?: { readonly result: string };
  },
): number {
  const amountOf = (charge: string | null) => (before.get(charge ?? '') as RecordOf<'charge'>).amount;
  if (operation === 'pay_cash' || operation === 'complete_charge') return params.amount ?? amountOf(id);
  const call = before.get(params.call ?? '');
  const isCharged = call?.kind === 'network_call' && call.action === 'authorize_card';
  return isCharged && params.outcome?.result === 'done' ? amountOf(call.charge) : 0;
}

test('random commands come to what the model says', (t) => {
  let steps = 0;
  const reached = new Map<string, number>();
  fc.assert(
    fc.property(fc.noBias(fc.array(action, { minLength: 1, maxLength: 120, size: 'max' })), (actions) => {
      const run = new Run();
      for (const each of actions) run.play(each);
      run.assertReplays();
      assertEvents(run.records);
      run.assertDrawn();
      steps += run.steps;
      for (const { type } of ofKind(run.records, 'event')) reached.set(type, (reached.get(type) ?? 0) + 1);
    }),
    { numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) },
  );
  t.diagnostic(`${runs} runs, ${steps} steps; ${[...reached].map((each) => each.join(' ')).join(', ')}`);
});
