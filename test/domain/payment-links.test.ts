// Payment links: sessions are made when they are opened, a bounded number of them, and a link is paused, ends, and is paid once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cardsPerPaymentMax,
  paymentLinksMax,
  sessionsBehindLinksHourMax,
  sessionsPerLinkHourMax,
} from '../../src/contract/limits.ts';
import { linkState, linksOf, type NewPaymentLink } from '../../src/domain/payment-links.ts';
import { openCharge, typedCard } from './scenes.ts';
import { hourMs, Stage } from './stage.ts';

const order = {
  amount: 35_000,
  currency: 'mad',
  payment_method_types: ['card'],
  success_url: 'https://shop.test/thanks',
  description: 'Lamp',
} as const;

let forms = 0;
function make(stage: Stage, changes: Partial<NewPaymentLink> = {}): string {
  const params = {
    order: { ...order, payment_method_types: [...order.payment_method_types] },
    single_use: false,
    lasts_ms: null,
    made_with: `form-${forms++}`,
    ...changes,
  };
  return stage.given('create_payment_link', params).id;
}

const open = (stage: Stage, link: string): string => stage.given('open_payment_link', {}, link).session;
const stateOf = (stage: Stage, link: string) =>
  linkState(stage.world.state, stage.get('payment_link', link), stage.nowMs);

function pay(stage: Stage, session: string): void {
  const charge = openCharge(stage, stage.get('checkout_session', session).payment_intent);
  stage.given('complete_charge', {}, charge);
}

test('links are listed with the newest first', () => {
  const stage = new Stage();
  const made = [make(stage), make(stage), make(stage)];
  const listed = linksOf(stage.world.state, stage.queryContext).map(({ id }) => id);
  assert.deepEqual(listed, made.toReversed());
});

test('a link makes nothing before it is opened, and then a session of its order that names it', () => {
  const stage = new Stage();
  const link = make(stage);
  assert.equal(stage.get('payment_link', link).session, null);
  const session = stage.get('checkout_session', open(stage, link));
  const { amount, description, success_url, metadata } = session;
  assert.deepEqual(
    { amount, description, success_url, metadata },
    { amount: 35_000, description: 'Lamp', success_url: order.success_url, metadata: { payment_link: link } },
  );
  const intent = stage.get('payment_intent', session.payment_intent);
  assert.deepEqual(intent.metadata, { payment_link: link });
});

test('what a link says of its order goes to the session, and what it does not say is not set', () => {
  const stage = new Stage();
  const said = make(stage, {
    order: {
      ...order,
      payment_method_types: ['card', 'cash'],
      client_reference_id: 'order-7',
      description: 'Lamp',
    },
  });
  const silent = make(stage, {
    order: {
      amount: 10_000,
      currency: 'mad',
      success_url: order.success_url,
      payment_method_types: ['card'],
    },
  });
  for (const [link, expected] of [
    [said, { client_reference_id: 'order-7', description: 'Lamp', payment_method_types: ['card', 'cash'] }],
    [silent, { client_reference_id: null, description: null, payment_method_types: ['card'] }],
  ] as const) {
    const session = stage.get('checkout_session', open(stage, link));
    const { client_reference_id, description } = session;
    const { payment_method_types } = stage.get('payment_intent', session.payment_intent);
    assert.deepEqual({ client_reference_id, description, payment_method_types }, expected);
  }
});

test('a link for one payment has one session at a time, and none after it was paid', () => {
  const stage = new Stage();
  const link = make(stage, { single_use: true });
  const first = open(stage, link);
  for (let i = 0; i < 1_000; i++) assert.equal(open(stage, link), first);
  stage.advance(25 * hourMs);
  stage.given('expire_due', {}, first);
  const second = open(stage, link);
  assert.notEqual(second, first);
  pay(stage, second);
  assert.equal(stateOf(stage, link), 'used');
  stage.when('open_payment_link', {}, link).expect({ refusal: 'invalid_request' });
});

test('a link for one payment makes no other session while its payment is under way, however late that is', () => {
  for (const [how, isKept] of [
    ['nothing was done', false],
    ['a card page is open', false],
    ['the network was asked for a card page', true],
    ['the card was sent', true],
  ] as const) {
    const stage = new Stage();
    const link = make(stage, { single_use: true });
    const session = open(stage, link);
    const { payment_intent: intent } = stage.get('checkout_session', session);
    if (how === 'the network was asked for a card page')
      stage.calls('confirm_payment_intent', { payment_method_type: 'card' }, intent);
    else if (how !== 'nothing was done') {
      const charge = openCharge(stage, intent);
      if (how === 'the card was sent')
        stage.settle(stage.calls('submit_card', typedCard, charge), { result: 'accepted' });
    }
    stage.advance(25 * hourMs);
    assert.equal(open(stage, link) === session, isKept, how);
    assert.equal(stage.get('payment_intent', intent).status === 'canceled', !isKept, how);
  }
});

test('a link for one payment is paid once, also when the network tells of the session before after its end', () => {
  const stage = new Stage();
  const link = make(stage, { single_use: true });
  const first = open(stage, link);
  const { payment_intent: before } = stage.get('checkout_session', first);
  stage.advance(24 * hourMs - 1_000);
  const charge = openCharge(stage, before);
  stage.advance(1_000);
  pay(stage, open(stage, link));
  const { amount, currency } = order;
  const money = { reference: 'T-1', amount, currency, agent: null, card: null, isHeld: false };
  assert.equal(stage.given('receive_money', money, charge).received, 'review');
  assert.equal(stage.get('payment_intent', before).amount_received, 0);
});

test('a link for one payment makes another session when all attempts of the one before are used up', () => {
  const stage = new Stage();
  const link = make(stage, { single_use: true });
  const first = open(stage, link);
  const { payment_intent: intent } = stage.get('checkout_session', first);
  for (let tried = 1; tried <= cardsPerPaymentMax; tried++) {
    const charge = openCharge(stage, intent);
    assert.equal(open(stage, link), first, 'the last card can still be typed');
    const call = stage.calls('submit_card', typedCard, charge);
    assert.equal(open(stage, link), first, 'the network is asked about the last card');
    stage.settle(call, { result: 'accepted' });
    assert.equal(open(stage, link), first, 'the last card may still be taken');
    stage.settle(call, { result: 'declined', decline_code: 'lost_card' });
  }
  const second = open(stage, link);
  assert.notEqual(second, first);
  assert.equal(open(stage, link), second);
  stage
    .when('choose_method', { method: 'card' }, first)
    .expect({ refusal: 'payment_intent_unexpected_state' });
  pay(stage, second);
  assert.equal(stateOf(stage, link), 'used');
});

test('a link for many has a session for each visitor, and a bounded number in an hour', () => {
  const stage = new Stage();
  const link = make(stage);
  const made = Array.from({ length: sessionsPerLinkHourMax }, () => open(stage, link));
  assert.equal(new Set(made).size, sessionsPerLinkHourMax);
  pay(stage, made[0]!);
  assert.equal(stateOf(stage, link), 'active');
  stage.when('open_payment_link', {}, link).expect({ refusal: 'rate_limit_exceeded' });
  stage.advance(hourMs);
  assert.ok(open(stage, link));
});

test('whoever comes to a full link is told when its next hour begins', () => {
  const stage = new Stage();
  const link = make(stage);
  for (let i = 0; i < sessionsPerLinkHourMax; i++) open(stage, link);
  const waitMs = () => {
    const { outcome } = stage.when('open_payment_link', {}, link).expect({ refusal: 'rate_limit_exceeded' });
    assert.ok('refusal' in outcome);
    return outcome.refusal.retryAfterSeconds! * 1000;
  };
  const before = waitMs();
  stage.advance(10 * 60_000);
  assert.equal(waitMs(), before - 10 * 60_000);
  stage.advance(waitMs() - 60_000);
  assert.equal(waitMs(), 60_000);
  stage.advance(60_000);
  assert.ok(open(stage, link));
});

test('one link leaves most of what an organization has to the others, and all together are bounded', () => {
  const stage = new Stage();
  const full = make(stage);
  for (let i = 0; i < sessionsPerLinkHourMax; i++) open(stage, full);
  stage.when('open_payment_link', {}, full).expect({ refusal: 'rate_limit_exceeded' });
  let left = sessionsBehindLinksHourMax - sessionsPerLinkHourMax;
  assert.ok(left >= sessionsPerLinkHourMax, 'strangers at one link do not close the others');
  while (left > 0) {
    const link = make(stage);
    for (let i = 0; i < Math.min(left, sessionsPerLinkHourMax); i++) open(stage, link);
    left -= sessionsPerLinkHourMax;
  }
  const another = make(stage);
  stage.when('open_payment_link', {}, another).expect({ refusal: 'rate_limit_exceeded' });
  const live = stage.as({ livemode: true });
  assert.ok(open(live, make(live)), 'the other mode has sessions of its own');
  stage.advance(hourMs);
  assert.ok(open(stage, another));
});

test('a link is paused and opened again, ends at its time, and is removed', () => {
  const stage = new Stage();
  const link = make(stage, { lasts_ms: 2 * hourMs });
  stage.given('pause_payment_link', { paused: true }, link);
  assert.equal(stateOf(stage, link), 'paused');
  stage.when('open_payment_link', {}, link).expect({ refusal: 'invalid_request' });
  stage.given('pause_payment_link', { paused: false }, link);
  const session = stage.get('checkout_session', open(stage, link));
  assert.equal(session.expires_at_ms, Math.floor((stage.nowMs + 2 * hourMs) / 1000) * 1000, 'with its link');
  stage.advance(2 * hourMs - 60_000);
  const late = stage.get('checkout_session', open(stage, link));
  assert.ok(late.expires_at_ms >= stage.nowMs + 29 * 60_000, 'long enough to pay');
  stage.advance(60_000);
  assert.equal(stateOf(stage, link), 'ended');
  stage.when('open_payment_link', {}, link).expect({ refusal: 'invalid_request' });
  stage.given('remove_payment_link', {}, link);
  stage.when('open_payment_link', {}, link).expect({ refusal: 'resource_missing' });
  assert.deepEqual(linksOf(stage.world.state, stage.queryContext), []);
});

for (const [put, byMs] of [
  ['back', -5 * hourMs],
  ['forward', 5 * hourMs],
] as const)
  test(`a link that is made when the wall clock was put ${put} ends when its time has passed`, () => {
    const stage = new Stage();
    stage.world.clock.set(stage.nowMs + byMs);
    const link = make(stage, { lasts_ms: 2 * hourMs });
    const state = () =>
      linkState(stage.world.state, stage.get('payment_link', link), stage.world.now.serviceMs);
    stage.advance(2 * hourMs - 1);
    assert.equal(state(), 'active');
    stage.given('open_payment_link', {}, link);
    stage.advance(1);
    assert.equal(state(), 'ended');
    stage.when('open_payment_link', {}, link).expect({ refusal: 'invalid_request' });
  });

test('an organization has a bounded number of links, a double click makes one, and an order must be valid', () => {
  const stage = new Stage();
  const first = make(stage, { made_with: 'same' });
  assert.equal(make(stage, { made_with: 'same' }), first);
  const refused = (changes: object, code: string) => {
    const params = { order: { ...order, ...changes }, single_use: true, lasts_ms: null, made_with: 'x' };
    stage.when('create_payment_link', params as unknown as NewPaymentLink).expect({ refusal: code });
  };
  refused({ amount: 99 }, 'amount_too_small');
  refused({ amount: 0.5 }, 'parameter_invalid');
  refused({ description: '4242 4242 4242 4242' }, 'parameter_invalid');
  refused({ description: 'x'.repeat(1_001) }, 'parameter_invalid');
  refused({ success_url: 'javascript:alert(1)' }, 'parameter_invalid');
  for (let i = 1; i < paymentLinksMax; i++) make(stage);
  refused({}, 'invalid_request');
  assert.deepEqual(
    linksOf(stage.as({ livemode: true }).world.state, { org: 'org_other', livemode: false }),
    [],
  );
});
