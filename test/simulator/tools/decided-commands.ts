// Commands as few runs give them, on the records that a shard really has: sent again by hand, reports that come twice and late, what a
// statement brings, secrets, attempts beyond the quotas, and what goes with time. Each decision must be the model's, and the records
// must agree with each other afterwards.

import { buckets } from '../../../src/contract/limits.ts';
import { declineCodes, newestApiVersion, sentEventTypes } from '../../../src/contract/vocabulary.ts';
import { type IdLeads, noLeads, timeOfId, withLead } from '../../../src/core/ids.ts';
import { slotOf } from '../../../src/core/slot.ts';
import { causes } from '../../../src/domain/cause.ts';
import type { AnyCommand } from '../../../src/domain/command.ts';
import { type Command, decide } from '../../../src/domain/decide.ts';
import type { Account, Context } from '../../../src/domain/decision.ts';
import { faultsOf } from '../../../src/domain/invariants.ts';
import type { RecordKind, RecordOf, StoredRecord } from '../../../src/domain/record.ts';
import { RememberedTexts } from '../../../src/domain/remembered-texts.ts';
import { ShardIds } from '../../../src/shard/shard-ids.ts';
import { Model } from '../../domain/model/model.ts';
import type { Random } from '../kernel/random.ts';
import { PlainRecords } from '../oracle/plain-records.ts';
import { askQuestions } from './asked-questions.ts';
import { viewOf } from './broken-records.ts';
import type { SpareMachine } from './spare-machine.ts';

const decides = 'a shard does what the model does';
const commandsMax = 120;
const dayMs = 86_400_000;

const settings = {
  baseUrl: 'https://pay.example',
  cardPageMs: 1_800_000,
  cashCodeMs: 3 * dayMs,
  webhookRetryMs: [5_000, 300_000],
  attemptsKeptMax: 6,
  answersKeptMax: 3,
};

/** What a command is aimed at. */
export class Aim {
  readonly random: Random;
  readonly #records: PlainRecords;
  readonly #byKind = new Map<RecordKind, string[]>();
  serial = 1_000_000;

  constructor(random: Random, records: PlainRecords, all: Iterable<StoredRecord>) {
    this.random = random;
    this.#records = records;
    for (const record of all) this.made(record);
  }

  made({ kind, id }: StoredRecord): void {
    const ids = this.#byKind.get(kind) ?? [];
    this.#byKind.set(kind, ids);
    ids.push(id);
  }

  /** Some record of a kind, mostly one that is as wanted. */
  a<K extends RecordKind>(
    kind: K,
    isWanted: (record: RecordOf<K>) => boolean = () => true,
  ): RecordOf<K> | undefined {
    const ids = this.#byKind.get(kind) ?? [];
    const found = ids.map((id) => this.#records.get(id)).filter((record) => record !== undefined);
    const all = found.filter((record): record is RecordOf<K> => record.kind === kind);
    const wanted = all.filter(isWanted);
    const among = wanted.length > 0 && this.random.chance(0.85) ? wanted : all;
    return among.length === 0 ? undefined : this.random.pick(among);
  }

  idOf(kind: RecordKind): string | undefined {
    const found: StoredRecord | undefined = this.a(kind);
    return found?.id;
  }

  amount(right: number): number {
    return this.random.chance(0.6) ? right : right + this.random.between(-200, 200);
  }

  get reference(): string {
    return `reference ${this.random.below(12)}`;
  }
}

/** A command, and the record whose organization and mode it is given in. */
type Given = readonly [operation: AnyCommand, of: StoredRecord | undefined, params: object, id?: string];
type Way = (aim: Aim) => Given;

const isFailed = ({ status }: { readonly status: string }) => status === 'failed';
const isPending = ({ status }: { readonly status: string }) => status === 'pending';
const isEnabled = ({ status }: { readonly status: string }) => status === 'enabled';

function attemptOf(aim: Aim, number: number) {
  const failed = aim.random.chance(0.6);
  const result = {
    at_ms: 1_793_620_000_000 + aim.random.below(1_000),
    duration_ms: aim.random.below(500),
    status: failed ? aim.random.pick([500, null]) : 200,
    failure: failed ? 'refused' : null,
    answer: failed && aim.random.chance(0.7) ? 'an answer' : null,
  };
  return { number, first: aim.random.chance(0.3), result };
}

const ways: readonly Way[] = [
  (aim) => {
    const delivery = aim.a('delivery', ({ status }) => status !== 'pending');
    return ['resend_delivery', delivery, { delivery: delivery?.id ?? 'whd_none' }];
  },
  (aim) => {
    const endpoint = aim.a('webhook_endpoint', isEnabled);
    const after = aim.random.chance(0.3) ? aim.a('delivery', isFailed)?.id : undefined;
    return ['resend_failed', endpoint, { after }];
  },
  (aim) => ['send_sample', aim.a('webhook_endpoint', isEnabled), { type: aim.random.pick(sentEventTypes) }],
  (aim) => {
    const overlapSeconds = aim.random.pick([0, 1, 86_400]);
    return ['roll_secret', aim.a('webhook_endpoint', isEnabled), { overlapSeconds }];
  },
  (aim) => {
    const delivery = aim.a('delivery', isPending);
    const number = (delivery?.attempt_count ?? 0) + (aim.random.chance(0.1) ? 1 : 0);
    const report = attemptOf(aim, number);
    return ['record_attempt', delivery, { delivery: delivery?.id ?? '', serial: ++aim.serial, ...report }];
  },
  (aim) => {
    const endpoint = aim.a('webhook_endpoint');
    return ['drain_endpoint', endpoint, {}];
  },
  (aim) => ['delete_webhook_endpoint', aim.random.chance(0.3) ? aim.a('webhook_endpoint') : undefined, {}],
  (aim) => ['trim_attempts', aim.a('attempt'), { serial: aim.serial }, ''],
  (aim) => {
    const charge = aim.a('charge', ({ status }) => status !== 'pending');
    const amount = aim.amount(charge?.amount ?? 1);
    return ['review_statement_money', charge, { reference: aim.reference, amount }];
  },
  (aim) => {
    const charge = aim.a('charge', ({ livemode }) => livemode);
    const amount = aim.amount(charge?.amount ?? 1);
    const isCash = charge?.method === 'cash';
    const money = {
      reference: aim.reference,
      amount,
      currency: aim.random.chance(0.9) ? 'mad' : 'eur',
      agent: isCash ? 'an agent' : null,
      card: isCash ? null : { brand: 'visa', last4: '4242', exp_month: null, exp_year: null },
      isHeld: !isCash && aim.random.chance(0.4),
    };
    return ['receive_money', charge, money];
  },
  (aim) => {
    const decline = { decline_code: aim.random.pick(declineCodes), mayTryAgain: aim.random.chance(0.5) };
    return ['receive_decline', aim.a('charge', isPending), decline];
  },
  (aim) => [
    'close_review',
    aim.a('review', ({ open }) => open),
    { as: aim.random.pick(['approved', 'refunded']) },
  ],
  (aim) => ['complete_charge', aim.a('charge', isPending), {}],
  (aim) => ['expire_charge', aim.a('charge', isPending), {}],
  (aim) => ['leave_network_page', aim.a('charge', isPending), {}],
  (aim) => ['abandon_charge', aim.a('charge', isPending), {}],
  (aim) => ['answer_challenge', aim.a('charge', isPending), { passed: aim.random.chance(0.5) }],
  (aim) => {
    const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2031 };
    return [
      'submit_card',
      aim.a('charge', isPending),
      { token: 'a token', card, challenge: aim.random.chance(0.4) },
    ];
  },
  (aim) => [
    'choose_method',
    aim.a('checkout_session', ({ status }) => status === 'open'),
    { method: aim.random.pick(['card', 'cash']) },
  ],
  (aim) => ['succeed_refund', aim.a('refund', isPending), {}],
  (aim) => ['fail_refund', aim.a('refund', isPending), { failure_reason: 'expired_card' }],
  (aim) => [
    'expire_due',
    aim.random.chance(0.5) ? aim.a('charge', isPending) : aim.a('checkout_session'),
    {},
  ],
  (aim) => {
    const call = aim.a('network_call');
    const outcome = aim.random.pick([
      { result: 'done' },
      { result: 'done' },
      { result: 'awaited' },
      { result: 'accepted' },
      { result: 'declined', decline_code: aim.random.pick(declineCodes) },
      { result: 'failed', reason: 'down' },
    ]);
    return ['apply_network_outcome', call, { call: call?.id ?? 'call_none', outcome }, ''];
  },
  (aim) => ['open_payment_link', aim.a('payment_link'), {}],
];

export async function decideCommands(spare: SpareMachine): Promise<void> {
  const { random, history, batches } = spare;
  const last = batches.at(-1)!;
  const records = history.at(last.lastSequence);
  const plain = new PlainRecords(records.values());
  const view = viewOf(plain);
  const model = new Model(records.values());
  const ids = new ShardIds(random.fill);
  ids.start({ lastMs: last.wallMs + dayMs, ...leadsIn(records.values()) });
  const aim = new Aim(random, plain, records.values());
  let nowMs = last.wallMs + 2 * dayMs;
  for (let i = 0; i < commandsMax; i++) {
    nowMs += Math.floor(random.skewed(1, random.chance(0.1) ? 40 * dayMs : 4_000_000));
    const [operation, of, params, id = of?.id ?? ''] = random.pick(ways)(aim);
    if (of === undefined) continue;
    const command = { operation, id, params } as Command;
    const context = contextOf(of, nowMs, ids, plain);
    const decision = decide(view, command, context);
    const difference = model.differs(command, context, decision);
    const what = () => `${operation} ${id} ${JSON.stringify(params)}: ${difference}`;
    spare.check(decides, difference === null, what);
    for (const change of decision.changes) {
      if (plain.get(change.id) === undefined) aim.made(change);
      plain.apply(change);
    }
    for (const change of decision.changes) {
      const faults = change.removed ? [] : faultsOf(change, view);
      spare.same('records agree with each other', faults, [], `${change.id} after ${operation}`);
    }
  }
  const asking = {
    aim,
    view,
    model,
    nowMs,
    contextOf: (of: StoredRecord) => ({
      ...contextOf(of, nowMs, ids, plain),
      idLeads: ids.leads,
      texts: new RememberedTexts<StoredRecord>(1_000),
    }),
  };
  askQuestions(spare, asking);
}

/** How far the times in the ids of these records are ahead of the clock that they were made by. */
function leadsIn(records: Iterable<StoredRecord>): IdLeads {
  const times = [...records].map(({ id, created }) => ({ idMs: timeOfId(id), madeMs: created * 1000 }));
  return times
    .sort((a, b) => a.idMs - b.idMs)
    .reduce((leads, { idMs, madeMs }) => withLead(leads, idMs, idMs - madeMs), noLeads);
}

function contextOf(
  { org, livemode }: StoredRecord,
  nowMs: number,
  ids: ShardIds,
  plain: PlainRecords,
): Context {
  const limit = { perMinute: 1_000, source: 'default' as const };
  const limits = Object.fromEntries(buckets.map((bucket) => [bucket, limit])) as Account['limits'];
  const account = { id: org, name: 'A shop', created: 0, methods: { card: true, cash: true }, limits };
  const endpoints = plain.all.filter((record) => record.kind === 'webhook_endpoint');
  return {
    nowMs,
    serviceMs: nowMs,
    org,
    livemode,
    account,
    settings,
    language: 'en',
    apiVersion: newestApiVersion,
    request: null,
    cause: causes.operator,
    endpoints: endpoints.filter((each) => each.org === org && each.livemode === livemode),
    endpointsBusy: false,
    addressAllowed: true,
    newId: (kind) => ids.next(kind, slotOf(org), nowMs),
    randomText: ids.randomText,
    sealSecret: (secret, endpoint) => `${endpoint} ${secret}`,
    randomBelow: ids.randomBelow,
  };
}
