// The connector against the stand-in for CMI, which was written without it: each takes what the other makes. No process and no
// socket is needed here; live-card.test.ts has the whole service with the stand-in as a process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCmiConnector } from '../../../src/networks/cmi/connector.ts';
import type { Report } from '../../../src/networks/network.ts';
import { call, hostedPayment, startMs } from '../calls.ts';
import { callbackBody, callbackFields } from '../cmi-stand-in/callback.ts';
import { Gateway } from '../cmi-stand-in/gateway.ts';
import { isRefused } from '../cmi-stand-in/ledger.ts';

const options = {
  clientId: '600000001',
  storeKey: 'store|key\\é',
  apiUser: 'shop & co',
  apiPassword: `<"p'w">`,
};
const gateway = new Gateway(options);
const network = createCmiConnector({
  gateway: 'https://payment.cmi.test',
  clientId: options.clientId,
  storeKey: options.storeKey,
  api: { name: options.apiUser, password: options.apiPassword },
  doubtMs: 300_000,
  now: () => startMs,
  async send({ body, answerBytesMax }) {
    const answer = await gateway.request(body);
    assert(answer.status !== null);
    return { status: answer.status, body: answer.body.slice(0, answerBytesMax) };
  },
});
const about = { charge: 'ch_1', amount: 25_000, chargeEndsAtMs: startMs + 60_000 };

test('a payment from its form to its refund', async () => {
  await network.check!();
  const { fields } = await network.startPage!(
    hostedPayment({
      customer: { name: 'Zoé | محمد \\ <"\'>', email: 'zoe@example.ma' },
      paidUrl: 'https://pay.test/paid?a=1&b=2',
    }),
  );
  const form = new URLSearchParams(Object.fromEntries(fields!));
  assert.equal(gateway.start(form.toString()).status, 200);
  form.set('amount', '1.00');
  assert.equal(gateway.start(form.toString()).status, 400);

  const order = gateway.ledger.orders.get('ch_1')!;
  const lookup = (action: Parameters<typeof call>[0] & object) =>
    network.lookup(call({ ...about, ...action }));
  assert.deepEqual(await lookup({ action: 'await_card_payment' }), { result: 'accepted' });
  const told = (transaction: ReturnType<typeof gateway.ledger.authorize>) =>
    network.readCallback!({
      signature: '',
      body: callbackBody(callbackFields(order, transaction), options.storeKey, null),
    }) as Report;
  const declined = told(gateway.ledger.decline(order, '51'));
  assert.deepEqual(declined.says, {
    result: 'declined',
    decline_code: 'insufficient_funds',
    mayTryAgain: true,
  });
  assert.deepEqual(await lookup({ action: 'await_card_payment' }), { result: 'accepted' });

  const paid = told(gateway.ledger.authorize(order));
  assert.deepEqual(paid.about, { charge: 'ch_1' });
  assert(paid.says.result === 'paid');
  const { card, ...money } = paid.says.money;
  assert.deepEqual(card, { brand: 'visa', last4: '4358', exp_month: null, exp_year: null });
  // Asked, CMI tells the same payment by the same reference.
  assert.deepEqual(await lookup({ action: 'await_card_payment' }), {
    result: 'paid',
    money: { ...money, card: null },
  });

  assert.equal(await lookup({ action: 'capture_charge' }), 'unknown');
  const capture = call({ ...about, action: 'capture_charge' });
  assert.deepEqual(await network.capture!(capture), { result: 'done' });
  assert.deepEqual(await lookup({ action: 'capture_charge' }), { result: 'done' });
  await assert.rejects(network.capture!(capture), /CORE/);

  const refund = call({ ...about, action: 'refund_charge', id: 'op_2', amount: 10_000 });
  assert.equal(await network.lookup(refund), 'unknown');
  gateway.ledger.settled = false;
  assert.deepEqual(await network.refund(refund), { result: 'accepted', refusal: 'CORE-2508' });
  assert.equal(await network.lookup(refund), 'unknown');
  gateway.ledger.settled = true;
  assert.deepEqual(await network.refund(refund), { result: 'done' });
  assert.deepEqual(await network.lookup(refund), { result: 'done' });
  const tooMuch = await network.refund({ ...refund, id: 'op_3', amount: 20_000 });
  assert.deepEqual(tooMuch, { result: 'failed', reason: 'CORE-2509' });
  assert.equal(gateway.orders()[0]!.refunded, 10_000);
});

test('a refund that was refused for days, because the payment was not settled, is made once it is', async () => {
  const order = gateway.ledger.orders.get('ch_1')!;
  const refund = call({ ...about, action: 'refund_charge', id: 'op_4', amount: 5_000 });
  gateway.ledger.settled = false;
  for (let tries = 0; tries < 300; tries++)
    assert.deepEqual(await network.refund(refund), { result: 'accepted', refusal: 'CORE-2508' });
  gateway.ledger.settled = true;
  assert(order.transactions.length > 300);
  assert.equal(await network.lookup(refund), 'unknown');
  assert.deepEqual(await network.refund(refund), { result: 'done' });
  assert.deepEqual(await network.lookup(refund), { result: 'done' });
});

test('a payment of which a part was taken in the interface for merchants was not taken', async () => {
  const order = gateway.ledger.open('ch_2', new Map(), 25_000)!;
  gateway.ledger.authorize(order);
  gateway.ledger.capture(order, 10_000);
  const capture = call({ ...about, charge: 'ch_2', action: 'capture_charge' });
  const another = { result: 'failed', reason: 'another_amount', taken: 10_000 };
  assert.deepEqual(await network.lookup(capture), another);
  // A refusal is now the latest transaction, so the history is asked.
  assert(isRefused(gateway.ledger.credit(order, 20_000, null)));
  assert.deepEqual(await network.lookup(capture), another);
});
