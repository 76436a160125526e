// A record of each kind with every field filled in, as the golden files hold them. Written by `npm run golden`, which
// adds a file for the layouts of today: run it when a layout has changed and its upcaster is there.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordKind, RecordOf } from '../../src/domain/record.ts';
import { encodeRecord } from '../../src/journal/record-layout.ts';

const common = { org: 'org_000000000000000000000001', livemode: true, created: 1_790_000_000 };
const deadline = { expires_at_ms: 1_790_000_100_000, deadline_ms: 5_000, due_at_ms: 6_000 };
const metadata = { order_id: 'order-1042', cart: 'سلة' };
const digest = (byte: number) => Buffer.alloc(16, byte);

export const goldenRecords: { readonly [K in RecordKind]: RecordOf<K> } = {
  payment_intent: {
    ...common,
    kind: 'payment_intent',
    id: 'pi_1',
    amount: 12_000,
    amount_received: 0,
    currency: 'mad',
    status: 'requires_payment_method',
    payment_method_types: ['card', 'cash'],
    latest_charge: 'ch_1',
    customer: 'cus_1',
    description: 'Order 1042',
    metadata,
    last_payment_error: {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      message: 'The card was declined.',
      charge: 'ch_1',
    },
    return_url: 'https://shop.example/back',
    canceled_at: 1_790_000_001,
    cancellation_reason: 'duplicate',
    checkout_session: 'cs_1',
    network_call: 'op_1',
  },
  charge: {
    ...common,
    ...deadline,
    kind: 'charge',
    id: 'ch_1',
    amount: 12_000,
    amount_refunded: 1_000,
    amount_refund_pending: 500,
    currency: 'mad',
    status: 'succeeded',
    method: 'card',
    payment_intent: 'pi_1',
    failure_code: 'card_declined',
    failure_message: 'The card was declined.',
    decline_code: 'insufficient_funds',
    card: { brand: 'visa', last4: '4242', exp_month: 9, exp_year: 2032 },
    cash_number: '123456789012',
    cash_agent: 'agent',
    challenge_token: 'token',
    authorization: 'op_1',
    metadata,
  },
  checkout_session: {
    ...common,
    ...deadline,
    kind: 'checkout_session',
    id: 'cs_1',
    amount: 12_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    payment_intent: 'pi_1',
    status: 'open',
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/basket',
    customer: 'cus_1',
    client_reference_id: 'cart-1',
    description: 'Order 1042',
    locale: 'ar',
    metadata,
  },
  customer: {
    ...common,
    kind: 'customer',
    id: 'cus_1',
    email: 'amina@example.com',
    name: 'Amina',
    phone: '+212600000000',
    description: 'Regular',
    metadata: Object.fromEntries([...Object.entries(metadata), ['__proto__', 'ordinary']]),
    deleted: false,
  },
  refund: {
    ...common,
    kind: 'refund',
    id: 're_1',
    amount: 1_000,
    currency: 'mad',
    charge: 'ch_1',
    payment_intent: 'pi_1',
    reason: 'duplicate',
    status: 'failed',
    failure_reason: 'account closed',
    metadata,
  },
  review: {
    ...common,
    kind: 'review',
    id: 'prv_1',
    payment_intent: 'pi_1',
    charge: 'ch_1',
    open: false,
    reason: 'amount_mismatch',
    amount_expected: 12_000,
    amount_received: 11_000,
    closed_reason: 'refunded',
  },
  event: {
    ...common,
    kind: 'event',
    id: 'evt_1',
    type: 'payment_intent.created',
    api_version: '2026-11-01',
    object_json: '{"id":"pi_1"}',
    request_id: 'req_1',
    idempotency_key: 'order-1042',
  },
  webhook_endpoint: {
    ...common,
    kind: 'webhook_endpoint',
    id: 'we_1',
    url: 'https://shop.example/hooks',
    enabled_events: ['payment_intent.succeeded'],
    status: 'enabled',
    draining: false,
    metadata,
    api_version: '2026-11-01',
    secrets: [{ sealed: 'sealed', expires_at_ms: null }],
  },
  delivery: {
    ...common,
    kind: 'delivery',
    id: 'whd_1',
    endpoint: 'we_1',
    event: 'evt_1',
    event_type: 'payment_intent.created',
    status: 'pending',
    due_at_ms: 7_000,
    ended_at_ms: 8_000,
    attempt_count: 3,
    tries: 2,
  },
  attempt: {
    ...common,
    kind: 'attempt',
    id: 'wha_1',
    delivery: 'whd_1',
    at_ms: 1_790_000_000_123,
    duration_ms: 12,
    status: 500,
    failure: 'status 500',
    answer: 'no',
  },
  network_call: {
    ...common,
    kind: 'network_call',
    id: 'op_1',
    action: 'open_card_page',
    payment_intent: 'pi_1',
    charge: 'ch_1',
    refund: 're_1',
    card_token: 'token',
    cash_number: '123456789012',
    return_url: 'https://shop.example/back',
    accepted: true,
    request: {
      request_id: 'req_1',
      idempotency_key: 'order-1042',
      key_digest: digest(1),
      fingerprint: digest(2),
      resolved_defaults: { payment_method_type: 'card' },
      language: 'fr',
      api_version: '2026-11-01',
    },
  },
};

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const [name] = process.argv.slice(2);
  if (name === undefined)
    throw new Error('name the file after the version that it is of: npm run golden -- 2026-11-22');
  const folder = join(import.meta.dirname, 'golden');
  mkdirSync(folder, { recursive: true });
  const golden = Object.entries(goldenRecords).map(([kind, record]) => [
    kind,
    encodeRecord(record).toString('hex'),
  ]);
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(Object.fromEntries(golden), null, 2)}\n`);
}
