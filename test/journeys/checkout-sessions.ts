// Checkout sessions, from the merchant's request to the customer's return or the end of the session.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../service.ts';
import { Customer, challengedCard, goodCard, poorCard } from './customer.ts';
import { openShop } from './shop.ts';

export function checkoutSessions(service: () => Service): void {
  test('a session paid by card at the second try', async () => {
    const shop = await openShop(service());
    const own = { client_reference_id: 'cart-7', description: 'Basket', metadata: { cart: '7' } };
    const payment_intent_data = { description: 'Order 7', metadata: { order: '7' } };
    const session = await shop.createSession({ ...own, payment_intent_data, locale: 'fr' });
    assert.deepEqual(
      [session.status, session.payment_status, session.client_reference_id, session.description],
      ['open', 'unpaid', 'cart-7', 'Basket'],
    );
    const customer = new Customer();
    const choice = await customer.open(session.url);
    assert.match(choice.html, /<html lang="fr" dir="ltr">/);
    assert.match(choice.html, /href="https:\/\/shop\.example\/basket"/);
    const declined = await customer.send(poorCard);
    assert.deepEqual([declined.status, declined.at], [402, session.url], 'still on the page');
    const paid = await customer.send(goodCard);
    const thanks = `https://shop.example/thanks?session=${session.id}`;
    assert.ok(paid.html.includes(`http-equiv="refresh" content="0; url=${thanks}"`));

    const complete = await shop.do('retrieve_checkout_session', { id: session.id });
    assert.deepEqual(complete, { ...session, status: 'complete', payment_status: 'paid', url: null });
    const intent = await shop.do('retrieve_payment_intent', { id: session.payment_intent });
    assert.deepEqual(
      [intent.status, intent.checkout_session, intent.last_payment_error],
      ['succeeded', session.id, null],
    );
    assert.deepEqual([intent.description, intent.metadata], ['Order 7', { order: '7' }]);
    const events = await shop.news();
    assert.deepEqual(
      events.slice(-3).map(({ type }) => type),
      ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.completed'],
    );
    assert.deepEqual(events.at(-1).data.object, complete);
    await shop.refused('invalid_request', 'expire_checkout_session', { id: session.id });
  });

  test('a session paid in cash stays open for as long as the code', async () => {
    const shop = await openShop(service());
    const session = await shop.createSession();
    const customer = new Customer();
    await customer.open(session.url);
    const voucher = await customer.send({ method: 'cash' });
    assert.match(voucher.at, /\/voucher\/ch_\w+$/);
    const { next_action } = await shop.do('retrieve_payment_intent', { id: session.payment_intent });
    const { number, hosted_voucher_url, expires_at } = next_action.cash_display_details;
    assert.equal(voucher.at, hosted_voucher_url);
    const open = await shop.do('retrieve_checkout_session', { id: session.id });
    assert.deepEqual([open.status, open.expires_at], ['open', expires_at]);
    await shop.do('pay_cash', { number, amount: 20_000 });
    const complete = await shop.do('retrieve_checkout_session', { id: session.id });
    assert.deepEqual([complete.status, complete.payment_status], ['complete', 'paid']);
    assert.match((await customer.open(session.url)).title, /Payment complete/);
  });

  test('the customer changes the method twice; money for the code that was given up opens a review', async () => {
    const shop = await openShop(service());
    const session = await shop.createSession();
    const intentNow = () => shop.do('retrieve_payment_intent', { id: session.payment_intent });
    const customer = new Customer();
    await customer.open(session.url);
    const challenge = await customer.send(challengedCard);
    assert.match(challenge.at, /\/pay\/ch_\w+/);
    assert.equal((await customer.chooseAgain()).at, session.url);
    await customer.send({ method: 'cash' });
    const { latest_charge: code, next_action } = await intentNow();
    const choice = await customer.chooseAgain();
    assert.doesNotMatch(choice.html, /role="alert"/);
    const { status, last_payment_error } = await intentNow();
    assert.deepEqual([status, last_payment_error], ['requires_payment_method', null]);
    const { failure_code } = await shop.do('retrieve_charge', { id: code });
    assert.equal(failure_code, 'payment_attempt_canceled');
    const { number } = next_action.cash_display_details;
    await shop.do('pay_cash', { number, amount: 20_000 });
    const [review] = (await shop.do('list_reviews')).data;
    assert.deepEqual([review.reason, review.charge], ['late_payment', code]);
    await customer.send(challengedCard);
    const byOtherMethod = { id: session.payment_intent, payment_method_type: 'cash' as const };
    await shop.refused('payment_intent_unexpected_state', 'confirm_payment_intent', byOtherMethod);
    await customer.send({ answer: 'pass' }, '/challenge');
    assert.equal((await intentNow()).status, 'succeeded');
    assert.match((await customer.open(challenge.at)).title, /Payment complete/);
    const [opened, abandoned, events] = ['payment_intent.requires_action', 'charge.failed', shop.news()];
    const told = (await events).map(({ type, request }) => [type, request.id === null]);
    assert.deepEqual(told, [
      ['payment_intent.created', false],
      [opened, true],
      [abandoned, true],
      [opened, true],
      [abandoned, true],
      ['review.opened', false],
      [opened, true],
      ['payment_intent.processing', true],
      ['charge.succeeded', true],
      ['payment_intent.succeeded', true],
      ['checkout.session.completed', true],
    ]);
  });

  test('a session that the merchant expires takes its payment with it, and its page says so', async () => {
    const shop = await openShop(service());
    const session = await shop.createSession();
    const customer = new Customer();
    await customer.open(session.url);
    await customer.send(challengedCard);
    const key = { idempotencyKey: 'end' };
    const expired = await shop.do('expire_checkout_session', { id: session.id }, key);
    assert.deepEqual([expired.status, expired.payment_status, expired.url], ['expired', 'unpaid', null]);
    const replayed = await shop.send('expire_checkout_session', { id: session.id }, key);
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
    await shop.refused('invalid_request', 'expire_checkout_session', { id: session.id });
    const over = await customer.send({ answer: 'pass' }, '/challenge');
    assert.equal(over.status, 410);
    assert.match(over.html, /href="https:\/\/shop\.example\/basket"/);
    const intent = await shop.do('retrieve_payment_intent', { id: session.payment_intent });
    assert.deepEqual([intent.status, intent.cancellation_reason], ['canceled', 'expired']);
    const charge = await shop.do('retrieve_charge', { id: intent.latest_charge });
    assert.equal(charge.status, 'failed');
    assert.deepEqual((await shop.newTypes()).slice(-3), [
      'charge.failed',
      'payment_intent.canceled',
      'checkout.session.expired',
    ]);
  });

  test('a session lives from 30 minutes to 24 hours', async () => {
    const shop = await openShop(service());
    const { created } = await shop.createSession();
    for (const [seconds, taken] of [
      [29 * 60, false],
      [31 * 60, true],
      [24 * 3600 - 60, true],
      [24 * 3600 + 60, false],
    ] as const) {
      const input = { amount: 20_000, currency: 'mad' as const, success_url: 'https://shop.example/thanks' };
      const { status, json } = await shop.send('create_checkout_session', {
        ...input,
        expires_at: created + seconds,
      });
      assert.deepEqual([status, json.error?.param], taken ? [200, undefined] : [400, 'expires_at']);
    }
  });
}
