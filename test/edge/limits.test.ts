// Rate limits, the daily cap and idempotency over HTTP: headers, waits, replays. The limits are so small that no bucket
// refills while a test runs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, type Call, newKey, newOrganization, type Service, startService } from '../service.ts';

let service: Service;

before(async () => {
  service = await startService();
});
after(() => service.stop());

const intent = { amount: 12_000, currency: 'mad' };

interface Shop {
  readonly org: string;
  call(path: string, call?: Call): Promise<Answer>;
  create(idempotencyKey: string): Promise<Answer>;
  limit(bucket: string, perMinute: number, untilMs?: number | null): Promise<unknown>;
  day(requests: number, paymentCreations: number): Promise<unknown>;
}

/** An organization of its own for a test, without limits but those that it sets. */
async function newShop(): Promise<Shop> {
  const { id: org, key } = await newOrganization(service);
  const call: Shop['call'] = (path, options = {}) => service.call(path, { key, ...options });
  return {
    org,
    call,
    create: (idempotencyKey) => call('/v1/payment_intents', { body: intent, idempotencyKey }),
    limit: (bucket, perMinute, untilMs = null) =>
      service.operate('limits.set', { org, mode: 'test', bucket, perMinute, source: 'custom', untilMs }),
    day: (requests, paymentCreations) =>
      service.operate('limits.daily', { org, mode: 'test', requests, paymentCreations }),
  };
}

const headersOf = ({ headers }: Answer) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));

function assertLimited(answer: Answer, limit: number, bucket: string): void {
  assert.deepEqual([answer.status, answer.json.error.code], [429, 'rate_limit_exceeded']);
  assert.equal(answer.json.error.type, 'rate_limit_error');
  const [shownLimit, remaining, reset] = headersOf(answer);
  assert.deepEqual([shownLimit, remaining], [String(limit), '0']);
  assert.ok(Number(reset) > 0);
  const wait = Number(answer.headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= 60 / limit + 1, `a wait of ${wait}`);
  assert.match(answer.json.error.message, new RegExp(`${bucket}.*${limit}.*${wait}`));
}

test('new organizations have the default limits', async () => {
  const { keys } = await service.operate<{ keys: { test: { secret: string } } }>('org.create', {
    name: 'New',
  });
  const answer = await service.call('/v1/account', { key: keys.test.secret });
  assert.deepEqual(headersOf(answer), ['600', '699', '1']);
});

test('the headers count down, a limit refuses with the wait, and others are not held up', async () => {
  const shop = await newShop();
  const other = await newShop();
  await shop.limit('writes', 6);
  for (let left = 6; left >= 0; left--) {
    const answer = await shop.call('/v1/customers', { body: {} });
    assert.deepEqual([answer.status, ...headersOf(answer).slice(0, 2)], [200, '6', String(left)]);
    assert.equal(answer.headers.get('retry-after'), null);
  }
  assertLimited(await shop.call('/v1/customers', { body: {} }), 6, 'writes');
  assert.equal((await shop.call('/v1/account')).status, 200);
  assert.equal((await other.call('/v1/customers', { body: {} })).status, 200);
});

test('all keys of an organization share its limits, test and live do not', async () => {
  const shop = await newShop();
  await service.operate('org.activate', { org: shop.org });
  await shop.limit('writes', 6);
  const second = await newKey(service, shop.org, 'test');
  for (let i = 0; i < 7; i++)
    await shop.call('/v1/customers', { body: {}, ...(i % 2 === 0 && { key: second }) });
  assertLimited(await shop.call('/v1/customers', { body: {}, key: second }), 6, 'writes');
  const live = await shop.call('/v1/customers', { body: {}, key: await newKey(service, shop.org, 'live') });
  assert.equal(live.status, 200);
});

const buckets: readonly (readonly [
  bucket: string,
  name: string,
  path: string,
  call: Call,
  elsewhere: string,
])[] = [
  ['all', 'all requests', '/v1/account', {}, ''],
  ['writes', 'writes', '/v1/customers', { body: {} }, '/v1/account'],
  [
    'payment_creation',
    'payment creation',
    '/v1/payment_intents',
    { body: intent, idempotencyKey: 'a' },
    '/v1/events',
  ],
  [
    'payment_creation',
    'payment creation',
    '/v1/checkout/sessions',
    { body: { ...intent, success_url: 'https://shop.example' }, idempotencyKey: 'a' },
    '/v1/events',
  ],
  ['search', 'search and exports', '/v1/payment_intents?status=succeeded', {}, '/v1/payment_intents?limit=5'],
  ['search', 'search and exports', '/v1/events?type=payment_intent.created&limit=1', {}, '/v1/events'],
  ['search', 'search and exports', '/v1/customers?created[gte]=1', {}, '/v1/customers?starting_after=x'],
  ['search', 'search and exports', '/v1/exports/charges', {}, '/v1/charges'],
];
for (const [bucket, name, path, call, elsewhere] of buckets) {
  test(`${path} spends ${bucket}${elsewhere === '' ? '' : `, ${elsewhere} does not`}`, async () => {
    const shop = await newShop();
    await shop.limit(bucket, 1);
    const first = await shop.call(path, call);
    assert.equal(first.headers.get('ratelimit-limit'), '1');
    assertLimited(await shop.call(path, call), 1, name);
    if (elsewhere !== '') assert.notEqual((await shop.call(elsewhere)).status, 429);
  });
}

test('a message about a limit is in the language of the request', async () => {
  const shop = await newShop();
  await shop.limit('writes', 1);
  await shop.call('/v1/customers', { body: {} });
  const texts = await Promise.all(
    ['en', 'fr', 'ar'].map(async (language) => {
      const headers = { 'Accept-Language': language };
      return (await shop.call('/v1/customers', { body: {}, headers })).json.error.message as string;
    }),
  );
  assert.match(texts[0]!, /writes/);
  assert.match(texts[1]!, /écritures/);
  assert.match(texts[2]!, /عمليات الكتابة/);
});

test('a limit that is set is in force on the next request, raised and lowered, and reset', async () => {
  const shop = await newShop();
  const limitOf = async () => (await shop.call('/v1/account')).headers.get('ratelimit-limit');
  for (const perMinute of [60, 600, 6]) {
    await shop.limit('all', perMinute);
    assert.equal(await limitOf(), String(perMinute));
    const { limits } = (await shop.call('/v1/account')).json;
    assert.deepEqual(limits.all, {
      per_minute: perMinute,
      burst: Math.round(perMinute / 6),
      source: 'custom',
    });
  }
  await service.operate('limits.reset', { org: shop.org, mode: 'test' });
  assert.equal(await limitOf(), '600');
  assert.equal((await shop.call('/v1/account')).json.limits.all.source, 'default');
});

test('a request that is refused for its form is counted, one that has no route is not', async () => {
  const shop = await newShop();
  await shop.limit('writes', 6);
  const remaining = async (path: string, body: unknown) =>
    Number((await shop.call(path, { body })).headers.get('ratelimit-remaining'));
  assert.equal(await remaining('/v1/customers', '{'), 6);
  assert.equal(await remaining('/v1/customers', { colour: 'red' }), 5);
  assert.equal(await remaining('/v1/payment_intents', {}), 4);
  assert.equal((await shop.call('/v1/customer', { body: {} })).headers.get('ratelimit-remaining'), null);
  assert.equal(await remaining('/v1/customers', {}), 3);
});

// The daily cap.

test('past the daily cap of requests everything is refused until midnight in Morocco', async () => {
  const shop = await newShop();
  await shop.day(3, 3);
  for (let i = 0; i < 3; i++) assert.equal((await shop.call('/v1/account')).status, 200);
  const answer = await shop.call('/v1/account');
  assert.deepEqual([answer.status, answer.json.error.code], [429, 'test_daily_cap_reached']);
  assert.equal(answer.json.error.type, 'rate_limit_error');
  const wait = Number(answer.headers.get('retry-after'));
  const time = new Intl.DateTimeFormat('en', {
    timeZone: 'Africa/Casablanca',
    hourCycle: 'h23',
    timeStyle: 'medium',
  });
  const [hours, minutes, seconds] = time.format().split(':').map(Number) as [number, number, number];
  const untilMidnight = 86_400 - hours * 3_600 - minutes * 60 - seconds;
  // On the days when the clocks change it may be an hour more or less.
  assert.ok(Math.min(...[-3_600, 0, 3_600].map((shift) => Math.abs(wait - untilMidnight + shift))) <= 5);
  assert.equal(headersOf(answer)[0], '100000000');
  await shop.day(4, 4);
  assert.equal((await shop.call('/v1/account')).status, 200);
});

test('past the daily cap of payment creations everything else goes on', async () => {
  const shop = await newShop();
  await shop.day(100, 2);
  for (const key of ['a', 'b']) assert.equal((await shop.create(key)).status, 200);
  const refused = await shop.create('c');
  assert.equal(refused.json.error.code, 'test_daily_cap_reached');
  // The cap is checked before the key, so a replay is refused, too.
  assert.equal((await shop.create('a')).json.error.code, 'test_daily_cap_reached');
  assert.equal((await shop.call('/v1/payment_intents')).json.data.length, 2);
  await shop.day(100, 4);
  const replay = await shop.create('a');
  assert.equal(replay.headers.get('idempotent-replayed'), 'true');
  const created = await shop.create('c');
  assert.deepEqual([created.status, created.headers.get('idempotent-replayed')], [200, null]);
});

test('the daily cap counts the payment creations that run, and no replays', async () => {
  const shop = await newShop();
  await shop.day(100, 3);
  for (let i = 0; i < 10; i++) assert.equal((await shop.create('a')).status, 200);
  // Neither a key that is used for something else nor a body that is not valid creates anything.
  const body = { amount: 5, currency: 'eur' };
  for (const idempotencyKey of ['a', 'b']) {
    assert.equal((await shop.call('/v1/payment_intents', { idempotencyKey, body })).status, 400);
  }
  for (const key of ['b', 'c']) assert.equal((await shop.create(key)).status, 200);
  assert.equal((await shop.create('d')).json.error.code, 'test_daily_cap_reached');
});

// Idempotency.

test('a replay has the first status and bytes, says so, and spends', async () => {
  const shop = await newShop();
  await shop.limit('payment_creation', 6);
  const first = await shop.create('a');
  assert.equal(first.headers.get('idempotent-replayed'), null);
  assert.equal(first.headers.get('original-request'), null);
  for (const left of ['5', '4', '3']) {
    const replay = await shop.create('a');
    assert.deepEqual([replay.status, replay.text], [200, first.text]);
    assert.equal(replay.headers.get('idempotent-replayed'), 'true');
    assert.equal(replay.headers.get('original-request'), first.headers.get('request-id'));
    assert.notEqual(replay.headers.get('request-id'), first.headers.get('request-id'));
    assert.equal(replay.headers.get('ratelimit-remaining'), left);
  }
  assert.equal((await shop.call('/v1/payment_intents')).json.data.length, 1);
});

test('a replayed refusal is the first one, its request id and language included', async () => {
  const shop = await newShop();
  const send = (language: string) =>
    shop.call('/v1/payment_intents', {
      body: { ...intent, amount: 1 },
      idempotencyKey: 'a',
      headers: { 'Accept-Language': language },
    });
  const first = await send('fr');
  const replay = await send('ar');
  assert.deepEqual([replay.status, replay.text], [400, first.text]);
  assert.equal(replay.json.error.request_id, first.headers.get('request-id'));
  assert.equal(replay.headers.get('idempotent-replayed'), 'true');
});

test('the same key at the same time: one runs, the others are replays of it', async () => {
  const shop = await newShop();
  const answers = await Promise.all(Array.from({ length: 30 }, () => shop.create('a')));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1);
  assert.equal((await shop.call('/v1/payment_intents')).json.data.length, 1);
});

test('a key of another request is refused, and its own answer stays', async () => {
  const shop = await newShop();
  const first = await shop.create('a');
  const refused = await shop.call('/v1/payment_intents', {
    body: { ...intent, amount: 500 },
    idempotencyKey: 'a',
  });
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'idempotency_key_reused']);
  assert.equal(refused.json.error.type, 'idempotency_error');
  assert.equal((await shop.create('a')).text, first.text);
});

test('the event of a creation names the request and its key', async () => {
  const shop = await newShop();
  const first = await shop.create('order-1042');
  await shop.create('order-1042');
  const { data } = (await shop.call('/v1/events')).json;
  assert.equal(data.length, 1);
  assert.deepEqual(data[0].request, {
    id: first.headers.get('request-id'),
    idempotency_key: 'order-1042',
  });
  assert.deepEqual(data[0].data.object, first.json);
});
