// For each event type the shortest sequence of actions in test mode that makes it happen.

import { setTimeout as wait } from 'node:timers/promises';
import type { CommandOperation } from '../../contract/routes/table.ts';
import { type EventType, futureEventTypes, sentEventTypes } from '../../contract/vocabulary.ts';
import { OperatorFailure, wrongUsage } from './failures.ts';

/** What a sequence can do: call the API as the merchant, and close a review as an operator. */
export interface Actor {
  call(operation: CommandOperation, id: string, params: object): Promise<ApiObject>;
  list(
    operation: 'list_events' | 'list_reviews',
    query: Readonly<Record<string, string>>,
  ): Promise<{ readonly data: readonly ApiObject[] }>;
  closeReview(id: string): Promise<unknown>;
}

/** The fields of the API's objects that are read; each kind of object has some of them. */
export interface ApiObject {
  readonly id: string;
  readonly type: string;
  readonly payment_intent: string;
  readonly latest_charge: string;
  readonly data: { readonly object: { readonly id: string } };
}

const amount = 20_000;
const money = { amount, currency: 'mad' };

const createIntent = ({ call }: Actor) =>
  call('create_payment_intent', '', { ...money, description: 'Triggered' });

/** An intent whose card page is open. */
async function openCharge(actor: Actor): Promise<ApiObject> {
  const { id } = await createIntent(actor);
  return actor.call('confirm_payment_intent', id, {});
}

async function pay(actor: Actor): Promise<ApiObject> {
  const intent = await openCharge(actor);
  await actor.call('complete_charge', intent.latest_charge, {});
  return intent;
}

async function decline(actor: Actor): Promise<void> {
  const { latest_charge } = await openCharge(actor);
  await actor.call('fail_charge', latest_charge, { decline_code: 'insufficient_funds' });
}

async function refund(actor: Actor): Promise<ApiObject> {
  const { id } = await pay(actor);
  return actor.call('create_refund', '', { payment_intent: id });
}

async function succeedRefund(actor: Actor): Promise<void> {
  const { id } = await refund(actor);
  await actor.call('succeed_refund', id, {});
}

function createSession({ call }: Actor): Promise<ApiObject> {
  return call('create_checkout_session', '', { ...money, success_url: 'https://shop.example/thanks' });
}

async function payInSession(actor: Actor): Promise<void> {
  const { payment_intent } = await createSession(actor);
  const { latest_charge } = await actor.call('confirm_payment_intent', payment_intent, {});
  await actor.call('complete_charge', latest_charge, {});
}

/** The card network reports another amount than was asked for. */
async function openReview(actor: Actor): Promise<string> {
  const { id, latest_charge } = await openCharge(actor);
  await actor.call('complete_charge', latest_charge, { amount: amount - 100 });
  const { data: reviews } = await actor.list('list_reviews', { limit: '100' });
  const review = reviews.find(({ payment_intent }) => payment_intent === id);
  if (review === undefined) throw new OperatorFailure('failed', 'no review was opened');
  return review.id;
}

const scenes: Readonly<Record<EventType, (actor: Actor) => Promise<unknown>>> = {
  'payment_intent.created': createIntent,
  'payment_intent.requires_action': openCharge,
  'payment_intent.processing': pay,
  'payment_intent.succeeded': pay,
  'payment_intent.payment_failed': decline,
  'payment_intent.canceled': async (actor) => {
    const { id } = await createIntent(actor);
    await actor.call('cancel_payment_intent', id, { cancellation_reason: 'abandoned' });
  },
  'charge.succeeded': pay,
  'charge.failed': decline,
  'charge.refunded': succeedRefund,
  'checkout.session.completed': payInSession,
  'checkout.session.expired': async (actor) => {
    const { id } = await createSession(actor);
    await actor.call('expire_checkout_session', id, {});
  },
  'refund.created': refund,
  'refund.updated': succeedRefund,
  'refund.failed': async (actor) => {
    const { id } = await refund(actor);
    await actor.call('fail_refund', id, {});
  },
  'review.opened': openReview,
  'review.closed': async (actor) => actor.closeReview(await openReview(actor)),
};

const pollMs = 100;
const polls = 100;

/** Makes an event of this type happen, and returns it. Rejects with an `OperatorFailure`. */
export async function trigger(actor: Actor, type: EventType): Promise<ApiObject> {
  const { data: before } = await actor.list('list_events', { limit: '1' });
  let newest = before[0]?.id;
  await scenes[type](actor);
  for (let poll = 0; poll < polls; poll++) {
    const after = newest === undefined ? [] : [['ending_before', newest]];
    const query = Object.fromEntries([['limit', '100'], ...after]);
    const { data: events } = await actor.list('list_events', query);
    const found = events.find((event) => event.type === type);
    if (found !== undefined) return found;
    newest = events[0]?.id ?? newest;
    await wait(pollMs);
  }
  throw new OperatorFailure('failed', `${type} did not happen in time`);
}

/** The type, if events of it happen. Throws an `OperatorFailure`. */
export function typeThatHappens(type: string): EventType {
  const sent = sentEventTypes.find((each) => each === type);
  if (sent !== undefined) return sent;
  if (futureEventTypes.some((each) => each === type))
    throw new OperatorFailure('refused', `${type} can be subscribed to, but does not happen yet`);
  throw wrongUsage(`there is no event type ${type}; those that happen: ${sentEventTypes.join(', ')}`);
}
