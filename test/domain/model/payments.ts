// Payment intents and checkout sessions: how they are made, changed, tried and ended.

import type { RecordKind, RecordOf } from '../../../src/domain/record.ts';
import { cashCodeCheck } from './cash-codes.ts';
import { closeCharge, isOver } from './charges.ts';
import { canceledUnpaid } from './failures.ts';
import { showIntent, showSession } from './resources.ts';
import { type Expected, refuse, type Turn } from './turn.ts';

// biome-ignore lint/suspicious/noExplicitAny: the parameters of any command.
export type Params = any;
type Intent = RecordOf<'payment_intent'>;
type Method = Intent['payment_method_types'][number];
type Refused = ReturnType<typeof refuse>;

const minimum = { card: 100, cash: 10_000 };
const keysMax = 50;
const cardsMax = 10;
const chargesMax = 50;

/** The record that a caller names, if it is the caller's. */
export function own<K extends RecordKind>(turn: Turn, kind: K, id: string): RecordOf<K> | null {
  const record = turn.get(kind, id);
  return record !== undefined && turn.isOwn(record) ? record : null;
}

export function metadataOf(before: object, sent: object = {}): Record<string, string> {
  const merged: Record<string, string> = { ...before, ...sent };
  for (const key of Object.keys(merged)) if (merged[key] === '') delete merged[key];
  return merged;
}

/** The metadata that an update leaves, or why it can't. */
export function mergedMetadata(before: object, sent: object | undefined) {
  const metadata = metadataOf(before, sent);
  return Object.keys(metadata).length > keysMax ? refuse('parameter_invalid', 'metadata') : { metadata };
}

export function newText(before: string | null, sent: string | undefined): string | null {
  return sent === undefined ? before : sent || null;
}

/** Live mode sends nobody back over plain HTTP. */
export function plainHttp(turn: Turn, addresses: Record<string, string | undefined>): Refused | null {
  if (!turn.asked.livemode) return null;
  for (const [name, address] of Object.entries(addresses))
    if (address?.toLowerCase().startsWith('http:')) return refuse('parameter_invalid', name);
  return null;
}

export function unpayable(turn: Turn, params: Params): Refused | null {
  const methods: Method[] = params.payment_method_types;
  if (methods.some((method) => params.amount < minimum[method])) return refuse('amount_too_small', 'amount');
  if (methods.some((method) => !turn.asked.account.methods[method]))
    return refuse('payment_method_unavailable', 'payment_method_types');
  if (params.customer === undefined) return null;
  const customer = own(turn, 'customer', params.customer);
  return customer === null || customer.deleted ? refuse('resource_missing', 'customer') : null;
}

function newIntent(turn: Turn, params: Params, session: string | null): Intent {
  const intent = turn.put<Intent>({
    ...turn.fresh('payment_intent'),
    amount: params.amount,
    amount_received: 0,
    currency: params.currency,
    status: 'requires_payment_method',
    payment_method_types: params.payment_method_types,
    latest_charge: null,
    customer: params.customer ?? null,
    description: params.description ?? null,
    metadata: metadataOf({}, params.metadata),
    ...{ last_payment_error: null, return_url: null, canceled_at: null, cancellation_reason: null },
    checkout_session: session,
    network_call: null,
  });
  turn.emit('payment_intent.created', shown(turn, intent));
  return intent;
}

/** As it is shown now. */
export function shown(turn: Turn, intent: Intent): object {
  return showIntent(intent, turn.get('charge', intent.latest_charge), turn.asked.settings.baseUrl);
}

export function createIntent(turn: Turn, params: Params): Expected {
  return unpayable(turn, params) ?? { answer: shown(turn, newIntent(turn, params, null)) };
}

export function updateIntent(turn: Turn, params: Params, id: string): Expected {
  const intent = own(turn, 'payment_intent', id);
  if (intent === null) return refuse('resource_missing');
  if (intent.network_call !== null) return refuse('payment_intent_busy');
  const merged = mergedMetadata(intent.metadata, params.metadata);
  if ('refused' in merged) return merged;
  const description = newText(intent.description, params.description);
  return { answer: shown(turn, turn.change('payment_intent', id, { ...merged, description })) };
}

export function blocked(intent: Intent, ...allowed: readonly Intent['status'][]): Refused | null {
  if (intent.network_call !== null) return refuse('payment_intent_busy');
  return allowed.includes(intent.status) ? null : refuse('payment_intent_unexpected_state');
}

export function confirm(turn: Turn, params: Params, id: string): Expected {
  const intent = own(turn, 'payment_intent', id);
  if (intent === null) return refuse('resource_missing');
  const { return_url } = params;
  const plain = plainHttp(turn, { return_url });
  if (plain !== null) return plain;
  const methods = intent.payment_method_types;
  const method: Method | undefined =
    params.payment_method_type ?? (methods.length === 1 ? methods[0] : undefined);
  if (method === undefined) return refuse('parameter_missing', 'payment_method_type');
  if (!methods.includes(method)) return refuse('parameter_invalid', 'payment_method_type');
  return openAttempt(turn, intent, method, return_url ?? null);
}

export function methodsLeft(turn: Turn, intent: Intent): readonly Method[] {
  const charges = [...turn.everybodys('charge')].filter((each) => each.payment_intent === intent.id);
  const cards = charges.filter((each) => each.card !== null || each.decline_code !== null).length;
  return intent.payment_method_types.filter(
    (method) => charges.length < chargesMax && (method === 'cash' || cards < cardsMax),
  );
}

export function openAttempt(turn: Turn, intent: Intent, method: Method, return_url: string | null): Expected {
  const refusal = blocked(intent, 'requires_payment_method');
  if (refusal !== null) return refusal;
  if (!turn.asked.account.methods[method]) return refuse('payment_method_unavailable', 'payment_method_type');
  if (!methodsLeft(turn, intent).includes(method))
    return refuse('payment_intent_unexpected_state', 'payment_method_type');
  const call = turn.call(method === 'card' ? 'open_card_page' : 'issue_cash_code', {
    payment_intent: intent.id,
    cash_number: method === 'card' ? null : cashCodeCheck(turn),
    return_url,
    request: turn.asked.request,
  });
  turn.change('payment_intent', intent.id, { network_call: call.id });
  return { waitsFor: call.id };
}

/** The attempt that is open is given up, the intent is canceled, and its session has ended. */
export function end(turn: Turn, id: string, reason: Intent['cancellation_reason']): Intent {
  const intent = turn.the('payment_intent', id);
  const charge = turn.get('charge', intent.latest_charge);
  if (charge?.status === 'pending') giveUp(turn, charge.id);
  const canceled = turn.change('payment_intent', id, {
    status: 'canceled',
    canceled_at: turn.seconds,
    cancellation_reason: reason,
  });
  turn.emit('payment_intent.canceled', shown(turn, canceled));
  endSession(turn, canceled, 'expired');
  return canceled;
}

export function giveUp(turn: Turn, id: string): void {
  const charge = closeCharge(turn, id, canceledUnpaid(turn.asked.language));
  if (charge.method === 'cash')
    turn.call('cancel_cash_code', { payment_intent: charge.payment_intent, charge: charge.id });
}

export function endSession(turn: Turn, { checkout_session }: Intent, status: 'complete' | 'expired'): void {
  if (turn.get('checkout_session', checkout_session)?.status !== 'open') return;
  const session = turn.change('checkout_session', checkout_session, { status });
  const type = status === 'complete' ? 'checkout.session.completed' : 'checkout.session.expired';
  turn.emit(type, showSession(session, turn.asked.settings.baseUrl));
}

export function cancel(turn: Turn, params: Params, id: string): Expected {
  const intent = own(turn, 'payment_intent', id);
  if (intent === null) return refuse('resource_missing');
  const refusal = blocked(intent, 'requires_payment_method', 'requires_action');
  return refusal ?? { answer: shown(turn, end(turn, id, params.cancellation_reason ?? null)) };
}

export function newSession(
  turn: Turn,
  params: Params,
): Refused | { readonly session: RecordOf<'checkout_session'> } {
  const { asked, seconds } = turn;
  const endSeconds = params.expires_at ?? seconds + 24 * 3600;
  const lasts = endSeconds - seconds;
  if (lasts < 30 * 60 || lasts > 24 * 3600) return refuse('parameter_invalid', 'expires_at');
  const { success_url, cancel_url } = params;
  const refusal = plainHttp(turn, { success_url, cancel_url }) ?? unpayable(turn, params);
  if (refusal !== null) return refusal;
  const begun = turn.fresh('checkout_session');
  const { amount, currency, payment_method_types, customer } = params;
  const order = { amount, currency, payment_method_types, customer, ...params.payment_intent_data };
  const intent = newIntent(turn, order, begun.id);
  const endsMs = endSeconds * 1000;
  const deadline_ms = asked.serviceMs + (endsMs - asked.nowMs);
  const session = turn.put<RecordOf<'checkout_session'>>({
    ...begun,
    ...{ amount, currency, payment_method_types },
    payment_intent: intent.id,
    status: 'open',
    success_url,
    cancel_url: cancel_url ?? null,
    customer: customer ?? null,
    client_reference_id: params.client_reference_id ?? null,
    description: params.description ?? null,
    locale: params.locale ?? null,
    ...{ expires_at_ms: endsMs, deadline_ms, due_at_ms: deadline_ms },
    metadata: metadataOf({}, params.metadata),
  });
  return { session };
}

export function createSession(turn: Turn, params: Params): Expected {
  const made = newSession(turn, params);
  return 'refused' in made ? made : { answer: showSession(made.session, turn.asked.settings.baseUrl) };
}

export function expireSession(turn: Turn, _params: Params, id: string): Expected {
  const session = own(turn, 'checkout_session', id);
  if (session === null) return refuse('resource_missing');
  if (session.status !== 'open') return refuse('invalid_request');
  const intent = turn.the('payment_intent', session.payment_intent);
  const refusal = blocked(intent, 'requires_payment_method', 'requires_action');
  if (refusal !== null) return refusal;
  end(turn, intent.id, 'expired');
  return { answer: showSession(turn.the('checkout_session', id), turn.asked.settings.baseUrl) };
}

/** A session whose time is up ends, unless its payment is under way. */
export function endOverdueSession(turn: Turn, id: string | null): void {
  const session = turn.get('checkout_session', id);
  if (session?.status !== 'open' || !isOver(turn, session)) return;
  const intent = turn.the('payment_intent', session.payment_intent);
  if (intent.network_call === null && intent.status !== 'processing') end(turn, intent.id, 'expired');
}

export function chooseMethod(turn: Turn, params: Params, id: string): Expected {
  endOverdueSession(turn, id);
  const session = own(turn, 'checkout_session', id);
  if (session === null) return refuse('resource_missing');
  if (session.status !== 'open') return refuse('invalid_request');
  const intent = turn.the('payment_intent', session.payment_intent);
  const takes = intent.payment_method_types.includes(params.method);
  return takes ? openAttempt(turn, intent, params.method, null) : refuse('payment_method_unavailable');
}
