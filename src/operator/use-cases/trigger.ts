// For each event type the shortest sequence of actions in test mode that makes such an event happen. `payments trigger`
// performs it.

import { setTimeout as wait } from 'node:timers/promises';
import type { CommandOperation } from '../../contract/routes/table.ts';
import { type EventType, futureEventTypes, sentEventTypes } from '../../contract/vocabulary.ts';
import type { InternalParams } from '../../domain/command.ts';
import { OperatorFailure } from '../socket/protocol.ts';

/** What a sequence can do: call the API as the merchant, or act as a customer or an operator. */
export interface Actor {
  call(operation: CommandOperation, id: string, params: object): Promise<Acted>;
  command<O extends keyof InternalParams>(
    operation: O,
    id: string,
    params: InternalParams[O],
  ): Promise<unknown>;
  /** The newest review of a payment intent. */
  reviewOf(intent: string): Promise<string>;
  /** The id of the newest event; empty when there is none. */
  newestEvent(): Promise<string>;
  /** Events after that one, and the id of the last of them. */
  eventsAfter(
    id: string,
  ): Promise<{ readonly events: readonly { readonly type: string }[]; readonly cursor: string }>;
}

/** The fields of the API's answers that the sequences read. */
interface Acted {
  readonly id: string;
  readonly payment_intent: string;
  readonly latest_charge: string;
}

const amount = 20_000;
const money = { amount, currency: 'mad' };

const createIntent = ({ call }: Actor) =>
  call('create_payment_intent', '', { ...money, description: 'Triggered' });

/** An intent whose card page is open. */
async function openCharge(actor: Actor): Promise<Acted> {
  const { id } = await createIntent(actor);
  return actor.call('confirm_payment_intent', id, {});
}

async function pay(actor: Actor): Promise<Acted> {
  const intent = await openCharge(actor);
  await actor.call('complete_charge', intent.latest_charge, {});
  return intent;
}

async function decline(actor: Actor): Promise<void> {
  const { latest_charge } = await openCharge(actor);
  await actor.call('fail_charge', latest_charge, { decline_code: 'insufficient_funds' });
}

async function refund(actor: Actor): Promise<Acted> {
  const { id } = await pay(actor);
  return actor.call('create_refund', '', { payment_intent: id });
}

async function succeedRefund(actor: Actor): Promise<void> {
  const { id } = await refund(actor);
  await actor.call('succeed_refund', id, {});
}

function createSession({ call }: Actor): Promise<Acted> {
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
  return actor.reviewOf(id);
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
  'review.closed': async (actor) =>
    actor.command('close_review', await openReview(actor), { as: 'approved' }),
};

const pollMs = 100;
const polls = 100;

/** Makes an event of this type happen, and returns it. Rejects with an `OperatorFailure` when it does not happen. */
export async function trigger(actor: Actor, type: EventType): Promise<unknown> {
  let cursor = await actor.newestEvent();
  await scenes[type](actor);
  for (let poll = 0; poll < polls; poll++) {
    const { events, cursor: last } = await actor.eventsAfter(cursor);
    const found = events.find((event) => event.type === type);
    if (found !== undefined) return found;
    cursor = last;
    await wait(pollMs);
  }
  throw new OperatorFailure('failed', `${type} did not happen in time`);
}

const isSent = (type: string): type is EventType => sentEventTypes.includes(type as EventType);

/** The type, if events of it happen. Throws an `OperatorFailure`. */
export function typeThatHappens(type: string): EventType {
  if (isSent(type)) return type;
  if ((futureEventTypes as readonly string[]).includes(type)) {
    throw new OperatorFailure('refused', `${type} can be subscribed to, but does not happen yet`);
  }
  throw new OperatorFailure(
    'usage',
    `there is no event type ${type}; those that happen: ${sentEventTypes.join(', ')}`,
  );
}
