// Random commands, public and internal, in any order and with any ids. The answers, events and states must be those of the
// model, and the invariants must hold after every step. `DOMAIN_MODEL_RUNS` is the number of runs (default 1,000), and
// `DOMAIN_MODEL_SEED` repeats one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { QueryOperation } from '../../src/contract/routes/table.ts';
import type { AnyCommand } from '../../src/domain/command.ts';
import { dueRecords } from '../../src/domain/due.ts';
import { endedIndex, kindIndex, networkCallIndex, scopeOf } from '../../src/domain/indexes.ts';
import type { RecordKind, StoredRecord } from '../../src/domain/record.ts';
import { RecordStore } from '../../src/store/record-store.ts';
import { assertEvents, assertInvariants, ofKind } from './invariants.ts';
import { Model } from './model.ts';
import type { Made, Params } from './model-records.ts';
import { card, nextSerial, scenes } from './scenes.ts';
import { checkpoint, hourMs, minuteMs, Stage, type Step } from './stage.ts';
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
  readonly model = new Model();
  readonly records = new Map<string, StoredRecord>();
  /** Ids of the other mode, and one that was never made. */
  readonly strangers: readonly string[];
  steps = 0;

  constructor() {
    const live = scenes.paid(this.stage.as({ livemode: true }));
    this.strangers = [live.intent, live.charge, live.session, 'x'];
    this.stage.given('create_webhook_endpoint', { url: 'https://a.test', enabled_events: ['*'] });
    for (const changes of this.stage.world.log) this.#fold(changes.filter(({ livemode }) => !livemode));
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
      case 'close_review':
        this.#fold(this.stage.when(what, { as: 'refunded' }, this.#one('review', pick)).decision.changes);
        return;
      case 'record_attempt': {
        const delivery = this.#one('delivery', pick);
        const number = this.stage.world.state.get('delivery', delivery)?.attempt_count ?? 0;
        const failure = how % 2 === 0 ? null : 'refused';
        const result = { at_ms: 0, duration_ms: 1, status: 200, failure, answer: 'no' };
        const serial = nextSerial(this.stage);
        this.#fold(
          this.stage.when(what, { delivery, number, serial, first: how % 3 === 0, result }).decision.changes,
        );
        return;
      }
      case 'record_successes': {
        const result = { at_ms: 0, duration_ms: 1, status: 200, failure: null, answer: 'no' };
        const reports = [pick, pick >> 1, pick].map((each) => ({
          delivery: this.#one('delivery', each),
          number: 0,
          first: how % 3 === 0,
          result,
        }));
        this.#fold(this.stage.when(what, { reports }).decision.changes);
        return;
      }
      case 'resend_delivery':
        this.#fold(this.stage.when(what, { delivery: this.#one('delivery', pick) }).decision.changes);
        return;
      case 'resend_failed':
        this.#fold(this.stage.when(what, {}, this.#one('webhook_endpoint', pick)).decision.changes);
        return;
      default: {
        const [id, params] = this.#aim(what, pick, how);
        this.#command(what, id, params);
      }
    }
  }

  /** Pays in the usual way, so that runs reach what comes after a payment. */
  #pay(pick: number): void {
    const { model } = this;
    const id = this.#among([...model.payments.keys()], pick);
    this.#command('confirm_payment_intent', id, { payment_method_type: 'card' });
    for (const { id: call, payment, over } of model.calls.values()) {
      if (payment.id === id && !over) {
        this.#command('apply_network_outcome', '', { call, outcome: { result: 'done' } });
      }
    }
    this.#command('complete_charge', model.payments.get(id)?.latest ?? 'x', {});
  }

  #playDue(): void {
    const { stage, model } = this;
    const due = dueRecords(stage.world.state, stage.nowMs, 1000).map(({ id }) => id);
    assert.deepEqual(due, model.due(stage.nowMs));
    for (const id of due) this.#command('expire_due', id, {});
  }

  #command(operation: AnyCommand, id: string, params: Params): void {
    const { stage, model } = this;
    const step = stage.when(operation, params, id);
    const { code, events } = model.play(operation, id, params, madeBy(step), stage.nowMs);
    assert.deepEqual([step.code, step.events], [code, events], `${operation} ${JSON.stringify(params)}`);
    this.#fold(step.decision.changes);
    this.#compare();
    assertInvariants(this.records, stage.world.state, model.arrived);
  }

  /** The id and the parameters of a command. Now and then the id is unknown, or belongs to somebody else. */
  #aim(operation: AnyCommand, pick: number, how: number): [id: string, params: Params] {
    const { model } = this;
    const of = (things: ReadonlyMap<string, unknown>) => {
      const id = this.#among([...things.keys()], pick);
      // Pages and time name no organization, because the service finds it by the record.
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
        return [of(model.payments), how === 11 ? {} : { payment_method_type: method }];
      case 'cancel_payment_intent':
        return [of(model.payments), {}];
      case 'update_payment_intent':
        return [of(model.payments), { description: `Order ${pick}`, metadata: { [`k${how}`]: 'x' } }];
      case 'choose_method':
        return [of(model.sessions), { method }];
      case 'expire_checkout_session':
        return [of(model.sessions), {}];
      case 'submit_card':
        return [of(model.charges), { token: 'tok', card, challenge: how % 3 === 0 }];
      case 'answer_challenge':
        return [of(model.charges), { passed: how % 3 > 0 }];
      case 'abandon_charge':
        return [of(model.charges), {}];
      case 'apply_network_outcome':
        return ['', { call: this.#call(pick), outcome: outcomes[how % outcomes.length]! }];
      case 'complete_charge':
        return [of(model.charges), odd ? { amount: pick + 1 } : {}];
      case 'pay_cash': {
        const codes = [...model.charges.values()].filter(({ number }) => number !== null);
        const code = codes.length === 0 ? undefined : codes[pick % codes.length]!;
        const amount = odd || code === undefined ? how + 1 : code.payment.amount;
        return ['', { number: code?.number ?? '000000000000', amount }];
      }
      case 'create_refund': {
        const about = how % 2 === 0 ? { charge: of(model.charges) } : { payment_intent: of(model.payments) };
        return ['', how % 3 === 0 ? about : { ...about, amount: [1, 2_500, 10_000, 99_999][pick % 4]! }];
      }
      case 'succeed_refund':
      case 'fail_refund':
        return [of(model.refunds), {}];
      default:
        return [of(how % 2 === 0 ? model.charges : model.sessions), {}];
    }
  }

  /** One of the ids, mostly one of the newest, because most happens with those. */
  #among(ids: readonly string[], pick: number): string {
    const stranger = pick % 16 === 15 || ids.length === 0;
    if (stranger) return this.strangers[pick % this.strangers.length]!;
    return ids.at(-1 - Math.floor((pick / 61) ** 3 * ids.length))!;
  }

  #call(pick: number): string {
    const { calls } = this.model;
    const open = [...calls.values()].filter(({ over }) => !over).map(({ id }) => id);
    return pick % 8 === 7 || open.length === 0
      ? this.#among([...calls.keys()], pick)
      : open[pick % open.length]!;
  }

  #one(kind: RecordKind, pick: number): string {
    return this.#among(
      ofKind(this.records, kind).map(({ id }) => id),
      pick,
    );
  }

  #fold(changes: readonly StoredRecord[]): void {
    for (const change of changes) {
      if (change.removed) this.records.delete(change.id);
      else this.records.set(change.id, change);
      const retrieve = retrieves[change.kind];
      if (retrieve !== undefined) assert.equal(this.stage.read(retrieve, {}, change.id).id, change.id);
    }
  }

  /** Fails unless the records match the model. */
  #compare(): void {
    const { model, records } = this;
    const seen = {
      payments: ofKind(records, 'payment_intent').map((each) => [
        ...[each.id, each.status, each.network_call !== null, each.amount_received, each.latest_charge],
      ]),
      sessions: ofKind(records, 'checkout_session').map((each) => [each.id, each.status, each.due_at_ms]),
      charges: ofKind(records, 'charge').map((each) => [
        ...[each.id, each.status, each.challenge_token !== null, each.amount_refunded],
        ...[each.amount_refund_pending, each.expires_at_ms, each.status === 'pending' && each.due_at_ms],
      ]),
      refunds: ofKind(records, 'refund').map((each) => [each.id, each.status, each.amount]),
      calls: ofKind(records, 'network_call').map(({ id }) => id),
    };
    assert.deepEqual(seen, {
      payments: [...model.payments.values()].map((each) => [
        ...[each.id, each.status, each.busy, each.received, each.latest],
      ]),
      sessions: [...model.sessions.values()].map(({ session }) => [
        ...[session!.id, session!.status, session!.dueMs],
      ]),
      charges: [...model.charges.values()].map((each) => [
        ...[each.id, each.status, each.challenged, each.refunded, each.held],
        ...[each.endsMs, each.status === 'pending' && each.dueMs],
      ]),
      refunds: [...model.refunds.values()].map((each) => [each.id, each.status, each.amount]),
      calls: [...model.calls.values()].filter(({ over }) => !over).map(({ id }) => id),
    });
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

const internal: readonly AnyCommand[] = [
  'choose_method',
  'submit_card',
  'answer_challenge',
  'abandon_charge',
  'expire_due',
];
const isInternal = (operation: AnyCommand): boolean => internal.includes(operation);

function madeBy(step: Step): Made {
  const { changes, networkCalls } = step.decision;
  const idOf = (kind: RecordKind) => changes.find((change) => change.kind === kind)?.id ?? '';
  const [call] = networkCalls;
  return {
    payment: idOf('payment_intent'),
    session: idOf('checkout_session'),
    refund: idOf('refund'),
    charge: idOf('charge'),
    call: call && {
      id: call.id,
      startedMs: call.created * 1000,
      charge: call.charge,
      number: call.cash_number,
    },
  };
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
