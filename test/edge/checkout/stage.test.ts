import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PaymentView } from '../../../src/domain/payment-view.ts';
import { type Stage, stageOf } from '../../../src/edge/checkout/stage.ts';

type Parts = {
  card_page?: 'own' | 'hosted';
  intent?: Partial<PaymentView['intent']>;
  session?: Partial<PaymentView['session'] & object> | null;
  charge?: Partial<PaymentView['charge'] & object> | null;
};

/** A session whose customer is about to choose, with changes. */
function view({
  intent = {},
  session = {},
  charge = null,
  card_page = 'own',
}: Parts): Parameters<typeof stageOf>[0] {
  return {
    card_page,
    org: 'org_1',
    livemode: false,
    amount: 25_000,
    currency: 'mad',
    description: null,
    intent: {
      id: 'pi_1',
      status: 'requires_payment_method',
      cancellation_reason: null,
      busy: false,
      last_payment_error: null,
      payment_method_types: ['card', 'cash'],
      methods_left: ['card', 'cash'],
      return_url: null,
      ...intent,
    },
    session: session && {
      id: 'cs_1',
      status: 'open',
      success_url: 'https://shop.example',
      cancel_url: null,
      locale: null,
      over: false,
      ...session,
    },
    charge: charge && {
      id: 'ch_2',
      status: 'pending',
      method: 'card',
      cash_number: null,
      expires_at_ms: 0,
      settled_at_ms: null,
      over: false,
      challenge: false,
      card: null,
      decline_code: null,
      ...charge,
    },
  };
}

const action = { status: 'requires_action' } as const;
const cash = { method: 'cash', cash_number: '1' } as const;
const choose: Stage = { name: 'choose', path: '/checkout/cs_1' };

const rows: readonly [string, Parts, string, Stage][] = [
  ['a new session', {}, 'cs_1', choose],
  ['a session whose charge failed', { charge: { status: 'failed' } }, 'cs_1', choose],
  ['the page of that charge', { charge: { status: 'failed' } }, 'ch_2', choose],
  [
    'a session that can be tried by one method more',
    { intent: { methods_left: ['cash'] }, charge: { status: 'failed' } },
    'cs_1',
    choose,
  ],
  [
    'a session that was tried too often',
    { intent: { methods_left: [] }, charge: { status: 'failed' } },
    'cs_1',
    { name: 'failed' },
  ],
  ['its last charge', { intent: { ...action, methods_left: [] }, charge: {} }, 'cs_1', choose],
  ['a session whose charge is being opened', { intent: { busy: true } }, 'cs_1', { name: 'opening' }],
  ['a charge whose card did not arrive', { intent: action, charge: {} }, 'cs_1', choose],
  ['the page of that charge, or of an older one', { intent: action, charge: {} }, 'ch_1', choose],
  [
    'a challenge',
    { intent: action, charge: { challenge: true } },
    'ch_2',
    { name: 'challenge', path: '/pay/ch_2' },
  ],
  [
    'a card that is typed on the network’s page',
    { intent: action, charge: {}, card_page: 'hosted' },
    'cs_1',
    { name: 'hosted', path: '/pay/ch_2' },
  ],
  ['the choice before it', { card_page: 'hosted' }, 'cs_1', choose],
  [
    'the page of a charge that is over',
    { intent: action, session: null, charge: { over: true }, card_page: 'hosted' },
    'ch_2',
    { name: 'expired' },
  ],
  ['a cash code', { intent: action, charge: cash }, 'cs_1', { name: 'voucher', path: '/voucher/ch_2' }],
  ['a submitted card', { intent: { status: 'processing' }, charge: {} }, 'ch_2', { name: 'processing' }],
  [
    'a call under way',
    { intent: { status: 'processing', busy: true }, charge: {} },
    'ch_2',
    { name: 'processing' },
  ],
  [
    'a success',
    { intent: { status: 'succeeded' }, charge: { status: 'succeeded' } },
    'ch_2',
    { name: 'paid' },
  ],
  [
    'a success, seen later',
    { intent: { status: 'succeeded' }, session: { over: true } },
    'cs_1',
    { name: 'paid' },
  ],
  ['a canceled payment', { intent: { status: 'canceled' } }, 'cs_1', { name: 'canceled' }],
  [
    'an expired session',
    { intent: { status: 'canceled', cancellation_reason: 'expired' } },
    'cs_1',
    { name: 'expired' },
  ],
  ['a session past its time', { session: { over: true } }, 'cs_1', { name: 'expired' }],
  ['a charge past its time', { intent: action, charge: { over: true } }, 'ch_2', { name: 'expired' }],
  [
    'no session: a card charge',
    { session: null, intent: action, charge: {} },
    'ch_2',
    { name: 'card', path: '/pay/ch_2' },
  ],
  ['no session: an older charge', { session: null, intent: action, charge: {} }, 'ch_1', { name: 'expired' }],
  [
    'no session: a failed charge',
    { session: null, charge: { status: 'failed' } },
    'ch_2',
    { name: 'failed' },
  ],
];
for (const [name, parts, id, expected] of rows) {
  test(name, () => assert.deepEqual(stageOf(view(parts), id), expected));
}
