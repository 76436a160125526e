// Refunds of card payments: partial, full, simultaneous, and refused by the network.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../service.ts';
import { openShop } from './shop.ts';

export function refunds(service: () => Service): void {
  test('refunds in part, up to the centime', async () => {
    const shop = await openShop(service());
    const { id, latest_charge: charge } = await shop.paidIntent();
    await shop.news();
    const first = await shop.do('create_refund', {
      payment_intent: id,
      amount: 19_999,
      reason: 'requested_by_customer',
      metadata: { ticket: '7' },
    });
    assert.deepEqual(
      [first.status, first.amount, first.charge, first.payment_intent, first.reason, first.metadata],
      ['pending', 19_999, charge, id, 'requested_by_customer', { ticket: '7' }],
    );
    const { param, message } = await shop.refused('amount_too_large', 'create_refund', { charge, amount: 2 });
    assert.equal(param, 'amount');
    assert.match(message, /\b1\b/, 'what is left');
    const last = await shop.do('create_refund', { charge });
    assert.equal(last.amount, 1, 'all that is left');
    for (const amount of [{}, { amount: 1 }]) {
      await shop.refused('amount_too_large', 'create_refund', { charge, ...amount });
    }
    const succeeded = await shop.do('succeed_refund', { id: first.id });
    assert.deepEqual(succeeded, { ...first, status: 'succeeded' });
    const part = await shop.do('retrieve_charge', { id: charge });
    assert.deepEqual([part.amount_refunded, part.refunded, part.status], [19_999, false, 'succeeded']);
    await shop.do('succeed_refund', { id: last.id });
    const full = await shop.do('retrieve_charge', { id: charge });
    assert.deepEqual([full.amount_refunded, full.refunded], [20_000, true]);
    const intent = await shop.do('retrieve_payment_intent', { id });
    assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 20_000]);
    assert.deepEqual(await shop.newTypes(), [
      'refund.created',
      'refund.created',
      'refund.updated',
      'charge.refunded',
      'refund.updated',
      'charge.refunded',
    ]);
    for (const operation of ['succeed_refund', 'fail_refund'] as const) {
      await shop.refused('invalid_request', operation, { id: first.id });
    }
  });

  test('two refunds at once for the same rest: one is made', async () => {
    const shop = await openShop(service());
    const { latest_charge: charge } = await shop.paidIntent();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => shop.send('create_refund', { charge, amount: 10_001 })),
    );
    assert.deepEqual(answers.map(({ json }) => json.error?.code ?? 'made').sort(), [
      ...Array(7).fill('amount_too_large'),
      'made',
    ]);
    assert.equal((await shop.do('list_refunds')).data.length, 1);
  });

  test('a refund that fails makes its amount refundable again', async () => {
    const shop = await openShop(service());
    const { latest_charge: charge } = await shop.paidIntent();
    await shop.news();
    const refund = await shop.do('create_refund', { charge });
    const failed = await shop.do('fail_refund', { id: refund.id, failure_reason: 'lost_card' });
    assert.deepEqual(failed, { ...refund, status: 'failed', failure_reason: 'lost_card' });
    assert.deepEqual(await shop.do('retrieve_refund', { id: refund.id }), failed);
    assert.deepEqual(await shop.newTypes(), ['refund.created', 'refund.updated', 'refund.failed']);
    const { amount, id } = await shop.do('create_refund', { charge });
    assert.equal(amount, 20_000);
    await shop.do('succeed_refund', { id });
    assert.equal((await shop.do('retrieve_charge', { id: charge })).refunded, true);
  });

  test('what is not paid, or not there, is not refunded', async () => {
    const shop = await openShop(service());
    const { id, latest_charge: charge } = await shop.confirmedIntent();
    await shop.refused('payment_intent_unexpected_state', 'create_refund', { payment_intent: id });
    await shop.refused('charge_unexpected_state', 'create_refund', { charge });
    const missing = await shop.refused('resource_missing', 'create_refund', { charge: 'ch_x' });
    assert.equal(missing.param, 'charge');
    const other = await shop.refused('resource_missing', 'create_refund', { payment_intent: charge });
    assert.equal(other.message, `No such payment_intent: ${charge}.`, 'there is a charge with this id');
    await shop.refused('parameter_missing', 'create_refund', { amount: 1 });
    await shop.refused('parameter_invalid', 'create_refund', { payment_intent: id, charge });
  });
}
