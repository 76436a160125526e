// Questions of members, customers and operators, with every filter that there is, about what a shard really has: the model knows the
// answers.

import { routeTable } from '../../../src/contract/routes/table.ts';
import { exportPage } from '../../../src/domain/export.ts';
import { searchPayments } from '../../../src/domain/payment-search.ts';
import { paymentStates } from '../../../src/domain/payment-state.ts';
import { storyOf } from '../../../src/domain/payment-story.ts';
import { type QueryContext, query } from '../../../src/domain/query.ts';
import type { PaymentIntentRecord } from '../../../src/domain/record.ts';
import { chargesNamed } from '../../../src/domain/settled.ts';
import type { View } from '../../../src/domain/view.ts';
import type { InternalAnswer } from '../../../src/shard/protocol.ts';
import type { Model, Question } from '../../domain/model/model.ts';
import { sheetOf } from '../world/look-around.ts';
import type { Aim } from './decided-commands.ts';
import type { SpareMachine } from './spare-machine.ts';

const tells = 'a shard does what the model does';
const questionsMax = 40;

/** Whoever asks, and what there is. */
export interface Asking {
  readonly aim: Aim;
  readonly view: View;
  readonly model: Model;
  readonly nowMs: number;
  contextOf(of: PaymentIntentRecord): QueryContext;
}

export function askQuestions(spare: SpareMachine, asking: Asking): void {
  for (let i = 0; i < questionsMax; i++) {
    const intent = asking.aim.a('payment_intent');
    if (intent === undefined) return;
    const context = asking.contextOf(intent);
    if (spare.random.chance(0.3)) list(spare, asking, context);
    else ask(spare, asking, context, intent);
  }
}

const maybe = <T>(aim: Aim, value: T | undefined | null, share = 0.35): T | null =>
  value !== undefined && value !== null && aim.random.chance(share) ? value : null;

function given(params: object): object {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}

/** Times at which something was made, and right beside. */
function times(aim: Aim) {
  const second = () => (aim.a('payment_intent')?.created ?? 0) + aim.random.between(-1, 1);
  return {
    created: maybe(aim, second(), 0.1),
    'created[gte]': maybe(aim, second(), 0.2),
    'created[gt]': maybe(aim, second(), 0.2),
    'created[lte]': maybe(aim, second(), 0.2),
    'created[lt]': maybe(aim, second(), 0.2),
  };
}

function list(spare: SpareMachine, { aim, view, model }: Asking, context: QueryContext): void {
  const { random } = aim;
  const page = (kind: 'payment_intent' | 'charge' | 'refund' | 'customer' | 'event') => {
    const id = () => maybe(aim, aim.idOf(kind));
    const [start, end] = [id(), id()];
    return { starting_after: start, ending_before: start === null ? end : null, ...times(aim) };
  };
  const payment_intent = maybe(aim, aim.a('payment_intent')?.id);
  const [operation, params] = random.pick([
    () => {
      const status = maybe(aim, aim.a('payment_intent')?.status);
      const customer = maybe(aim, aim.a('payment_intent', (each) => each.customer !== null)?.customer);
      return ['list_payment_intents', { ...page('payment_intent'), status, customer }] as const;
    },
    () => {
      const status = maybe(aim, aim.a('charge')?.status);
      return ['list_charges', { ...page('charge'), status, payment_intent }] as const;
    },
    () => {
      const status = maybe(aim, aim.a('refund')?.status);
      return ['list_refunds', { ...page('refund'), status, payment_intent }] as const;
    },
    () => ['list_customers', { ...page('customer'), email: maybe(aim, aim.a('customer')?.email) }] as const,
    () => ['list_events', { ...page('event'), type: maybe(aim, aim.a('event')?.type) }] as const,
  ])();
  const asked = { limit: random.pick([1, 2, 10]), ...given(params) };
  const outcome = query(view, operation, asked, context, '');
  const difference = model.answersOtherwise(operation, asked, '', context, outcome);
  spare.check(tells, difference === null, () => `${operation} ${JSON.stringify(asked)}: ${difference}`);
}

function searchOf(aim: Aim, { amount }: PaymentIntentRecord) {
  const { random } = aim;
  const description = aim.a('payment_intent', (each) => each.description !== null)?.description;
  const { metadata = {} } = aim.a('payment_intent', (each) => Object.keys(each.metadata).length > 0) ?? {};
  const session = aim.a('checkout_session', ({ client_reference_id }) => client_reference_id !== null);
  const [[name, value] = ['note', 'none']] = Object.entries(metadata);
  const texts = [
    description?.slice(1, 5).toUpperCase(),
    `${name}=${value}`,
    `${name}=${value}x`,
    value,
    session?.client_reference_id,
    session?.client_reference_id?.slice(1),
    `${amount / 100}`,
    aim.a('charge', ({ card }) => card !== null)?.card?.last4,
    'nothing',
  ].filter((text) => typeof text === 'string' && text !== '');
  const customers = [
    aim.a('customer')?.id,
    aim.a('payment_intent', (each) => each.customer !== null)?.customer,
  ];
  const known = customers.filter((each) => typeof each === 'string');
  const second = () => (aim.a('payment_intent')?.created ?? 0) + random.between(-1, 1);
  return {
    state: maybe(aim, random.pick(paymentStates)),
    method: maybe(aim, random.pick(['card', 'cash'] as const)),
    customers: maybe(aim, known.length === 0 ? null : [...new Set(known)], 0.2),
    fromSeconds: maybe(aim, second(), 0.2),
    toSeconds: maybe(aim, second(), 0.2),
    text: maybe(aim, random.pick(texts), 0.6),
    before: maybe(aim, aim.a('payment_intent')?.id, 0.2),
    limit: random.pick([1, 3, 50]),
  };
}

function ask(spare: SpareMachine, asking: Asking, context: QueryContext, intent: PaymentIntentRecord): void {
  const { aim, view, model, nowMs } = asking;
  const { random } = aim;
  const scope = { org: context.org, livemode: context.livemode };
  const charge = aim.a('charge');
  const references = [
    intent.id,
    charge?.id,
    charge?.cash_number,
    aim.a('refund')?.id,
    aim.a('review')?.id,
    aim.a('checkout_session')?.id,
    'nothing',
  ].filter((each) => typeof each === 'string');
  const found = (value: unknown): InternalAnswer => ({ ok: true, body: JSON.stringify(value) });
  const search = searchOf(aim, intent);
  const told = [
    () => [{ kind: 'search_payments', ...scope, search }, found(searchPayments(view, context, search))],
    () => {
      const reference = random.pick(references);
      const refundsBefore = maybe(aim, aim.a('refund')?.id) ?? undefined;
      const story = storyOf(view, context, reference, refundsBefore);
      return [{ kind: 'payment_story', ...scope, reference, refundsBefore }, found(story)];
    },
    () => {
      const question = { kind: 'charges_named', ...scope, names: references } as const;
      return [question, found(chargesNamed(view, question, references))];
    },
    () => exported(asking, context, search),
  ] satisfies (() => readonly [Question, InternalAnswer])[];
  const [question, answer] = random.pick(told)();
  const asked = { ...context, nowMs, serviceMs: nowMs };
  const difference = model.tellsOtherwise(question, asked, answer);
  spare.check(tells, difference === null, () => `${JSON.stringify(question)}: ${difference}`);
}

/** A file of payments, charges or refunds, as members and merchants' servers have it written. */
function exported(
  { aim, view }: Asking,
  context: QueryContext,
  search: ReturnType<typeof searchOf>,
): [Question, InternalAnswer] {
  const { random } = aim;
  const exports = [
    ['export_payment_intents', 'payment_intent'],
    ['export_charges', 'charge'],
    ['export_refunds', 'refund'],
  ] as const;
  const [operation, kind] = random.pick(exports);
  const route = routeTable.findIndex((each) => each.operation === operation);
  const cursor = maybe(aim, aim.idOf(kind)) ?? '';
  const format = random.pick(['csv', 'ndjson'] as const);
  const isSheet = random.chance(0.5);
  const options = {
    ...(random.chance(0.6) && { search: { ...search, before: null } }),
    ...(isSheet && { sheet: sheetOf(random.pick([',', ';'])) }),
  };
  const params = { format: isSheet ? ('csv' as const) : format };
  const { text, cursor: next } = exportPage(view, operation, params, context, cursor, options);
  const scope = { org: context.org, livemode: context.livemode };
  const about = { kind: 'export_page', ...scope, route, cursor, query: `format=${params.format}` } as const;
  return [
    { ...about, ...options },
    { ok: true, body: text, cursor: next },
  ];
}
