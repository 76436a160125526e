// Cards in live mode, through the generic connector: a real service and the reference integrator, whose page the customer pays
// on. Money is credited at most once, none is lost, and a refund is made once.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limitedOrganization, liveKey, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { ReferenceIntegrator } from './reference-integrator.ts';

const amount = 25_000;
const dataDir = temporaryFolder();
/** The integrator is on this machine, which only development allows. */
const env = { ...webhookEnv, PAYMENTS_SHARDS: '1' };

let service: Service;
let integrator: ReferenceIntegrator;
let org: string;
let key: string;
let count = 0;

const post = (path: string, body: object) =>
  service.call(path, { key, idempotencyKey: `request-${++count}`, body });
const get = async (path: string) => (await service.call(path, { key })).json;
const tell = async (report: object) => {
  const response = await integrator.tell(`${service.url}/networks/http/${org}/live`, report);
  return (await response.json()) as { status?: string; error?: string };
};

before(async () => {
  service = await startService({ dataDir, env });
  integrator = await ReferenceIntegrator.start();
  ({ id: org } = await limitedOrganization(service, 'Épicerie'));
  key = await liveKey(service, org);
  await service.operate('org.methods', { org, mode: 'live', methods: { card: true, cash: true } });
  await connect(['card']);
});
after(async () => {
  await integrator?.stop();
  await service?.stop();
});

const connect = (methods?: readonly string[]) =>
  service.operate<{ mode: string; method: string; network: string }[]>('network.set', {
    ...integrator.connecting(org),
    ...(methods && { methods }),
  });

/** A payment whose customer is on the integrator's page. */
async function opened(): Promise<{ id: string; charge: string; page: string }> {
  const { json } = await post('/v1/payment_intents', { amount, currency: 'mad' });
  const { status, json: confirmed } = await post(`/v1/payment_intents/${json.id}/confirm`, {});
  assert.equal(status, 200);
  const page = confirmed.next_action.redirect_to_url.url;
  assert.equal((await fetch(page)).status, 200);
  return { id: json.id, charge: confirmed.latest_charge, page };
}

async function reviewsOf(id: string): Promise<string[]> {
  const { data } = await get('/v1/reviews?limit=100');
  return data.flatMap((review: { payment_intent: string; reason: string }) =>
    review.payment_intent === id ? [review.reason] : [],
  );
}

test('the methods that go through a network are chosen, and stay when it is set again', async () => {
  const methodsAfter = async (methods?: readonly string[]) =>
    (await connect(methods)).flatMap(({ mode, method }) => (mode === 'live' ? [method] : []));
  assert.deepEqual(await methodsAfter(['cash', 'card']), ['card', 'cash']);
  assert.deepEqual((await get('/v1/account')).payment_methods, { card: 'available', cash: 'available' });
  assert.deepEqual(await methodsAfter(['card']), ['card']);
  assert.deepEqual(await methodsAfter(), ['card']);
  assert.deepEqual((await get('/v1/account')).payment_methods, { card: 'available', cash: 'unavailable' });
});

test('a payment on the integrator’s page: opened once, credited once, refunded once', async () => {
  const { id, charge, page } = await opened();
  const text = await (await fetch(page)).text();
  assert.match(text, new RegExp(`href="http://127.0.0.1:\\d+/pages/${charge}"`));
  assert.equal(integrator.effects('open_page'), 1);
  const { amount: asked, paid_url } = integrator.pages.get(charge)!;
  assert.deepEqual([asked, (await fetch(paid_url)).status], [amount, 200]);
  const report = integrator.takeCard(charge, { reference: 'T-1' });
  for (let times = 0; times < 2; times++) assert.equal((await tell(report)).status, 'credited');
  const intent = await get(`/v1/payment_intents/${id}`);
  assert.deepEqual([intent.status, intent.amount_received], ['succeeded', amount]);
  const { card } = (await get(`/v1/charges/${charge}`)).payment_method_details;
  assert.deepEqual(card, { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 });

  integrator.misbehaviours.push('drop');
  const { json: refund } = await post('/v1/refunds', { charge, amount: 10_000 });
  const isSettled = async () => {
    const { status } = await get(`/v1/refunds/${refund.id}`);
    return status === 'pending' ? undefined : status;
  };
  assert.equal(await service.until(isSettled), 'succeeded');
  assert.equal(integrator.pages.get(charge)!.taken, 15_000);
  assert.deepEqual(await reviewsOf(id), []);
});

test('a refund that the integrator refuses fails, and its amount can be refunded again', async () => {
  const { charge } = await opened();
  await tell(integrator.takeCard(charge, { reference: 'T-2' }));
  integrator.misbehaviours.push('refuse');
  const { json: refused } = await post('/v1/refunds', { charge });
  const settled = (id: string) =>
    service.until(async () => {
      const refund = await get(`/v1/refunds/${id}`);
      return refund.status === 'pending' ? undefined : refund;
    });
  const { status, failure_reason } = await settled(refused.id);
  assert.deepEqual([status, failure_reason], ['failed', 'no agents today']);
  const { json: again } = await post('/v1/refunds', { charge });
  assert.equal((await settled(again.id)).status, 'succeeded');
  assert.equal(integrator.pages.get(charge)!.taken, 0);
});

test('a card that is declined fails the charge; money that comes for it later opens a review', async () => {
  const { id, charge } = await opened();
  assert.equal((await tell(integrator.decline(charge, 'insufficient_funds'))).status, 'declined');
  const { status, last_payment_error } = await get(`/v1/payment_intents/${id}`);
  assert.deepEqual(
    [status, last_payment_error.code, last_payment_error.decline_code],
    ['requires_payment_method', 'card_declined', 'insufficient_funds'],
  );
  const late = integrator.takeCard(charge, { reference: 'T-3' });
  for (let times = 0; times < 2; times++) assert.equal((await tell(late)).status, 'review');
  assert.deepEqual(await reviewsOf(id), ['late_payment']);
});

test('another amount or currency credits nothing, and an unknown charge is refused', async () => {
  const { id, charge } = await opened();
  const less = integrator.takeCard(charge, { reference: 'T-4', amount: amount - 1 });
  assert.equal((await tell(less)).status, 'review');
  assert.equal((await tell({ ...less, reference: 'T-5', amount, currency: 'eur' })).status, 'review');
  assert.equal((await tell({ ...less, charge: 'ch_unknown' })).error, 'unknown_charge');
  assert.equal((await tell({ ...less, amount: '1' })).error, 'invalid');
  assert.deepEqual(await reviewsOf(id), ['amount_mismatch', 'amount_mismatch']);
  const right = integrator.takeCard(charge, { reference: 'T-6' });
  assert.equal((await tell(right)).status, 'credited');
});

test('a report that never came: after a kill the integrator is asked, and the payment succeeds', async () => {
  const { id, charge } = await opened();
  const report = integrator.takeCard(charge, { reference: 'T-7' });
  await service.kill();
  service = await startService({ dataDir, env });
  await service.until(async () => {
    const { status } = await get(`/v1/payment_intents/${id}`);
    return status === 'succeeded' ? true : undefined;
  });
  assert.equal((await tell(report)).status, 'credited');
  assert.deepEqual(await reviewsOf(id), []);
});

test('who reports one method decides nothing of the other: neither a payment that goes through another network, nor one in cash', async () => {
  await service.operate('network.set', {
    org,
    mode: 'live',
    network: 'cmi',
    settings: { gateway: 'http://127.0.0.1:9', client_id: '600000000' },
    secrets: { store_key: 'a-store-key' },
  });
  await connect(['cash']);
  const { json } = await post('/v1/payment_intents', { amount, currency: 'mad' });
  const { json: byCmi } = await post(`/v1/payment_intents/${json.id}/confirm`, {});
  const paid = { type: 'paid', reference: 'T-8', amount, currency: 'mad', paid_at: 1 };
  const declined = { type: 'declined', decline_code: 'lost_card' };
  for (const report of [paid, declined])
    assert.equal((await tell({ ...report, charge: byCmi.latest_charge })).error, 'try_again');
  assert.equal((await get(`/v1/charges/${byCmi.latest_charge}`)).status, 'pending');

  await connect(['cash', 'card']);
  const { json: cash } = await post('/v1/payment_intents', {
    amount,
    currency: 'mad',
    payment_method_types: ['cash'],
  });
  const { latest_charge } = (await post(`/v1/payment_intents/${cash.id}/confirm`, {})).json;
  for (const report of [paid, declined])
    assert.equal((await tell({ ...report, charge: latest_charge })).error, 'unknown_charge');
  assert.equal((await get(`/v1/charges/${latest_charge}`)).status, 'pending');
  assert.deepEqual([...(await reviewsOf(json.id)), ...(await reviewsOf(cash.id))], []);
});
