// Customers, and payment links, which sessions are made behind.

import type { RecordOf } from '../../../src/domain/record.ts';
import {
  endOverdueSession,
  mergedMetadata,
  metadataOf,
  methodsLeft,
  newSession,
  newText,
  own,
  type Params,
  plainHttp,
  unpayable,
} from './payments.ts';
import { showCustomer } from './resources.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

type Link = RecordOf<'payment_link'>;
const texts = ['email', 'name', 'phone', 'description'] as const;

export function createCustomer(turn: Turn, params: Params): Expected {
  const customer = turn.put<RecordOf<'customer'>>({
    ...turn.fresh('customer'),
    email: params.email ?? null,
    name: params.name ?? null,
    phone: params.phone ?? null,
    description: params.description ?? null,
    metadata: metadataOf({}, params.metadata),
    deleted: false,
  });
  return { answer: showCustomer(customer) };
}

export function updateCustomer(turn: Turn, params: Params, id: string): Expected {
  const customer = own(turn, 'customer', id);
  if (customer === null || customer.deleted) return refuse('resource_missing');
  const merged = mergedMetadata(customer.metadata, params.metadata);
  if ('refused' in merged) return merged;
  const changed = texts.map((name) => [name, newText(customer[name], params[name])]);
  return { answer: showCustomer(turn.change('customer', id, { ...Object.fromEntries(changed), ...merged })) };
}

export function deleteCustomer(turn: Turn, _params: Params, id: string): Expected {
  const customer = own(turn, 'customer', id);
  if (customer === null || customer.deleted) return refuse('resource_missing');
  const nothing = { email: null, name: null, phone: null, description: null, metadata: {} };
  return { answer: showCustomer(turn.change('customer', id, { ...nothing, deleted: true })) };
}

const linksMax = 100;
const hourMs = 3_600_000;
const sessionsOfLinkMax = 200;
const sessionsOfLinksMax = 1_000;

/** The orders of members are valid here: the form has looked at them. */
export function createLink(turn: Turn, { order, single_use, lasts_ms, made_with }: Params): Expected {
  const links = turn.own('payment_link');
  const known = links.find((each) => each.made_with === made_with);
  if (known !== undefined) return { answer: { id: known.id } };
  const refusal = plainHttp(turn, { success_url: order.success_url }) ?? unpayable(turn, order);
  if (refusal !== null) return refusal;
  if (links.length >= linksMax) return refuse('invalid_request');
  const { nowMs, serviceMs } = turn.asked;
  const { id } = turn.put<Link>({
    ...turn.fresh('payment_link'),
    amount: order.amount,
    currency: order.currency,
    payment_method_types: order.payment_method_types,
    description: order.description ?? null,
    client_reference_id: order.client_reference_id ?? null,
    success_url: order.success_url,
    single_use,
    paused: false,
    ends_at_ms: lasts_ms === null ? null : nowMs + lasts_ms,
    deadline_ms: lasts_ms === null ? null : serviceMs + lasts_ms,
    ...{ session: null, made_in_hour: null, made_with },
  });
  return { answer: { id } };
}

export function pauseLink(turn: Turn, { paused }: Params, id: string): Expected {
  if (own(turn, 'payment_link', id) === null) return refuse('resource_missing');
  turn.change('payment_link', id, { paused });
  return { answer: { id } };
}

export function removeLink(turn: Turn, _params: Params, id: string): Expected {
  const link = own(turn, 'payment_link', id);
  if (link === null) return refuse('resource_missing');
  turn.remove(link);
  return { answer: { id } };
}

export function openLink(turn: Turn, _params: Params, id: string): Expected {
  const link = own(turn, 'payment_link', id);
  if (link === null) return refuse('resource_missing');
  const { serviceMs } = turn.asked;
  const before = turn.get('checkout_session', link.session);
  const isUsed = link.single_use && before?.status === 'complete';
  const hasEnded = link.deadline_ms !== null && serviceMs >= link.deadline_ms;
  if (isUsed || hasEnded || link.paused) return refuse('invalid_request');
  if (link.single_use) {
    endOverdueSession(turn, link.session);
    const current = turn.get('checkout_session', link.session);
    if (current !== undefined && isPayable(turn, current)) return { answer: { session: current.id } };
  }
  const hour = Math.floor(serviceMs / hourMs);
  const countOf = ({ made_in_hour: made }: Link) => (made !== null && made.hour === hour ? made.sessions : 0);
  const inAll = turn.own('payment_link').reduce((sum, each) => sum + countOf(each), 0);
  if (countOf(link) >= sessionsOfLinkMax || inAll >= sessionsOfLinksMax) return refuse('rate_limit_exceeded');
  const made = newSession(turn, orderOf(turn, link));
  if ('refused' in made) return made;
  const session = made.session.id;
  turn.change('payment_link', id, { session, made_in_hour: { hour, sessions: countOf(link) + 1 } });
  return { answer: { session } };
}

function isPayable(turn: Turn, session: RecordOf<'checkout_session'>): boolean {
  if (session.status !== 'open') return false;
  const intent = turn.the('payment_intent', session.payment_intent);
  if (intent.network_call !== null || intent.status === 'processing') return true;
  return intent.status === 'requires_action' || methodsLeft(turn, intent).length > 0;
}

function orderOf({ seconds }: Turn, link: Link): Params {
  const { amount, currency, payment_method_types, success_url, description, client_reference_id } = link;
  const lasts = link.ends_at_ms === null ? Infinity : Math.floor(link.ends_at_ms / 1000) - seconds;
  const metadata = { payment_link: link.id };
  return {
    ...{ amount, currency, payment_method_types, success_url },
    ...{
      description: description ?? undefined,
      client_reference_id: client_reference_id ?? undefined,
      metadata,
    },
    expires_at: seconds + Math.min(24 * 3600, Math.max(30 * 60, lasts)),
    payment_intent_data: { metadata },
  };
}
