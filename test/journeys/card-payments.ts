// Card payments from the merchant's first request to the outcome, with the customer on the hosted card page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../service.ts';
import { Customer, challengedCard, goodCard, lingeringCard, poorCard } from './customer.ts';
import { openShop } from './shop.ts';

export function cardPayments(service: () => Service): void {
  test('a card payment, from its creation to the way back to the shop', async () => {
    const shop = await openShop(service());
    const buyer = await shop.do('create_customer', { email: 'amina@shop.example' });
    const key = { idempotencyKey: 'order-1' };
    const order = { customer: buyer.id, description: 'Two books', metadata: { order: '1' } };
    const params = { amount: 25_050, currency: 'mad' as const, ...order };
    const created = await shop.do('create_payment_intent', params, key);
    assert.deepEqual(
      [created.status, created.amount_received, created.next_action],
      ['requires_payment_method', 0, null],
    );
    const replayed = await shop.send('create_payment_intent', params, key);
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(replayed.json, created);

    const { id } = created;
    const confirmed = await shop.do('confirm_payment_intent', {
      id,
      return_url: 'https://shop.example/back',
    });
    assert.equal(confirmed.status, 'requires_action');
    const { url, return_url } = confirmed.next_action.redirect_to_url;
    assert.equal(return_url, 'https://shop.example/back');
    assert.equal(url, `${service().url}/pay/${confirmed.latest_charge}`);

    const customer = new Customer();
    const page = await customer.open(url);
    assert.match(page.html, /MAD\s250\.50/);
    const paid = await customer.send(goodCard);
    assert.match(paid.html, /http-equiv="refresh" content="0; url=https:\/\/shop\.example\/back"/);

    const intent = await shop.do('retrieve_payment_intent', { id });
    assert.deepEqual(intent, {
      ...created,
      status: 'succeeded',
      amount_received: 25_050,
      latest_charge: confirmed.latest_charge,
    });
    const charge = await shop.do('retrieve_charge', { id: intent.latest_charge });
    assert.deepEqual(
      [charge.status, charge.paid, charge.refunded, charge.amount, charge.payment_intent],
      ['succeeded', true, false, 25_050, id],
    );
    const { card } = charge.payment_method_details;
    assert.deepEqual(card, { brand: 'visa', last4: '4242', exp_month: 9, exp_year: 2034 });

    const events = await shop.news();
    assert.deepEqual(
      events.map(({ type, request }) => [type, request.idempotency_key === null]),
      [
        ['payment_intent.created', false],
        ['payment_intent.requires_action', false],
        ['payment_intent.processing', true],
        ['charge.succeeded', true],
        ['payment_intent.succeeded', true],
      ],
    );
    assert.equal(events[0].request.idempotency_key, 'order-1');
    assert.deepEqual(events.at(-1).data.object, intent);
    assert.deepEqual(events[3].data.object, charge);
    assert.deepEqual(await shop.do('retrieve_event', { id: events[3].id }), events[3]);
  });

  test('the card form is taken from the browser that was shown it, and once', async () => {
    const shop = await openShop(service());
    const { id, next_action } = await shop.confirmedIntent();
    const customer = new Customer();
    await customer.open(next_action.redirect_to_url.url);
    assert.equal((await customer.thief().send(goodCard)).status, 403);
    assert.equal((await shop.do('retrieve_payment_intent', { id })).status, 'requires_action');
    const answers = await Promise.all(Array.from({ length: 5 }, () => customer.send(goodCard)));
    for (const { status } of answers) assert.equal(status, 200);
    const charges = await shop.do('list_charges', { payment_intent: id });
    assert.deepEqual([charges.data.length, charges.data[0].status], [1, 'succeeded']);
    const types = await shop.newTypes();
    assert.equal(types.filter((type) => type === 'payment_intent.succeeded').length, 1);
  });

  test('declined, then paid: each attempt is a charge, and the reason is in last_payment_error', async () => {
    const shop = await openShop(service());
    const intent = await shop.confirmedIntent();
    const customer = new Customer();
    await customer.open(intent.next_action.redirect_to_url.url);
    const told = await customer.send(poorCard);
    assert.match(told.html, /insufficient funds/);
    const declined = await shop.do('retrieve_payment_intent', { id: intent.id });
    assert.equal(declined.status, 'requires_payment_method');
    const { message, ...reason } = declined.last_payment_error;
    assert.match(message, /insufficient funds/);
    assert.deepEqual(reason, {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      charge: intent.latest_charge,
    });
    const charge = await shop.do('retrieve_charge', { id: intent.latest_charge });
    assert.deepEqual(
      [charge.status, charge.failure_code, charge.decline_code],
      ['failed', 'card_declined', 'insufficient_funds'],
    );

    const again = await shop.do('confirm_payment_intent', { id: intent.id });
    assert.notEqual(again.latest_charge, intent.latest_charge);
    await customer.open(again.next_action.redirect_to_url.url);
    await customer.send(goodCard);
    const paid = await shop.do('retrieve_payment_intent', { id: intent.id });
    assert.deepEqual(
      [paid.status, paid.amount_received, paid.last_payment_error],
      ['succeeded', 20_000, null],
    );
    assert.deepEqual(await shop.newTypes(), [
      'payment_intent.created',
      'payment_intent.requires_action',
      'payment_intent.processing',
      'charge.failed',
      'payment_intent.payment_failed',
      'payment_intent.requires_action',
      'payment_intent.processing',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
  });

  test('3-D Secure: refused at the bank, then passed', async () => {
    const shop = await openShop(service());
    const intent = await shop.confirmedIntent();
    const customer = new Customer();
    const attempt = async (answer: string) => {
      const { url } = (await shop.do('retrieve_payment_intent', { id: intent.id })).next_action
        .redirect_to_url;
      await customer.open(url);
      const challenge = await customer.send(challengedCard);
      assert.match(challenge.title, /Confirm with your bank/);
      await customer.send({ answer });
      return shop.do('retrieve_payment_intent', { id: intent.id });
    };
    const refused = await attempt('fail');
    assert.equal(refused.last_payment_error.decline_code, 'transaction_not_allowed');
    await shop.do('confirm_payment_intent', { id: intent.id });
    assert.equal((await attempt('pass')).status, 'succeeded');
  });

  test('a payment that lingers is in processing, where nothing but the outcome changes it', async () => {
    const shop = await openShop(service());
    const { id, latest_charge, next_action } = await shop.confirmedIntent();
    const customer = new Customer();
    await customer.open(next_action.redirect_to_url.url);
    const waiting = await customer.send(lingeringCard);
    assert.match(waiting.title, /being processed/);
    assert.equal((await shop.do('retrieve_payment_intent', { id })).status, 'processing');
    await shop.refused('payment_intent_unexpected_state', 'cancel_payment_intent', { id });
    await shop.do('complete_charge', { id: latest_charge });
    const paid = await customer.open(waiting.at);
    assert.match(paid.title, /Payment complete/);
  });

  test('ten cards can be tried for a payment; then it is refused, and the page offers what is left', async () => {
    const shop = await openShop(service());
    const session = await shop.createSession();
    const id = session.payment_intent;
    for (let tried = 0; tried < 10; tried++) {
      const byCard = { id, payment_method_type: 'card' as const };
      const { latest_charge } = await shop.do('confirm_payment_intent', byCard);
      await shop.do('fail_charge', { id: latest_charge });
    }
    const key = { idempotencyKey: 'eleventh' };
    const byCard = { id, payment_method_type: 'card' as const };
    const refused = await shop.refused(
      'payment_intent_unexpected_state',
      'confirm_payment_intent',
      byCard,
      key,
    );
    assert.deepEqual(
      [refused.param, /too many attempts/.test(refused.message)],
      ['payment_method_type', true],
    );
    const again = await shop.send('confirm_payment_intent', byCard, key);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const customer = new Customer();
    const choice = await customer.open(session.url);
    assert.match(choice.html, /Too many cards were tried/);
    assert.doesNotMatch(choice.html, /value="card"/);
    const voucher = await customer.send({ method: 'cash' });
    assert.doesNotMatch(voucher.html, /Choose another way/, 'there is no other');
    await shop.do('complete_charge', {
      id: (await shop.do('retrieve_payment_intent', { id })).latest_charge,
    });
    assert.equal((await shop.do('retrieve_payment_intent', { id })).status, 'succeeded');
  });

  test('description and metadata change at any time, and nobody is told', async () => {
    const shop = await openShop(service());
    const { id } = await shop.createIntent({ metadata: { order: '1' } });
    const changes = { id, description: 'Order 1', metadata: { gift: 'yes' } };
    const key = { idempotencyKey: 'note' };
    const changed = await shop.do('update_payment_intent', changes, key);
    assert.deepEqual([changed.description, changed.metadata], ['Order 1', { order: '1', gift: 'yes' }]);
    const replayed = await shop.send('update_payment_intent', changes, key);
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
    const confirmed = await shop.do('confirm_payment_intent', { id });
    const cleared = await shop.do('update_payment_intent', { id, description: '', metadata: { order: '' } });
    assert.deepEqual(cleared, { ...confirmed, description: null, metadata: { gift: 'yes' } });
    await shop.refused('parameter_unknown', 'update_payment_intent', { id, amount: 1 } as object);
    await shop.do('complete_charge', { id: confirmed.latest_charge });
    await shop.do('update_payment_intent', { id, metadata: { shipped: '2026-11-03' } });
    assert.deepEqual(await shop.newTypes(), [
      'payment_intent.created',
      'payment_intent.requires_action',
      'payment_intent.processing',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
  });

  test('canceled while the customer is at the card page', async () => {
    const shop = await openShop(service());
    const { id, latest_charge, next_action } = await shop.confirmedIntent();
    const customer = new Customer();
    const { url } = next_action.redirect_to_url;
    await customer.open(url);
    const canceled = await shop.do('cancel_payment_intent', { id, cancellation_reason: 'abandoned' });
    assert.deepEqual([canceled.status, canceled.cancellation_reason], ['canceled', 'abandoned']);
    assert.ok(canceled.canceled_at >= canceled.created);
    const late = await customer.send(goodCard);
    assert.equal(late.status, 410);
    const charge = await shop.do('retrieve_charge', { id: latest_charge });
    assert.deepEqual([charge.status, charge.failure_code], ['failed', 'payment_attempt_canceled']);
    for (const operation of ['cancel_payment_intent', 'confirm_payment_intent'] as const) {
      await shop.refused('payment_intent_unexpected_state', operation, { id });
    }
    const [failed, last] = (await shop.news()).slice(-2);
    assert.deepEqual([failed.type, last.type], ['charge.failed', 'payment_intent.canceled']);
    assert.deepEqual(failed.data.object, charge);
  });

  test('helpers stand for the customer: complete, fail, expire, each only once', async () => {
    const shop = await openShop(service());
    const ends = [
      ['complete_charge', {}, 'succeeded', null],
      ['fail_charge', { decline_code: 'lost_card' }, 'requires_payment_method', 'card_declined'],
      ['expire_charge', {}, 'requires_payment_method', 'payment_attempt_expired'],
    ] as const;
    for (const [operation, params, status, code] of ends) {
      const { id, latest_charge } = await shop.confirmedIntent();
      const charge = await shop.do(operation, { id: latest_charge, ...params });
      assert.equal(charge.failure_code, code);
      const intent = await shop.do('retrieve_payment_intent', { id });
      assert.deepEqual([intent.status, intent.last_payment_error?.code ?? null], [status, code]);
      for (const [again] of ends) {
        await shop.refused('charge_unexpected_state', again, { id: latest_charge });
      }
    }
  });

  test('too little for its method, or no method named, is refused', async () => {
    const shop = await openShop(service());
    const small = await shop.refused('amount_too_small', 'create_payment_intent', {
      amount: 9_999,
      currency: 'mad',
      payment_method_types: ['card', 'cash'],
    });
    assert.match(small.message, /10000 centimes for payments by cash/);
    const { id } = await shop.createIntent({ payment_method_types: ['card', 'cash'] });
    const missing = await shop.refused('parameter_missing', 'confirm_payment_intent', { id });
    assert.equal(missing.param, 'payment_method_type');
    const { status } = await shop.do('confirm_payment_intent', { id, payment_method_type: 'card' });
    assert.equal(status, 'requires_action');
  });
}
