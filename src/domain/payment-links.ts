// Payment links: an order that anybody who has the link can pay, once or many times, until its end.
// A checkout session is made behind it when a customer opens it to pay. Links are attacked by
// strangers, so a session that can still be paid serves again where the link is for one payment,
// and there are bounds on the sessions that are made in an hour: behind a link, and behind all.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import {
  paymentLinksMax,
  sessionSecondsMax,
  sessionSecondsMin,
  sessionsBehindLinksHourMax,
  sessionsPerLinkHourMax,
} from '../contract/limits.ts';
import { linkPath } from '../contract/page-paths.ts';
import { type ParamsOf, routeTable } from '../contract/routes/table.ts';
import { validateParams } from '../contract/routes/validate.ts';
import { defined } from '../core/assert.ts';
import { findCardNumber } from '../core/card-number.ts';
import { methodsLeft } from './charge-limits.ts';
import { openSession } from './checkout-sessions.ts';
import { answered, type Context, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { expireOverdue } from './due.ts';
import { recordsOf } from './find.ts';
import { kindIndex, scopeOf } from './indexes.ts';
import { methodsOf, refusePayment, refusePlainHttp } from './payment-intents.ts';
import type { CheckoutSessionRecord, PaymentLinkRecord } from './record.ts';
import type { View } from './view.ts';

export interface NewPaymentLink {
  /** What the sessions behind it are of. */
  readonly order: Pick<
    ParamsOf<'create_checkout_session'>,
    'amount' | 'currency' | 'payment_method_types' | 'success_url' | 'description' | 'client_reference_id'
  >;
  readonly single_use: boolean;
  /** Null: it has no end. */
  readonly lasts_ms: number | null;
  readonly made_with: string;
}

const hourMs = 3_600_000;

/** Whether a customer can pay with a link, and why not. `used`: its one payment was made. */
export type LinkState = 'active' | 'paused' | 'ended' | 'used';

export function linkState(
  view: Pick<View, 'get'>,
  { single_use, paused, deadline_ms, session }: PaymentLinkRecord,
  serviceMs: number,
): LinkState {
  const isPaid = session !== null && view.get('checkout_session', session)?.status === 'complete';
  if (single_use && isPaid) return 'used';
  if (deadline_ms !== null && deadline_ms <= serviceMs) return 'ended';
  return paused ? 'paused' : 'active';
}

/** What its page and the dashboard show of a link. */
export interface LinkView
  extends Pick<
    PaymentLinkRecord,
    | 'id'
    | 'org'
    | 'livemode'
    | 'created'
    | 'amount'
    | 'currency'
    | 'payment_method_types'
    | 'description'
    | 'client_reference_id'
    | 'single_use'
    | 'ends_at_ms'
  > {
  readonly state: LinkState;
  readonly url: string;
}

export function viewLink(
  view: Pick<View, 'get'>,
  link: PaymentLinkRecord,
  serviceMs: number,
  baseUrl: string,
): LinkView {
  const { id, org, livemode, created, amount, currency, payment_method_types } = link;
  const { description, client_reference_id, single_use, ends_at_ms } = link;
  return {
    id,
    org,
    livemode,
    created,
    amount,
    currency,
    payment_method_types,
    description,
    client_reference_id,
    single_use,
    ends_at_ms,
    state: linkState(view, link, serviceMs),
    url: baseUrl + linkPath(id),
  };
}

/** The links of an organization in one mode, newest first. */
export function linksOf(
  view: Pick<View, 'scan'>,
  { org, livemode }: Pick<Context, 'org' | 'livemode'>,
): PaymentLinkRecord[] {
  const index = kindIndex('payment_link', scopeOf(org, livemode));
  return [...recordsOf(view, 'payment_link', index, { descending: true })];
}

/** An order is valid when a session can be of it. */
const sessionRoute = defined(
  routeTable.find(({ operation }) => operation === 'create_checkout_session'),
  'the route of sessions',
);

export function createPaymentLink(draft: Draft, params: NewPaymentLink): Outcome {
  const { context } = draft;
  const { order, single_use, lasts_ms, made_with } = params;
  const links = linksOf(draft.view, context);
  const known = links.find((link) => link.made_with === made_with);
  if (known !== undefined) return answered({ id: known.id });
  const given = Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined));
  const refusal =
    validateParams(sessionRoute, given) ??
    refuseCardNumber(given) ??
    refusePlainHttp(context, { success_url: order.success_url }) ??
    refusePayment(draft, order);
  if (refusal !== null) return refused(refusal);
  if (links.length >= paymentLinksMax) {
    const values = { max: paymentLinksMax };
    return refused(refuse('invalid_request', { message: 'invalid_request.payment_links', values }));
  }
  const { id } = draft.put<PaymentLinkRecord>({
    kind: 'payment_link',
    id: context.newId('payment_link'),
    org: context.org,
    livemode: context.livemode,
    created: Math.floor(context.nowMs / 1000),
    amount: order.amount,
    currency: order.currency,
    payment_method_types: methodsOf(order),
    description: order.description ?? null,
    client_reference_id: order.client_reference_id ?? null,
    success_url: order.success_url,
    single_use,
    paused: false,
    ends_at_ms: lasts_ms === null ? null : context.nowMs + lasts_ms,
    deadline_ms: lasts_ms === null ? null : context.serviceMs + lasts_ms,
    session: null,
    made_in_hour: null,
    made_with,
  });
  return answered({ id });
}

/**
 * The body of a request of the API is searched before its parameters are read; a form of the
 * dashboard is not.
 */
function refuseCardNumber(texts: Readonly<Record<string, unknown>>): Refusal | null {
  for (const [param, text] of Object.entries(texts)) {
    if (typeof text === 'string' && findCardNumber(text))
      return refuse('parameter_invalid', { param, message: 'parameter_invalid.card_number' });
  }
  return null;
}

/** A customer who has opened it already can still pay. */
export function pausePaymentLink(
  draft: Draft,
  { paused }: { readonly paused: boolean },
  link: PaymentLinkRecord,
): Outcome {
  draft.put<PaymentLinkRecord>({ ...link, paused });
  return answered({ id: link.id });
}

export function removePaymentLink(draft: Draft, _params: object, link: PaymentLinkRecord): Outcome {
  draft.remove(link);
  return answered({ id: link.id });
}

/** Answers the session in which the customer pays. */
export function openPaymentLink(draft: Draft, _params: object, link: PaymentLinkRecord): Outcome {
  const { context } = draft;
  const state = linkState(draft.view, link, context.serviceMs);
  if (state !== 'active') {
    const values = { state };
    return refused(refuse('invalid_request', { message: 'invalid_request.link_state', values }));
  }
  const current = link.single_use && link.session !== null ? payable(draft, link.session) : null;
  if (current !== null) return answered({ session: current.id });
  const hour = Math.floor(context.serviceMs / hourMs);
  const made = madeInHour(link, hour);
  if (made >= sessionsPerLinkHourMax) return refused(tooMany(context, hour));
  const madeInAll = linksOf(draft.view, context).reduce((total, each) => total + madeInHour(each, hour), 0);
  if (madeInAll >= sessionsBehindLinksHourMax) return refused(tooMany(context, hour));
  const opened = openSession(draft, orderOf(link, context));
  if ('refusal' in opened) return opened;
  const { id: session } = opened.session;
  draft.put<PaymentLinkRecord>({ ...link, session, made_in_hour: { hour, sessions: made + 1 } });
  return answered({ session });
}

function madeInHour({ made_in_hour: made }: PaymentLinkRecord, hour: number): number {
  return made?.hour === hour ? made.sessions : 0;
}

function tooMany({ serviceMs }: Context, hour: number): Refusal {
  const wait = Math.ceil(((hour + 1) * hourMs - serviceMs) / 60_000);
  const message = 'rate_limit_exceeded.payment_link';
  return refuse('rate_limit_exceeded', { message, values: { wait }, retryAfterSeconds: wait * 60 });
}

/**
 * The session, while it can be paid or its payment is under way. One whose time is up expires
 * first: its charge could still be paid.
 */
function payable(draft: Draft, id: string): CheckoutSessionRecord | null {
  const session = expireOverdue(draft, draft.require('checkout_session', id));
  if (session.status !== 'open') return null;
  const intent = draft.require('payment_intent', session.payment_intent);
  if (intent.status === 'processing' || intent.network_call !== null) return session;
  return intent.status === 'requires_action' || methodsLeft(draft.view, intent).length > 0 ? session : null;
}

/**
 * A session ends with its link, but lasts as long as any session has to. Its payment names the link
 * in its metadata.
 */
function orderOf(link: PaymentLinkRecord, { nowMs }: Context): ParamsOf<'create_checkout_session'> {
  const { amount, currency, payment_method_types, success_url, description, client_reference_id } = link;
  const nowSeconds = Math.floor(nowMs / 1000);
  const endSeconds = link.ends_at_ms === null ? Infinity : Math.floor(link.ends_at_ms / 1000);
  const lasts = Math.min(Math.max(endSeconds - nowSeconds, sessionSecondsMin), sessionSecondsMax);
  const metadata = { payment_link: link.id };
  return {
    amount,
    currency,
    payment_method_types: [...payment_method_types],
    success_url,
    ...(description !== null && { description }),
    ...(client_reference_id !== null && { client_reference_id }),
    expires_at: nowSeconds + lasts,
    metadata,
    payment_intent_data: { metadata },
  };
}
