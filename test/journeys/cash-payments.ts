// Cash payments: the code that the customer takes to an agent, the money for it, and money that does not match.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../service.ts';
import { Customer } from './customer.ts';
import { openShop, type Shop } from './shop.ts';

const byCash = { payment_method_types: ['cash' as const] };

export function cashPayments(service: () => Service): void {
  test('a voucher is shown, printed and paid at an agent; it cannot be refunded', async () => {
    const shop = await openShop(service());
    const { id, latest_charge, next_action, created } = await shop.confirmedIntent(byCash);
    assert.equal(next_action.type, 'cash_display_details');
    const { number, hosted_voucher_url, expires_at } = next_action.cash_display_details;
    assert.match(number, /^\d{12}$/);
    assert.ok(expires_at >= created + 3 * 24 * 3600);
    const customer = new Customer();
    const grouped = number.replace(/(\d{4})(?=\d)/g, '$1 ');
    const voucher = await customer.open(hosted_voucher_url);
    assert.ok(voucher.html.includes(grouped), 'the code, as people read it');

    const charge = await shop.do('pay_cash', { number: grouped, amount: 20_000 });
    assert.deepEqual([charge.id, charge.status], [latest_charge, 'succeeded']);
    const { type, cash } = charge.payment_method_details;
    assert.deepEqual([type, cash.number, typeof cash.agent], ['cash', number, 'string']);
    const intent = await shop.do('retrieve_payment_intent', { id });
    assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 20_000]);
    assert.match((await customer.open(hosted_voucher_url)).title, /Payment complete/);
    for (const named of [{ payment_intent: id }, { charge: latest_charge }]) {
      await shop.refused('refund_unsupported_payment_method', 'create_refund', named);
    }
    assert.deepEqual(await shop.newTypes(), [
      'payment_intent.created',
      'payment_intent.requires_action',
      'payment_intent.processing',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
    const unknown = { number: '000000000000', amount: 20_000 };
    const { message } = await shop.refused('resource_missing', 'pay_cash', unknown);
    assert.equal(message, 'No such number: 000000000000.');
  });

  test('a refused cash payment says so in its own words; the next code can be paid', async () => {
    const shop = await openShop(service());
    const { id, latest_charge } = await shop.confirmedIntent(byCash);
    const bankOnly = { id: latest_charge, decline_code: 'insufficient_funds' as const };
    const { param } = await shop.refused('parameter_invalid', 'fail_charge', bankOnly);
    assert.equal(param, 'decline_code');
    await shop.news();
    const refused = await shop.do('fail_charge', { id: latest_charge });
    assert.deepEqual(
      [refused.status, refused.failure_code, refused.decline_code],
      ['failed', 'cash_payment_refused', null],
    );
    assert.match(refused.failure_message, /cash/);
    const { last_payment_error, status } = await shop.do('retrieve_payment_intent', { id });
    assert.equal(status, 'requires_payment_method');
    assert.deepEqual(last_payment_error, {
      type: 'invalid_request_error',
      code: 'cash_payment_refused',
      decline_code: null,
      message: refused.failure_message,
      charge: latest_charge,
    });
    assert.deepEqual(await shop.newTypes(), ['charge.failed', 'payment_intent.payment_failed']);
    const { next_action } = await shop.do('confirm_payment_intent', { id });
    await shop.do('pay_cash', { number: next_action.cash_display_details.number, amount: 20_000 });
    assert.equal((await shop.do('retrieve_payment_intent', { id })).status, 'succeeded');
  });

  /** Pays a code with an amount, and gives the review that this opens. */
  async function reviewOf(shop: Shop, intent: string, number: string, amount: number) {
    const before = await shop.do('retrieve_payment_intent', { id: intent });
    await shop.news();
    await shop.do('pay_cash', { number, amount });
    assert.deepEqual(await shop.do('retrieve_payment_intent', { id: intent }), before, 'nothing is credited');
    const [opened, ...more] = await shop.news();
    assert.deepEqual([opened.type, more], ['review.opened', []]);
    const { data } = await shop.do('list_reviews');
    assert.deepEqual(data[0], opened.data.object);
    return data[0];
  }

  test('another amount opens a review, which an operator closes as approved; the code can still be paid', async () => {
    const shop = await openShop(service());
    const { id, next_action } = await shop.confirmedIntent(byCash);
    const { number } = next_action.cash_display_details;
    const review = await reviewOf(shop, id, number, 19_950);
    assert.deepEqual(
      [review.open, review.reason, review.amount_expected, review.amount_received, review.closed_reason],
      [true, 'amount_mismatch', 20_000, 19_950, null],
    );
    const query = { org: shop.org, mode: 'test', openOnly: true };
    const listed = await service().operate<{ id: string }[]>('review.list', query);
    assert.deepEqual(
      listed.map(({ id }) => id),
      [review.id],
    );
    await service().operate('review.close', { review: review.id, as: 'approved' });
    const closed = await shop.do('retrieve_review', { id: review.id });
    assert.deepEqual(closed, { ...review, open: false, closed_reason: 'approved' });
    const [event] = await shop.news();
    assert.deepEqual([event.type, event.data.object], ['review.closed', closed]);
    assert.deepEqual(event.request, { id: null, idempotency_key: null });
    await assert.rejects(service().operate('review.close', { review: review.id, as: 'refunded' }));
    await shop.do('pay_cash', { number, amount: 20_000 });
    assert.equal((await shop.do('retrieve_payment_intent', { id })).status, 'succeeded');
  });

  test('money after the end opens a review, which is closed as refunded', async () => {
    const shop = await openShop(service());
    const { id, latest_charge, next_action } = await shop.confirmedIntent(byCash);
    await shop.do('expire_charge', { id: latest_charge });
    const { number } = next_action.cash_display_details;
    const late = await reviewOf(shop, id, number, 20_000);
    assert.deepEqual([late.reason, late.charge], ['late_payment', latest_charge]);
    await service().operate('review.close', { review: late.id, as: 'refunded' });
    const closed = await shop.do('retrieve_review', { id: late.id });
    assert.deepEqual([closed.open, closed.closed_reason], [false, 'refunded']);
    const twice = await reviewOf(shop, id, number, 5);
    assert.notEqual(twice.id, late.id);
  });
}
