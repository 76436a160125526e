// The two modes of an account are separate, and live mode moves no money without a network.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liveKey, raiseLimits, type Service } from '../service.ts';
import { openShop, Shop } from './shop.ts';

/** The same merchant with a live key, activated. */
async function goLive(shop: Shop): Promise<Shop> {
  const { service, org } = shop;
  const key = await liveKey(service, org);
  await raiseLimits(service, org);
  return new Shop(service, org, key);
}

export function modes(service: () => Service): void {
  test('the account says what it may do in each mode', async () => {
    const shop = await openShop(service());
    const live = await goLive(shop);
    const [inTest, inLive] = [await shop.do('retrieve_account'), await live.do('retrieve_account')];
    assert.deepEqual(
      [inTest.id, inTest.country, inTest.default_currency, inTest.livemode],
      [shop.org, 'MA', 'mad', false],
    );
    assert.deepEqual(inTest.payment_methods, { card: 'available', cash: 'available' });
    assert.deepEqual(inLive, {
      ...inTest,
      livemode: true,
      payment_methods: { card: 'unavailable', cash: 'unavailable' },
    });
    assert.equal(inTest.limits.search.source, 'custom');
    const params = { org: shop.org, mode: 'test', methods: { cash: false } };
    await service().operate('org.methods', params);
    const { payment_methods } = await shop.do('retrieve_account');
    assert.deepEqual(payment_methods, { card: 'available', cash: 'unavailable' });
    await shop.refused('payment_method_unavailable', 'create_payment_intent', {
      amount: 20_000,
      currency: 'mad',
      payment_method_types: ['cash'],
    });
  });

  test('live mode without a network takes no payment, and no test helper', async () => {
    const shop = await openShop(service());
    const live = await goLive(shop);
    const methods = { card: true, cash: true };
    await service().operate('org.methods', { org: shop.org, mode: 'live', methods });
    const { payment_methods } = await live.do('retrieve_account');
    assert.deepEqual(payment_methods, { card: 'unavailable', cash: 'unavailable' }, 'on, without a network');
    const payment = { amount: 20_000, currency: 'mad' as const };
    for (const method of ['card', 'cash'] as const) {
      const input = { ...payment, payment_method_types: [method] };
      const { param } = await live.refused('payment_method_unavailable', 'create_payment_intent', input);
      assert.equal(param, 'payment_method_types');
    }
    const session = { ...payment, success_url: 'https://shop.example/thanks' };
    await live.refused('payment_method_unavailable', 'create_checkout_session', session);
    const plain = { ...session, cancel_url: 'http://shop.example/basket' };
    const { param } = await live.refused('parameter_invalid', 'create_checkout_session', plain);
    assert.equal(param, 'cancel_url');
    assert.equal(
      (await shop.createSession(plain)).cancel_url,
      plain.cancel_url,
      'a test may be on localhost',
    );
    const named = { ...session, success_url: 'https://user:secret@shop.example/thanks' };
    const { message } = await shop.refused('parameter_invalid', 'create_checkout_session', named);
    assert.doesNotMatch(message, /secret/);
    const helpers = [
      'complete_charge',
      'fail_charge',
      'expire_charge',
      'pay_cash',
      'succeed_refund',
      'fail_refund',
    ] as const;
    for (const helper of helpers) await live.refused('test_mode_only', helper, { id: 'ch_x' });
    assert.deepEqual((await live.do('list_payment_intents')).data, []);
    assert.deepEqual(await live.news(), []);
  });

  test('what exists in the other mode is missing in this one, and the message says so', async () => {
    const shop = await openShop(service());
    const live = await goLive(shop);
    const stranger = await openShop(service());
    const inTest = await shop.do('create_customer', { name: 'Amina' });
    const inLive = await live.do('create_customer', { name: 'Badr' });
    assert.deepEqual([inTest.livemode, inLive.livemode], [false, true]);
    const { message } = await live.refused('resource_missing', 'retrieve_customer', { id: inTest.id });
    assert.match(message, /exists in test mode/);
    const named = await shop.refused('resource_missing', 'create_payment_intent', {
      amount: 20_000,
      currency: 'mad',
      customer: inLive.id,
    });
    assert.match(named.message, /exists in live mode/);
    const cursor = { starting_after: inLive.id };
    assert.match((await shop.refused('resource_missing', 'list_customers', cursor)).message, /live mode/);
    const strange = await stranger.refused('resource_missing', 'retrieve_customer', { id: inTest.id });
    assert.doesNotMatch(strange.message, /mode/, 'nothing is told of what belongs to others');
  });

  test('an idempotency key belongs to its mode', async () => {
    const shop = await openShop(service());
    const live = await goLive(shop);
    const call = { idempotencyKey: 'same' };
    const made = await shop.do('create_customer', { name: 'Amina' }, call);
    const other = await live.do('create_customer', { name: 'Badr' }, call);
    assert.notEqual(made.id, other.id);
    await shop.refused('idempotency_key_reused', 'create_customer', { name: 'Badr' }, call);
  });
}
