// What the comparison with PostgreSQL stores and answers: objects with the fields and about the size of the service's.

import { createHash, randomBytes } from 'node:crypto';

export interface Creation {
  readonly amount: number;
  readonly currency: string;
  readonly payment_method_types: string[];
  readonly metadata: Record<string, string>;
}

export interface IntentRow extends Creation {
  readonly id: string;
  readonly amount_received: number;
  readonly status: string;
  readonly latest_charge: string | null;
  readonly next_action: object | null;
  readonly created: Date;
}

export interface ChargeRow {
  readonly id: string;
  readonly payment_intent: string;
  readonly amount: number;
  readonly status: string;
  readonly created: Date;
}

export interface Event {
  readonly type: string;
  readonly object: object;
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

let count = 0;

/** Ids in the order of their time, as the service's are. */
export function newId(prefix: string): string {
  const place = (count++).toString(36).padStart(8, '0');
  return `${prefix}_${Date.now().toString(36)}${place}${randomBytes(8).toString('hex')}`;
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1_000);

export function presentIntent(row: IntentRow): object {
  return {
    id: row.id,
    object: 'payment_intent',
    created: seconds(row.created),
    livemode: false,
    amount: row.amount,
    amount_received: row.amount_received,
    currency: row.currency,
    status: row.status,
    payment_method_types: row.payment_method_types,
    latest_charge: row.latest_charge,
    customer: null,
    description: null,
    metadata: row.metadata,
    last_payment_error: null,
    next_action: row.next_action,
    canceled_at: null,
    cancellation_reason: null,
    checkout_session: null,
  };
}

export function presentCharge(row: ChargeRow): object {
  return {
    id: row.id,
    object: 'charge',
    created: seconds(row.created),
    livemode: false,
    amount: row.amount,
    amount_refunded: 0,
    currency: 'mad',
    status: row.status,
    paid: row.status === 'succeeded',
    refunded: false,
    failure_code: null,
    failure_message: null,
    decline_code: null,
    payment_intent: row.payment_intent,
    payment_method_details: {
      type: 'card',
      card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 },
    },
    metadata: {},
  };
}

/** An event as it is stored and delivered. */
export function eventText(
  event: Event & { readonly id: string },
  organization: string,
  cause: object,
): string {
  return JSON.stringify({
    id: event.id,
    object: 'event',
    type: event.type,
    api_version: '2026-11-01',
    created: Math.floor(Date.now() / 1_000),
    livemode: false,
    organization,
    data: { object: event.object },
    request: cause,
    pending_webhooks: 1,
  });
}
