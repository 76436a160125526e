import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewPayment } from '../../src/domain/payment-view.ts';
import type { ChargeRecord, CheckoutSessionRecord, PaymentIntentRecord } from '../../src/domain/record.ts';
import { RecordStore } from '../../src/store/record-store.ts';

const common = {
  org: 'org_1',
  livemode: false,
  created: 1,
  amount: 5000,
  currency: 'mad' as const,
  metadata: { secret: 'x' },
};

const intent: PaymentIntentRecord = {
  ...common,
  kind: 'payment_intent',
  id: 'pi_1',
  amount_received: 0,
  status: 'requires_action',
  payment_method_types: ['card'],
  latest_charge: 'ch_2',
  customer: 'cus_1',
  description: 'Order 17',
  last_payment_error: null,
  return_url: null,
  canceled_at: null,
  cancellation_reason: null,
  checkout_session: 'cs_1',
  network_call: null,
};
const session: CheckoutSessionRecord = {
  ...common,
  kind: 'checkout_session',
  id: 'cs_1',
  payment_method_types: ['card'],
  payment_intent: 'pi_1',
  status: 'open',
  success_url: 'https://shop.example/thanks',
  cancel_url: null,
  customer: 'cus_1',
  client_reference_id: 'private',
  description: null,
  locale: 'fr',
  expires_at_ms: 9000,
  deadline_ms: 9200,
  due_at_ms: 9500,
};
const charge: ChargeRecord = {
  ...common,
  kind: 'charge',
  id: 'ch_2',
  amount_refunded: 0,
  amount_refund_pending: 0,
  status: 'pending',
  method: 'card',
  payment_intent: 'pi_1',
  failure_code: null,
  failure_message: null,
  decline_code: null,
  card: { brand: 'visa', last4: '4242', exp_month: 9, exp_year: 2032 },
  cash_number: null,
  cash_agent: null,
  receipts: [],
  challenge_token: 'secret',
  authorization: null,
  settled_at_ms: null,
  expires_at_ms: 8000,
  deadline_ms: 8000,
  due_at_ms: 8000,
};

function stateOf(...records: Parameters<RecordStore['apply']>[0][]): RecordStore {
  const state = new RecordStore();
  for (const record of records) state.apply(record);
  return state;
}

const shown = {
  org: 'org_1',
  livemode: false,
  amount: 5000,
  currency: 'mad' as const,
  description: 'Order 17',
  intent: {
    id: 'pi_1',
    status: 'requires_action',
    cancellation_reason: null,
    busy: false,
    last_payment_error: null,
    payment_method_types: ['card'],
    methods_left: ['card'],
    return_url: null,
  },
  session: {
    id: 'cs_1',
    status: 'open',
    success_url: 'https://shop.example/thanks',
    cancel_url: null,
    locale: 'fr',
    over: false,
  },
  charge: {
    id: 'ch_2',
    status: 'pending',
    method: 'card',
    cash_number: null,
    expires_at_ms: 8000,
    settled_at_ms: null,
    over: true,
    challenge: true,
    card: { brand: 'visa', last4: '4242', exp_month: 9, exp_year: 2032 },
    decline_code: null,
  },
};

test('a session, its latest charge and an older one all show the same payment', () => {
  const state = stateOf(intent, session, charge, { ...charge, id: 'ch_1', status: 'failed' });
  for (const id of ['cs_1', 'ch_2', 'ch_1']) assert.deepEqual(viewPayment(state, id, 8000), shown, id);
});

test('a payment without a session or a charge has null there', () => {
  const bare = { ...intent, checkout_session: null, network_call: 'op_1' };
  const seen = viewPayment(stateOf(bare, charge), 'ch_2', 0)!;
  assert.deepEqual([seen.session, seen.intent.busy], [null, true]);
  const fresh = viewPayment(stateOf({ ...intent, latest_charge: null }, session), 'cs_1', 0)!;
  assert.equal(fresh.charge, null);
});

test('nothing else has such a page', () => {
  const state = stateOf(intent, session, charge);
  for (const id of ['pi_1', 'cs_2', 'ch_9', '']) assert.equal(viewPayment(state, id, 0), null, id);
});
