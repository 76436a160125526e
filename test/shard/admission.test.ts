// Gates of a shard: a parameter that is left out has its default, an address whose look-up fails,
// deadlines that passed while the shard was down, and the limit of simultaneous exports.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportsAtOnceMax } from '../../src/contract/limits.ts';
import { Actor, account, org, settled } from './actor.ts';

const create = 'POST /v1/payment_intents';
const card = { amount: 12_000, currency: 'mad' };

test('leaving the only payment method out and naming it is the same request', async () => {
  const actor = new Actor();
  const { json } = await actor.send(create, { body: card, key: 'a' });
  const confirm = `POST /v1/payment_intents/${json.id}/confirm`;
  const first = actor.send(confirm, { key: 'b' });
  await settled();
  await actor.settle({ result: 'done' });
  const again = await actor.send(confirm, { body: { payment_method_type: 'card' }, key: 'b' });
  assert.equal(again.replayed, true);
  assert.equal(again.text, (await first).text);
});

test('leaving the version of a webhook endpoint out and naming the own one is the same request', async () => {
  const actor = new Actor();
  const endpoint = { url: 'https://hooks.example/a', enabled_events: ['*'] };
  const first = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  await settled();
  actor.lookUps[0]!.settle(true);
  await first;
  const named = { ...endpoint, api_version: '2026-11-01' };
  assert.equal((await actor.send('POST /v1/webhook_endpoints', { body: named, key: 'a' })).replayed, true);
});

test('failing a card attempt without a decline code and with the usual one is the same request', async () => {
  const actor = new Actor();
  const { json } = await actor.send(create, { body: card, key: 'a' });
  const confirmed = actor.send(`POST /v1/payment_intents/${json.id}/confirm`, { key: 'b' });
  await settled();
  await actor.settle({ result: 'done' });
  const fail = `POST /v1/test_helpers/charges/${(await confirmed).json.latest_charge}/fail`;
  const first = await actor.send(fail, { key: 'c' });
  assert.equal(first.status, 200);
  const again = await actor.send(fail, { body: { decline_code: 'generic_decline' }, key: 'c' });
  assert.deepEqual([again.replayed, again.text], [true, first.text]);
});

test('null for an optional parameter and leaving it out is the same request', async () => {
  const actor = new Actor();
  const unset = { customer: null, description: null, metadata: null, payment_method_types: null };
  const first = await actor.send(create, { body: { ...card, ...unset }, key: 'a' });
  assert.deepEqual([first.status, first.json.description, first.json.metadata], [200, null, {}]);
  assert.equal((await actor.send(create, { body: card, key: 'a' })).replayed, true);
  const { json } = await actor.send(create, { body: { ...card, amount: null }, key: 'b' });
  assert.deepEqual([json.error.code, json.error.param], ['parameter_invalid', 'amount']);
});

for (const [body, param] of [
  [{ metadata: { a: '4242424242424242' }, amount: 'x', currency: 'mad' }, 'metadata.a'],
  [{ amount: 'x', metadata: { a: '4242424242424242' }, currency: 'mad' }, 'amount'],
  [{ amount: 'x', metadata: { a: '4242424242424242' } }, 'currency'],
] as const) {
  test(`of an invalid value and a card number the first is told: ${JSON.stringify(body)}`, async () => {
    const { json } = await new Actor().send('POST /v1/payment_intents', { body, key: 'a' });
    assert.equal(json.error.param, param);
  });
}

const number = '4242 4242 4242 4242';
const inQuery = encodeURIComponent(number);
for (const [what, request, sent] of [
  ['a text', 'POST /v1/payment_intents', { body: { amount: 5, currency: 'mad', description: number } }],
  ['a parameter name', 'POST /v1/payment_intents', { body: { amount: 5, currency: 'mad', [number]: 'x' } }],
  ['a metadata name', 'POST /v1/customers', { body: { metadata: { [number]: 'x' } } }],
  ['a metadata name with a wrong value', 'POST /v1/customers', { body: { metadata: { [number]: 5 } } }],
  [
    'the name of a nested parameter',
    'POST /v1/checkout/sessions',
    { body: { payment_intent_data: { [number]: 5 } } },
  ],
  ['a text below a card number', 'POST /v1/customers', { body: { metadata: { [number]: number } } }],
  ['the id of an object', 'POST /v1/refunds', { body: { charge: number, metadata: {} } }],
  ['an id in the path', `POST /v1/payment_intents/4242424242424242/cancel`, {}],
  ['a name in the query string', `GET /v1/payment_intents?${inQuery}=1`, {}],
  ['a cursor', `GET /v1/payment_intents?starting_after=${inQuery}`, {}],
  ['Idempotency-Key', 'POST /v1/customers', { key: number }],
] as const) {
  test(`nothing is repeated of a card number: ${what}`, async () => {
    const { status, text } = await new Actor().send(request, { key: 'a', ...sent });
    assert.ok(status === 400 || status === 404, text);
    assert.doesNotMatch(text, /4242/);
  });
}

for (const [query, isSearch] of [
  ['limit=1&starting_after=&ending_before=', false],
  ['%6Cimit=1&starting%5Fafter', false],
  ['status=succeeded', true],
  ['limit=1&%73tatus=succeeded', true],
] as const) {
  test(`a list by ${query} is ${isSearch ? 'a' : 'no'} search`, async () => {
    const actor = new Actor();
    const { buckets } = account.limits.test;
    const test = {
      ...account.limits.test,
      buckets: { ...buckets, search: { ...buckets.search!, perMinute: 6 } },
    };
    actor.shard.putAccount({ ...account, limits: { ...account.limits, test } });
    const { remaining } = await actor.send(`GET /v1/payment_intents?${query}`);
    // Six a minute, and ten seconds' worth of burst.
    assert.equal(remaining === 6, isSearch);
  });
}

test('what was sent as a form is refused with the JSON to send; an empty body needs no content type', async () => {
  const actor = new Actor();
  const send = async (body: string) => {
    const sent = { body, key: 'form', wrongContentType: true } as const;
    const { status, json } = await actor.send('POST /v1/payment_intents', sent);
    return [status, json.error.code, json.error.message.includes('{"amount":12000,"currency":"mad"}')];
  };
  assert.deepEqual(await send('amount=12000&currency=mad'), [400, 'invalid_request', true]);
  assert.deepEqual(await send('amount'), [400, 'invalid_request', false]);
  assert.deepEqual(await send(''), [400, 'parameter_missing', false]);
});

test('a webhook address that could not be looked up is refused for now, and the same key looks again', async () => {
  const actor = new Actor();
  const body = { url: 'https://hooks.example/a', enabled_events: ['*'] };
  const first = actor.send('POST /v1/webhook_endpoints', { body, key: 'a' });
  await settled();
  actor.lookUps[0]!.fail();
  const refused = await first;
  assert.deepEqual(
    [refused.status, refused.json.error.code, refused.retryAfterSeconds],
    [400, 'url_not_allowed', 5],
  );
  const second = actor.send('POST /v1/webhook_endpoints', { body, key: 'a' });
  await settled();
  actor.lookUps[1]!.settle(true);
  const created = await second;
  assert.deepEqual([created.status, created.replayed], [200, false]);
});

/** A shard that starts after all of its 600 sessions have run out. */
async function withMuchOverdue(): Promise<Actor> {
  const actor = new Actor();
  const body = { amount: 12_000, currency: 'mad', success_url: 'https://shop.example/thanks' };
  for (let i = 0; i < 600; i++) await actor.send('POST /v1/checkout/sessions', { body, key: `s${i}` });
  await actor.restart();
  actor.clock.advance(25 * 3_600_000);
  return actor;
}

test('what ran out while the shard was down has ended before the first request', async () => {
  const actor = await withMuchOverdue();
  await actor.shard.catchUp();
  const { json } = await actor.send('GET /v1/checkout/sessions?limit=100');
  assert.ok(json.data.every(({ status }: { status: string }) => status === 'expired'));
  const intents = await actor.send('GET /v1/payment_intents?status=canceled&limit=100');
  assert.equal(intents.json.has_more, true);
  const open = await actor.send('GET /v1/payment_intents?status=requires_payment_method');
  assert.deepEqual(open.json.data, []);
});

test('a start waits for the disk, and does not ask again and again whether that is done', async () => {
  const actor = await withMuchOverdue();
  let runs = 0;
  const { soon } = actor;
  actor.soon = (action) => {
    runs++;
    soon(action);
  };
  actor.holdDisk();
  const caughtUp = actor.shard.catchUp();
  for (let i = 0; i < 100; i++) await settled();
  assert.ok(runs < 10, `${runs} tasks while the disk writes`);
  await actor.releaseDisk();
  await caughtUp;
  const open = await actor.send('GET /v1/payment_intents?status=requires_payment_method');
  assert.deepEqual(open.json.data, []);
});

test('the exports of an edge that has gone are over, also those that it had just asked for', async () => {
  const actor = new Actor();
  const begin = async (livemode: boolean) =>
    (await actor.send('GET /v1/exports/charges', { livemode })).status;
  for (const livemode of [false, true]) {
    for (let i = 1; i < exportsAtOnceMax; i++) await begin(livemode);
    const last = begin(livemode);
    actor.leave();
    assert.equal(await last, 200);
  }
  for (const livemode of [false, true]) {
    for (let i = 0; i < exportsAtOnceMax; i++) assert.equal(await begin(livemode), 200);
    assert.equal(await begin(livemode), 429);
  }
});

test('exports at once: one too many spends nothing, and each mode has its own', async () => {
  const actor = new Actor();
  const begin = (livemode = false) => actor.send('GET /v1/exports/charges', { livemode });
  const begun = [];
  for (let i = 0; i < exportsAtOnceMax; i++) begun.push(await begin());
  assert.ok(begun.every(({ status }) => status === 200));
  const refused = await begin();
  assert.deepEqual([refused.status, refused.json.error.code], [429, 'rate_limit_exceeded']);
  assert.equal(refused.retryAfterSeconds, 5);
  assert.equal(refused.remaining, begun.at(-1)!.remaining);
  assert.equal((await begin(true)).status, 200);
  const { requestId } = begun[0]!;
  for (let i = 0; i < 2; i++) await actor.ask({ kind: 'export_ended', org, livemode: false, requestId });
  assert.deepEqual([(await begin()).status, (await begin()).status], [200, 429]);
  await actor.restart();
  assert.equal((await begin()).status, 200, 'what a shard that ended counted is over');
});
