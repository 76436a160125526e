import assert from 'node:assert/strict';
import { test } from 'node:test';
import { methodOfCall, networkCallOf } from '../../src/domain/network-call.ts';
import type { NetworkCallRecord, StoredRecord } from '../../src/domain/record.ts';
import { RecordStore } from '../../src/store/record-store.ts';

const card = { brand: 'visa', last4: '4242', exp_month: 9, exp_year: 2032 };
const common = { org: 'org_1', livemode: false };
const records = [
  { ...common, kind: 'payment_intent', id: 'pi_1', amount: 5000, currency: 'mad' },
  {
    ...common,
    kind: 'charge',
    id: 'ch_1',
    amount: 5000,
    card,
    authorization: 'op_0',
    expires_at_ms: 8_000,
    receipts: [],
  },
  { ...common, kind: 'charge', id: 'ch_2', cash_number: '000000000001', expires_at_ms: 9_000, receipts: [] },
  { ...common, kind: 'refund', id: 're_1', amount: 1200 },
] as unknown as StoredRecord[];

const state = new RecordStore();
for (const record of records) state.apply(record);

const record: NetworkCallRecord = {
  kind: 'network_call',
  id: 'op_1',
  org: 'org_1',
  livemode: false,
  created: 1_700_000_000,
  action: 'authorize_card',
  payment_intent: 'pi_1',
  charge: 'ch_1',
  refund: null,
  card_token: null,
  cash_number: null,
  return_url: null,
  accepted: false,
  request: null,
};
const call = {
  id: 'op_1',
  org: 'org_1',
  paymentIntent: 'pi_1',
  charge: 'ch_1',
  chargeEndsAtMs: 8_000,
  action: 'authorize_card',
  livemode: false,
  startedAtMs: 1_700_000_000_000,
  amount: 5000,
  currency: 'mad',
  token: null,
  authorization: null,
  card: null,
  cash: null,
};

const rows: readonly [Partial<NetworkCallRecord>, object][] = [
  [{ card_token: 'tok' }, { token: 'tok' }],
  [
    { action: 'open_card_page', charge: null },
    { charge: null, chargeEndsAtMs: null },
  ],
  [
    { action: 'issue_cash_code', charge: null, cash_number: '000000000000' },
    {
      charge: null,
      chargeEndsAtMs: null,
      cash: { number: '000000000000', expiresAtMs: 1_700_000_060_000 },
    },
  ],
  [
    { action: 'cancel_cash_code', charge: 'ch_2' },
    { charge: 'ch_2', chargeEndsAtMs: 9_000, cash: { number: '000000000001', expiresAtMs: 9_000 } },
  ],
  [
    { action: 'refund_charge', refund: 're_1' },
    { amount: 1200, authorization: 'op_0', card },
  ],
];
for (const [changes, expected] of rows) {
  const action = changes.action ?? record.action;
  test(`${action} carries what its call needs`, () => {
    const whole = { ...call, action, ...expected };
    assert.deepEqual(networkCallOf(state, { ...record, ...changes }, 60_000), whole);
  });
}

test('a call without its payment is a bug', () => {
  assert.throws(
    () => networkCallOf(state, { ...record, payment_intent: 'pi_2' }, 0),
    /the payment_intent .* must be there/,
  );
});

test('calls about cash codes are of the cash network, all others of the card network', () => {
  const methods = {
    open_card_page: 'card',
    issue_cash_code: 'cash',
    authorize_card: 'card',
    await_card_payment: 'card',
    capture_charge: 'card',
    release_charge: 'card',
    refund_charge: 'card',
    cancel_cash_code: 'cash',
  } as const satisfies Record<NetworkCallRecord['action'], string>;
  for (const [action, method] of Object.entries(methods))
    assert.equal(methodOfCall({ action: action as NetworkCallRecord['action'] }), method);
});
