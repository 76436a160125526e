// The service is killed during network calls, and before deadlines: afterwards the calls get their outcome and what is due
// expires. One process after another uses the same data folder.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { eventually } from '../webhooks/service-webhooks.ts';
import { Customer, goodCard, lingeringCard, refundlessCard } from './customer.ts';
import { type Json, openShop, type Shop } from './shop.ts';

const dataDir = temporaryFolder();
let service: Service;

async function start(env: Readonly<Record<string, string>>): Promise<void> {
  service = await startService({ dataDir, env });
}
before(() => start({ PAYMENTS_SIMULATOR_LATENCY_MS: '1500' }));
after(() => service.stop());

/** Waits until a confirmation of the intent (by card alone) with this key is under way. */
async function underWay(shop: Shop, id: string, key: { idempotencyKey: string }): Promise<void> {
  await eventually(async () => {
    // Refused as a wrong parameter, which is not kept, as long as the key is new.
    const probe = { id, payment_method_type: 'cash' as const };
    const { json } = await shop.send('confirm_payment_intent', probe, key);
    return json.error.code === 'idempotency_key_reused';
  });
}

async function chargesOf(shop: Shop, id: string): Promise<Json[]> {
  return (await shop.do('list_charges', { payment_intent: id })).data;
}

/** The types of all events of an intent and its charges, oldest first. */
async function typesOf(shop: Shop, id: string): Promise<string[]> {
  const { data } = await shop.do('list_events', { limit: 100 });
  const about = ({ object }: Json) => object.id === id || object.payment_intent === id;
  return data
    .filter((event: Json) => about(event.data))
    .map(({ type }: Json) => type)
    .reverse();
}

test('while the network is asked: its key is in progress, other changes are busy, and neither is kept', async () => {
  const shop = await openShop(service);
  const { id } = await shop.createIntent();
  const [key, later] = [{ idempotencyKey: 'confirm' }, { idempotencyKey: 'cancel' }];
  const first = shop.send('confirm_payment_intent', { id }, key);
  await underWay(shop, id, key);
  await Promise.all([
    shop.refused('idempotency_in_progress', 'confirm_payment_intent', { id }, key),
    shop.refused('payment_intent_busy', 'confirm_payment_intent', { id }),
    shop.refused('payment_intent_busy', 'cancel_payment_intent', { id }, later),
  ]);
  const confirmed = await first;
  assert.equal(confirmed.json.status, 'requires_action', confirmed.text);
  const replayed = await shop.send('confirm_payment_intent', { id }, key);
  assert.deepEqual([replayed.text, replayed.headers.get('idempotent-replayed')], [confirmed.text, 'true']);
  const canceled = await shop.send('cancel_payment_intent', { id }, later);
  assert.deepEqual([canceled.json.status, canceled.headers.get('idempotent-replayed')], ['canceled', null]);
  assert.equal((await chargesOf(shop, id)).length, 1);
});

test('killed twice while networks are asked: each payment is made once, and its key has the answer', async () => {
  let shop = await openShop(service);
  const paying = await shop.confirmedIntent();
  const customer = new Customer();
  await customer.open(paying.next_action.redirect_to_url.url);
  const lost = [customer.send(goodCard).catch(() => null)];
  await eventually(async () => {
    const { status } = await shop.do('retrieve_payment_intent', { id: paying.id });
    return status === 'processing';
  });
  await shop.refused('payment_intent_busy', 'complete_charge', { id: paying.latest_charge });
  const { id } = await shop.createIntent();
  const key = { idempotencyKey: 'killed' };
  lost.push(shop.send('confirm_payment_intent', { id }, key).catch(() => null) as never);
  await underWay(shop, id, key);
  await service.kill();
  assert.deepEqual(await Promise.all(lost), [null, null], 'nothing was answered');

  await start({ PAYMENTS_SIMULATOR_LATENCY_MS: '3600000', PAYMENTS_REQUEST_TIMEOUT_MS: '1000' });
  shop = shop.on(service);
  await shop.refused('idempotency_in_progress', 'confirm_payment_intent', { id }, key);
  await shop.refused('payment_intent_busy', 'cancel_payment_intent', { id });
  const slow = await shop.createIntent();
  const slowKey = { idempotencyKey: 'slow' };
  const timedOut = await shop.send('confirm_payment_intent', { id: slow.id }, slowKey);
  assert.deepEqual([timedOut.status, timedOut.json.error.code], [503, 'api_error']);
  assert.ok(Number(timedOut.headers.get('retry-after')) >= 1);
  await service.kill();

  await start({ PAYMENTS_SIMULATOR_REFUND_SETTLE_MS: '300' });
  shop = shop.on(service);
  for (const [intent, sent] of [
    [id, key],
    [slow.id, slowKey],
  ] as const) {
    const answer = await eventually(async () => {
      const answer = await shop.send('confirm_payment_intent', { id: intent }, sent);
      return answer.json.error?.code !== 'idempotency_in_progress' && answer;
    });
    assert.deepEqual([answer.status, answer.json.status], [200, 'requires_action'], answer.text);
    assert.equal(answer.headers.get('idempotent-replayed'), 'true');
    const charges = await chargesOf(shop, intent);
    assert.deepEqual(
      charges.map(({ id }) => id),
      [answer.json.latest_charge],
    );
    const types = ['payment_intent.created', 'payment_intent.requires_action'];
    assert.deepEqual(await typesOf(shop, intent), types);
  }
  const paid = await eventually(async () => {
    const intent = await shop.do('retrieve_payment_intent', { id: paying.id });
    return intent.status !== 'processing' && intent;
  });
  assert.deepEqual([paid.status, paid.amount_received], ['succeeded', 20_000]);
  assert.equal((await chargesOf(shop, paying.id)).length, 1);
  assert.deepEqual((await typesOf(shop, paying.id)).slice(2), [
    'payment_intent.processing',
    'charge.succeeded',
    'payment_intent.succeeded',
  ]);
});

test('a network says later how it ended: payments, refunds, refunds that fail', async () => {
  const shop = await openShop(service);
  const pay = async (card: typeof goodCard) => {
    const { id, next_action } = await shop.confirmedIntent();
    const customer = new Customer();
    await customer.open(next_action.redirect_to_url.url);
    await customer.send(card);
    return eventually(async () => {
      const intent = await shop.do('retrieve_payment_intent', { id });
      return intent.status === 'succeeded' && intent;
    });
  };
  const refund = async ({ id }: Json) => {
    const created = await shop.do('create_refund', { payment_intent: id });
    assert.equal(created.status, 'pending');
    return eventually(async () => {
      const refund = await shop.do('retrieve_refund', { id: created.id });
      return refund.status !== 'pending' && refund;
    });
  };
  const [made, failed] = await Promise.all([
    pay(lingeringCard).then(refund),
    pay(refundlessCard).then(refund),
  ]);
  assert.deepEqual([made.status, made.failure_reason], ['succeeded', null]);
  assert.deepEqual([failed.status, failed.failure_reason], ['failed', 'declined']);
  assert.deepEqual((await typesOf(shop, made.payment_intent)).slice(-3), [
    'refund.created',
    'refund.updated',
    'charge.refunded',
  ]);
  assert.deepEqual((await typesOf(shop, failed.payment_intent)).slice(-3), [
    'refund.created',
    'refund.updated',
    'refund.failed',
  ]);
  assert.equal((await shop.do('retrieve_charge', { id: failed.charge })).amount_refunded, 0);
});

test('what came to its end while the service was down ends, in order, when it is back', async () => {
  let shop = await openShop(service);
  const used = { idempotencyKey: 'old' };
  const customer = await shop.do('create_customer', { name: 'Amina' }, used);
  const page = await shop.confirmedIntent();
  const session = await shop.createSession();
  const voucher = await shop.confirmedIntent({ payment_method_types: ['cash'] });
  const visit = await shop.createSession();
  const visitor = new Customer();
  await visitor.open(visit.url);
  // Codes end by the second in which they were made: the visitor's ends after the voucher.
  const { created } = await shop.do('retrieve_charge', { id: voucher.latest_charge });
  await eventually(() => Date.now() >= (created + 1) * 1000);
  await visitor.send({ method: 'cash' });
  const [before] = (await shop.news()).slice(-1);
  await service.kill();

  const preload = new URL('clock-ahead.ts', import.meta.url).href;
  const fourDaysMs = 4 * 24 * 3600 * 1000;
  await start({ NODE_OPTIONS: `--import=${preload}`, CLOCK_AHEAD_MS: String(fourDaysMs) });
  shop = shop.on(service);
  await eventually(
    async () => (await shop.do('retrieve_checkout_session', { id: visit.id })).status !== 'open',
  );

  for (const { id, latest_charge } of [page, voucher]) {
    const { status, last_payment_error } = await shop.do('retrieve_payment_intent', { id });
    assert.equal(status, 'requires_payment_method');
    assert.deepEqual(
      [last_payment_error.code, last_payment_error.charge],
      ['payment_attempt_expired', latest_charge],
    );
  }
  for (const { id, payment_intent } of [session, visit]) {
    const expired = await shop.do('retrieve_checkout_session', { id });
    assert.deepEqual([expired.status, expired.url], ['expired', null]);
    const intent = await shop.do('retrieve_payment_intent', { id: payment_intent });
    assert.equal(intent.status, 'canceled');
    const shown = await visitor.open(`${service.url}/checkout/${id}`);
    assert.equal(shown.status, 410);
  }
  const failed = ['charge.failed', 'payment_intent.payment_failed'];
  const ended = ['payment_intent.canceled', 'checkout.session.expired'];
  const since = (await shop.do('list_events', { ending_before: before.id, limit: 100 })).data.reverse();
  assert.deepEqual(
    since.map(({ type }: Json) => type),
    [...failed, ...ended, ...failed, ...failed, ...ended],
  );
  assert.ok(since.every(({ request }: Json) => request.id === null));
  const late = await shop.do('pay_cash', {
    number: voucher.next_action.cash_display_details.number,
    amount: 20_000,
  });
  assert.equal(late.status, 'failed');
  assert.equal((await shop.do('list_reviews')).data[0].reason, 'late_payment');

  const again = await shop.send('create_customer', { name: 'Amina' }, used);
  assert.equal(again.headers.get('idempotent-replayed'), null);
  assert.notEqual(again.json.id, customer.id, 'a key is kept for a day');
});
