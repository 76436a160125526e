// Records as clients are shown them, written from the published tables of fields.

import type { RecordOf, StoredRecord } from '../../../src/domain/record.ts';

type Intent = RecordOf<'payment_intent'>;
type Charge = RecordOf<'charge'>;

function pick(record: StoredRecord, object: string, names: string): Record<string, unknown> {
  const fields = record as unknown as Record<string, unknown>;
  const shown = names.split(' ').map((name) => [name, name === 'object' ? object : fields[name]]);
  return Object.fromEntries(shown);
}

/** `charge` is the latest one, for which the customer may have to do something. */
export function showIntent(intent: Intent, charge: Charge | undefined, baseUrl: string): object {
  const names = [
    'id object created livemode amount amount_received currency status payment_method_types latest_charge',
    'customer description metadata last_payment_error next_action',
    'canceled_at cancellation_reason checkout_session',
  ];
  const isOpen = intent.status === 'requires_action' && charge !== undefined;
  const next_action = isOpen ? nextAction(intent, charge, baseUrl) : null;
  return { ...pick(intent, 'payment_intent', names.join(' ')), next_action };
}

function nextAction({ return_url }: Intent, charge: Charge, baseUrl: string): object {
  const { id, method, cash_number: number, expires_at_ms: endsMs } = charge;
  if (method === 'card')
    return { type: 'redirect_to_url', redirect_to_url: { url: `${baseUrl}/pay/${id}`, return_url } };
  const hosted_voucher_url = `${baseUrl}/voucher/${id}`;
  const details = { number, hosted_voucher_url, expires_at: Math.floor(endsMs / 1000) };
  return { type: 'cash_display_details', cash_display_details: details };
}

export function showSession(session: RecordOf<'checkout_session'>, baseUrl: string): object {
  const names = [
    'id object created livemode amount currency payment_method_types payment_intent payment_status status url',
    'success_url cancel_url customer client_reference_id description locale expires_at metadata',
  ];
  return {
    ...pick(session, 'checkout.session', names.join(' ')),
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    url: session.status === 'open' ? `${baseUrl}/checkout/${session.id}` : null,
    expires_at: Math.floor(session.expires_at_ms / 1000),
  };
}

export function showCharge(charge: Charge): object {
  const names = [
    'id object created livemode amount amount_refunded currency status paid refunded failure_code',
    'failure_message decline_code payment_intent payment_method_details metadata',
  ];
  const { status, method, card, cash_number: number, cash_agent: agent } = charge;
  const payment_method_details =
    method === 'card' ? { type: method, card } : { type: method, cash: { number, agent } };
  return {
    ...pick(charge, 'charge', names.join(' ')),
    paid: status === 'succeeded',
    refunded: status === 'succeeded' && charge.amount_refunded >= charge.amount,
    payment_method_details,
  };
}

export function showRefund(refund: RecordOf<'refund'>): object {
  const names =
    'id object created livemode amount currency charge payment_intent reason status failure_reason metadata';
  return pick(refund, 'refund', names);
}

export function showReview(review: RecordOf<'review'>): object {
  const names = [
    'id object created livemode payment_intent charge open reason',
    'amount_expected amount_received currency_received closed_reason',
  ];
  return pick(review, 'review', names.join(' '));
}

export function showCustomer(customer: RecordOf<'customer'>): object {
  if (customer.deleted) return { id: customer.id, object: 'customer', deleted: true };
  return pick(customer, 'customer', 'id object created livemode email name phone description metadata');
}

export function showEndpoint(endpoint: RecordOf<'webhook_endpoint'>, secret: unknown = null): object {
  const names = 'id object created livemode url enabled_events status metadata api_version secret';
  return { ...pick(endpoint, 'webhook_endpoint', names), secret };
}

/** `pending` are the deliveries that wait, without those to endpoints that are gone. */
export function showEvent(event: RecordOf<'event'>, pending: number): object {
  const { id, type, api_version, created, livemode, org, request_id, idempotency_key } = event;
  return {
    ...{ id, object: 'event', type, api_version, created, livemode, organization: org },
    ...(event.sample && { sample: true }),
    data: { object: JSON.parse(event.object_json) },
    request: { id: request_id, idempotency_key },
    pending_webhooks: pending,
  };
}
