// Customers and webhook endpoints: created, read, changed and deleted over HTTP.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../service.ts';
import { openShop } from './shop.ts';

export function customers(service: () => Service): void {
  test('a customer: created, changed in part, listed, deleted', async () => {
    const shop = await openShop(service());
    const amina = { email: 'amina@shop.example', name: 'Amina', phone: '+212600000000', description: 'VIP' };
    const created = await shop.do('create_customer', { ...amina, metadata: { a: '1', b: '2' } });
    const { id } = created;
    assert.match(id, /^cus_/);
    assert.deepEqual(await shop.do('retrieve_customer', { id }), created);
    const changed = await shop.do('update_customer', { id, name: 'Amina B.', metadata: { a: '', c: '3' } });
    assert.deepEqual(changed, { ...created, name: 'Amina B.', metadata: { b: '2', c: '3' } });
    assert.deepEqual((await shop.do('list_customers', { email: amina.email })).data, [changed]);

    const intent = await shop.createIntent({ customer: id });
    const gone = { id, object: 'customer', deleted: true };
    assert.deepEqual(await shop.do('delete_customer', { id }), gone);
    assert.deepEqual(await shop.do('retrieve_customer', { id }), gone);
    assert.deepEqual((await shop.do('list_customers')).data, []);
    await shop.refused('resource_missing', 'delete_customer', { id });
    await shop.refused('resource_missing', 'update_customer', { id, name: 'A' });
    const input = { amount: 20_000, currency: 'mad' as const, customer: id };
    const { param } = await shop.refused('resource_missing', 'create_payment_intent', input);
    assert.equal(param, 'customer');
    assert.equal((await shop.do('retrieve_payment_intent', { id: intent.id })).customer, id);
  });

  test('a card number is taken nowhere', async () => {
    const shop = await openShop(service());
    const number = '4242 4242 4242 4242';
    for (const input of [
      { description: `card ${number}` },
      { metadata: { [number]: 'x' } },
      { phone: number },
    ]) {
      const error = await shop.refused('parameter_invalid', 'create_customer', input);
      assert.doesNotMatch(JSON.stringify(error), /4242/);
    }
    assert.deepEqual((await shop.do('list_customers')).data, []);
    assert.doesNotMatch(service().output(), /4242/);
  });

  test('a webhook endpoint: created, changed, paused, listed, deleted', async () => {
    const shop = await openShop(service());
    const wanted = { url: 'https://127.0.0.1:9/hooks', enabled_events: ['refund.failed' as const] };
    const created = await shop.do('create_webhook_endpoint', { ...wanted, metadata: { a: '1' } });
    assert.match(created.secret, /^svc_whsec_/);
    const { id } = created;
    const endpoint = { ...created, secret: null };
    assert.deepEqual(await shop.do('retrieve_webhook_endpoint', { id }), endpoint);
    // Types that nothing sends yet can be subscribed to already.
    const coming = ['payout.created', 'payout.paid', 'payout.failed', 'balance.available', 'account.updated'];
    const changes = { disabled: true, enabled_events: coming as never, metadata: { a: '', b: '2' } };
    const changed = await shop.do('update_webhook_endpoint', { id, ...changes });
    assert.deepEqual(changed, {
      ...endpoint,
      status: 'disabled',
      enabled_events: coming,
      metadata: { b: '2' },
    });
    assert.deepEqual((await shop.do('list_webhook_endpoints')).data, [changed]);
    const deleted = await shop.do('delete_webhook_endpoint', { id });
    assert.deepEqual(deleted, { id, object: 'webhook_endpoint', deleted: true });
    await shop.refused('resource_missing', 'retrieve_webhook_endpoint', { id });
    assert.deepEqual((await shop.do('list_webhook_endpoints')).data, []);
  });
}
