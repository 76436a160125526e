// Reading over HTTP: lists and their cursors, exports of any size to clients of any speed, and the addresses outside of the
// API.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { exportsAtOnceMax } from '../../src/contract/limits.ts';
import { openapiDocument } from '../../src/contract/openapi/document.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { RawConnection, requestText } from './raw.ts';

let service: Service;
let key: string;
/** Intents, newest first. */
const ids: string[] = [];

before(async () => {
  service = await startService();
  ({ key } = await newOrganization(service));
  for (let i = 0; i < 25; i++) {
    const body = {
      amount: 10_000 + i,
      currency: 'mad',
      description: `Order "${i}", paid\nlater`,
      metadata: { i: `=${i}` },
    };
    const { json } = await service.call('/v1/payment_intents', { key, body, idempotencyKey: `k${i}` });
    ids.unshift(json.id);
  }
});
after(() => service.stop());

const list = async (query: string) => (await service.call(`/v1/payment_intents${query}`, { key })).json;
const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

test('a list is an envelope, ten at a time, newest first', async () => {
  const page = await list('');
  assert.deepEqual(Object.keys(page), ['object', 'url', 'has_more', 'data']);
  assert.deepEqual([page.object, page.url, page.has_more], ['list', '/v1/payment_intents', true]);
  assert.deepEqual(idsOf(page), ids.slice(0, 10));
});

test('cursors walk the list forwards and back', async () => {
  const walked: string[] = [];
  for (let query = '?limit=7'; ; ) {
    const page = await list(query);
    walked.push(...idsOf(page));
    if (!page.has_more) break;
    query = `?limit=7&starting_after=${walked.at(-1)}`;
  }
  assert.deepEqual(walked, ids);
  const before = await list(`?limit=3&ending_before=${ids[10]}`);
  assert.deepEqual([idsOf(before), before.has_more], [ids.slice(7, 10), true]);
  const newest = await list(`?limit=3&ending_before=${ids[2]}`);
  assert.deepEqual([idsOf(newest), newest.has_more], [ids.slice(0, 2), false]);
  assert.deepEqual(await list(`?starting_after=${ids.at(-1)}`), { ...newest, data: [] });
});

const refused: readonly (readonly [query: string, status: number, code: string, param: string | null])[] = [
  ['?limit=0', 400, 'parameter_invalid', 'limit'],
  ['?limit=101', 400, 'parameter_invalid', 'limit'],
  ['?limit=1.5', 400, 'parameter_invalid', 'limit'],
  ['?limit=ten', 400, 'parameter_invalid', 'limit'],
  ['?limit=', 400, 'parameter_invalid', 'limit'],
  ['?limit=1&limit=2', 400, 'parameter_invalid', 'limit'],
  ['?limit=1e1', 400, 'parameter_invalid', 'limit'],
  ['?colour=red', 400, 'parameter_unknown', 'colour'],
  ['?limit=0&colour=red', 400, 'parameter_unknown', 'colour'],
  ['?__proto__=1', 400, 'parameter_unknown', '__proto__'],
  ['?constructor', 400, 'parameter_unknown', 'constructor'],
  ['?status=done', 400, 'parameter_invalid', 'status'],
  ['?created[gte]=yesterday', 400, 'parameter_invalid', 'created[gte]'],
  ['?created[eq]=1', 400, 'parameter_unknown', 'created[eq]'],
  ['?customer=%ff', 400, 'parameter_invalid', 'customer'],
  ['?starting_after=pi_1&ending_before=pi_2', 400, 'parameter_invalid', 'ending_before'],
  ['?starting_after=pi_1', 404, 'resource_missing', 'starting_after'],
  ['?ending_before=cus_1', 404, 'resource_missing', 'ending_before'],
  ['?customer=cus_1', 404, 'resource_missing', 'customer'],
];
for (const [query, status, code, param] of refused) {
  test(`a list with ${query} is refused: ${code}`, async () => {
    const { json, ...answer } = await service.call(`/v1/payment_intents${query}`, { key });
    assert.deepEqual([answer.status, json.error.code, json.error.param], [status, code, param]);
  });
}

test('names and values of a query string are percent-decoded', async () => {
  const page = await list('?li%6Dit=2&status=requires%5Fpayment%5Fmethod&&');
  assert.deepEqual(idsOf(page), ids.slice(0, 2));
  const { json } = await service.call('/v1/payment_intents', { key });
  const { created } = json.data.at(-1);
  assert.equal((await list(`?created%5Bgte%5D=${created}&limit=100`)).data.at(-1).created >= created, true);
  assert.deepEqual((await list('?created[lt]=1')).data, []);
});

// Exports.

test('an export as CSV has a line of names and a line each, quoted as needed', async () => {
  const answer = await service.call('/v1/exports/payment_intents', { key });
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="payment_intents.csv"');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.match(answer.headers.get('request-id') ?? '', /^req_/);
  assert.ok(answer.headers.has('ratelimit-limit'));
  const lines = answer.text.split('\r\n');
  assert.equal(lines.length, ids.length + 2);
  assert.match(lines[0]!, /^id,created,livemode,amount,/);
  assert.ok(lines[1]!.startsWith(`${ids[0]},`));
  assert.ok(lines[1]!.includes('"Order ""24"", paid\nlater"'));
  assert.ok(lines[1]!.includes('"{""i"":""=24""}"'));
});

test('an export as NDJSON has an object a line, the same as the list has', async () => {
  const answer = await service.call('/v1/exports/payment_intents?format=ndjson', { key });
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="payment_intents.ndjson"');
  const rows = answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(rows, (await list('?limit=100')).data);
});

test('the type of an export is that of its rows, however its parameters are written', async () => {
  for (const query of ['f%6Frmat=ndjson', 'format=%6edjson', '&format=ndjson&']) {
    const answer = await service.call(`/v1/exports/charges?${query}`, { key });
    assert.deepEqual([answer.headers.get('content-type'), answer.text], ['application/x-ndjson', '']);
  }
  const csv = await service.call('/v1/exports/refunds?format=csv', { key });
  assert.match(csv.text, /^id,.*\r\n$/);
});

const refusedExports: readonly (readonly [query: string, code: string])[] = [
  ['format=xml', 'parameter_invalid'],
  ['limit=5', 'parameter_unknown'],
  ['created[gte]=x', 'parameter_invalid'],
];
for (const [query, code] of refusedExports) {
  test(`an export with ${query} is refused as an error, not as a file: ${code}`, async () => {
    const answer = await service.call(`/v1/exports/charges?${query}`, { key });
    assert.deepEqual([answer.status, answer.json.error.code], [400, code]);
  });
}

/** The key of an organization whose export is larger than the buffers of a connection. */
let large: string;

test('an export that the reader takes slowly is whole in the end, and holds up nobody', async () => {
  ({ key: large } = await newOrganization(service));
  const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, 'x'.repeat(500)]));
  const count = 800;
  for (let i = 0; i < count; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, j) =>
        service.call('/v1/payment_intents', {
          key: large,
          body: { amount: 10_000, currency: 'mad', metadata },
          idempotencyKey: `k${i + j}`,
        }),
      ),
    );
  }
  const connection = new RawConnection(service.url);
  const { socket } = connection;
  socket.pause();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.pause();
  const headers = [
    ['Authorization', `Bearer ${large}`],
    ['Connection', 'close'],
  ] as const;
  await connection.send(requestText('GET /v1/exports/payment_intents?format=ndjson', headers));
  for (let i = 0; i < 20; i++) assert.equal((await service.call('/v1/account', { key: large })).status, 200);
  socket.resume();
  const isWhole = () => chunks.at(-1)?.toString('latin1').endsWith('0\r\n\r\n');
  while (!isWhole()) await new Promise((resolve) => socket.once('data', resolve));
  connection.end();
  const text = Buffer.concat(chunks).toString('latin1');
  assert.equal(text.match(/"id":"pi_/g)?.length, count);
});

test('so many exports at once and no more: one that ends makes room', async () => {
  const path = '/v1/exports/payment_intents?format=ndjson';
  const readers = Array.from({ length: exportsAtOnceMax }, () => new RawConnection(service.url));
  for (const reader of readers) {
    await reader.send(requestText(`GET ${path}`, [['Authorization', `Bearer ${large}`]]));
    await once(reader.socket, 'data');
    reader.socket.pause();
  }
  const refused = await service.call(path, { key: large });
  assert.deepEqual([refused.status, refused.json.error.code], [429, 'rate_limit_exceeded']);
  assert.match(refused.json.error.message, /search and exports.* 4\./);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.ok(refused.headers.get('ratelimit-remaining'));
  assert.equal((await service.call('/v1/exports/charges', { key })).status, 200, "another organization's");
  readers[0]!.end();
  const whole = await service.until(async () => {
    const answer = await service.call(path, { key: large });
    return answer.status === 200 ? answer : undefined;
  });
  assert.equal(whole.text.match(/"id":"pi_/g)?.length, 800);
  for (const reader of readers) reader.end();
});

test('a reader that goes away in the middle of an export ends it', async () => {
  for (let i = 0; i < 5; i++) {
    const connection = new RawConnection(service.url);
    await connection.send(
      requestText('GET /v1/exports/payment_intents', [['Authorization', `Bearer ${key}`]]),
    );
    connection.end();
  }
  assert.equal((await service.call('/v1/account', { key })).status, 200);
});

// Outside of the API.

const documents: readonly (readonly [path: string, type: string, content: RegExp])[] = [
  ['/healthz', 'text/plain; charset=utf-8', /^ok\n$/],
  ['/readyz', 'text/plain; charset=utf-8', /^ready\n$/],
  ['/', 'text/html; charset=utf-8', /href="\/docs"[\s\S]*href="\/dashboard"/],
  ['/docs/errors', 'text/html; charset=utf-8', /id="idempotency_in_progress"/],
  ['/docs/search?q=idempotency', 'text/html; charset=utf-8', /href="\/docs\/retries/],
];
for (const [path, type, content] of documents) {
  test(`${path} needs no key`, async () => {
    const response = await fetch(service.url + path);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), type);
    assert.match(response.headers.get('request-id') ?? '', /^req_/);
    assert.match(await response.text(), content);
  });
}

test('/openapi.json is the description of this very service', async () => {
  const response = await fetch(`${service.url}/openapi.json`);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(openapiDocument(service.url))));
});

for (const path of [
  '/v1',
  '/v2/account',
  '/V1/account',
  '//v1/account',
  '/healthz/',
  '/__proto__',
  '/favicon.ico',
]) {
  test(`there is nothing at ${path}, and the answer is an error like any other`, async () => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(service.url + path, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Accept-Language': 'fr' },
      });
      const { error } = (await response.json()) as { error: Record<string, string> };
      assert.deepEqual([response.status, error.code], [404, 'unrecognized_request_url']);
      assert.equal(error.request_id, response.headers.get('request-id'));
    }
  });
}

test('a page of a payment takes the form that it shows', async () => {
  const body = {
    amount: 25_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.example/thanks',
  };
  const session = await service.call('/v1/checkout/sessions', { key, body, idempotencyKey: 'session' });
  const page = await fetch(session.json.url);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('request-id') ?? '', /^req_/);
  const html = await page.text();
  const cookie = page.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  const form = new URLSearchParams();
  for (const [, attributes] of html.matchAll(/<input type="hidden"([^>]*)>/g)) {
    const name = /name="([^"]*)"/.exec(attributes!)?.[1];
    const value = /value="([^"]*)"/.exec(attributes!)?.[1];
    if (name !== undefined) form.set(name, value ?? '');
  }
  form.set('method', 'cash');
  const action = /action="([^"]*)"/.exec(html)?.[1] ?? '';
  const sent = await fetch(new URL(action, session.json.url), {
    method: 'POST',
    headers: { Cookie: cookie, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    redirect: 'manual',
  });
  assert.equal(sent.status, 303, await sent.text());
  const intent = await service.call(`/v1/payment_intents/${session.json.payment_intent}`, { key });
  assert.equal(intent.json.next_action?.type, 'cash_display_details');
});
