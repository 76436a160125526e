// Keys over HTTP: every refusal in the contract's table, changes that apply to the next request, the separation of the modes,
// and the error object with all of its fields in three languages.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import type { languages } from '../../src/contract/vocabulary.ts';
import { type Answer, type Service, startService } from '../service.ts';
import { eventually } from '../webhooks/service-webhooks.ts';

type Keys = Record<'test' | 'live', Record<'secret' | 'publishable', string>>;

let service: Service;
let org: string;
let keys: Keys;

before(async () => {
  service = await startService();
  const created = await service.operate<{ id: string; keys: Keys }>('org.create', { name: 'Keys' });
  ({ id: org, keys } = created);
});
after(() => service.stop());

const account = (headers: Record<string, string>) => service.call('/v1/account', { key: null, headers });
const withKey = (key: string) => account({ Authorization: `Bearer ${key}` });
const newKey = async (mode: string, kind = 'secret') =>
  (await service.operate<{ key: string }>('key.create', { org, mode, kind })).key;

/** As RFC 6750 and RFC 7617 have them: clients that wait to be asked for a password need the realm. */
const challenges = 'Bearer realm="Payments API", Basic realm="Payments API"';

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error.code], [status, code]);
  const types: Record<number, string> = { 401: 'authentication_error', 403: 'permission_error' };
  assert.equal(answer.json.error.type, types[status]);
  assert.equal(answer.headers.get('www-authenticate'), status === 401 ? challenges : null);
  for (const name of ['limit', 'remaining', 'reset'])
    assert.equal(answer.headers.has(`ratelimit-${name}`), false);
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test('both forms of authentication are accepted', async () => {
  for (const header of [`Bearer ${keys.test.secret}`, basic(`${keys.test.secret}:`)]) {
    const answer = await account({ Authorization: header });
    assert.deepEqual([answer.status, answer.json.id, answer.json.livemode], [200, org, false]);
  }
});

const forms: readonly (readonly [what: string, headers: Record<string, string>, code: string])[] = [
  ['no key', {}, 'api_key_missing'],
  ['another scheme', { Authorization: 'Digest x' }, 'authentication_required'],
  ['an unknown key', { Authorization: 'Bearer svc_sk_test_nobody' }, 'api_key_invalid'],
  ['a key with a password', { Authorization: basic('svc_sk_test_nobody:x') }, 'api_key_invalid'],
];
for (const [what, headers, code] of forms) {
  test(`${what}: ${code}`, async () => assertRefused(await account(headers), 401, code));
}

test('a revoked key stops working at once, the others go on', async () => {
  const key = await newKey('test');
  assert.equal((await withKey(key)).status, 200);
  await service.operate('key.revoke', { key });
  assertRefused(await withKey(key), 401, 'api_key_revoked');
  assert.equal((await withKey(keys.test.secret)).status, 200);
});

test('a key that is revoked while the body of its request is on its way opens nothing', async () => {
  const key = await newKey('test');
  const body = '{"amount":5000,"currency":"mad"}';
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const head = [
    'POST /v1/payment_intents HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Idempotency-Key: slow',
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
  // The head has been read once a request that was sent later is answered.
  assert.equal((await withKey(key)).status, 200);
  await service.operate('key.revoke', { key });
  socket.write(body.slice(5));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  assert.match(answer.toString('latin1'), /^HTTP\/1\.1 401 .*"code":"api_key_revoked"/s);
});

test('a rolled key works for its overlap; without one it stops at once', async () => {
  const first = await newKey('test');
  const second = await service.operate<{ key: string }>('key.roll', { key: first, overlapSeconds: 3_600 });
  assert.equal((await withKey(first)).status, 200);
  assert.equal((await withKey(second.key)).status, 200);
  const third = await service.operate<{ key: string }>('key.roll', { key: second.key, overlapSeconds: 0 });
  assertRefused(await withKey(second.key), 401, 'api_key_expired');
  assert.equal((await withKey(third.key)).status, 200);
});

test('the list of keys tells when each was last used', async () => {
  const [used, unused] = [await newKey('test'), await newKey('test')];
  await withKey(used);
  type Listed = { hint: string; last_used: string | null }[];
  const lastUsed = async (key: string) =>
    (await service.operate<Listed>('key.list', { org })).find(({ hint }) => key.endsWith(hint))!.last_used;
  const at = await eventually(async () => (await lastUsed(used)) ?? undefined);
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
  assert.equal(await lastUsed(unused), null);
});

test('a publishable key needs to be a secret one, on every route', async () => {
  for (const path of ['/v1/account', '/v1/payment_intents', '/v1/exports/charges']) {
    assertRefused(await service.call(path, { key: keys.test.publishable }), 403, 'secret_key_required');
  }
  const created = await service.call('/v1/payment_intents', { key: keys.test.publishable, body: {} });
  assertRefused(created, 403, 'secret_key_required');
  // An address that does not exist comes first.
  const missing = await service.call('/v1/nothing', { key: keys.test.publishable });
  assert.equal(missing.json.error.code, 'unrecognized_request_url');
});

test('live keys work once the account is activated; test helpers never take them', async () => {
  assertRefused(await withKey(keys.live.secret), 403, 'live_mode_not_activated');
  assertRefused(await withKey(keys.live.publishable), 403, 'live_mode_not_activated');
  await service.operate('org.activate', { org });
  assert.equal((await withKey(keys.live.secret)).json.livemode, true);
  for (const path of ['charges/ch_1/complete', 'cash_payments', 'refunds/re_1/fail']) {
    const answer = await service.call(`/v1/test_helpers/${path}`, { key: keys.live.secret, body: {} });
    assertRefused(answer, 403, 'test_mode_only');
  }
});

test('a suspended account is refused with all of its keys, and reinstated; a closed one is refused for good', async () => {
  const other = await service.operate<{ id: string; keys: Keys }>('org.create', { name: 'Other' });
  await service.operate('org.suspend', { org: other.id });
  for (const mode of ['test', 'live'] as const) {
    for (const kind of ['secret', 'publishable'] as const) {
      assertRefused(await withKey(other.keys[mode][kind]), 403, 'account_inactive');
    }
  }
  await service.operate('org.reinstate', { org: other.id });
  assert.equal((await withKey(other.keys.test.secret)).status, 200);
  await service.operate('org.close', { org: other.id });
  assertRefused(await withKey(other.keys.test.secret), 403, 'account_inactive');
  assert.equal((await withKey(keys.test.secret)).status, 200);
});

test('modes never cross', async () => {
  await service.operate('org.activate', { org });
  const body = { amount: 12_000, currency: 'mad' };
  const made: Record<string, Answer> = {};
  for (const mode of ['test', 'live'] as const) {
    const methods = { card: true };
    await service.operate('org.methods', { org, mode, methods });
    const answer = await service.call('/v1/customers', {
      key: keys[mode].secret,
      body: { name: mode },
      idempotencyKey: 'same',
    });
    assert.deepEqual([answer.status, answer.json.livemode], [200, mode === 'live']);
    made[mode] = answer;
  }
  assert.notEqual(made.test!.json.id, made.live!.json.id);
  for (const [mine, theirs] of [
    ['test', 'live'],
    ['live', 'test'],
  ] as const) {
    const key = keys[mine].secret;
    const { id } = made[theirs]!.json;
    const missing = await service.call(`/v1/customers/${id}`, { key });
    assert.deepEqual([missing.status, missing.json.error.code], [404, 'resource_missing']);
    assert.match(missing.json.error.message, new RegExp(`${theirs} mode`));
    const list = await service.call('/v1/customers', { key });
    assert.deepEqual(
      list.json.data.map((customer: { id: string }) => customer.id),
      [made[mine]!.json.id],
    );
    const cursor = await service.call(`/v1/customers?starting_after=${id}`, { key });
    assert.equal(cursor.json.error.code, 'resource_missing');
    const changed = await service.call(`/v1/customers/${id}`, { key, body: { name: 'x' } });
    assert.equal(changed.json.error.code, 'resource_missing');
    const deleted = await service.call(`/v1/customers/${id}`, { key, method: 'DELETE' });
    assert.equal(deleted.json.error.code, 'resource_missing');
  }
  // A parameter that names an object of the other mode.
  const intent = await service.call('/v1/payment_intents', {
    key: keys.test.secret,
    body: { ...body, customer: made.live!.json.id },
    idempotencyKey: 'crossed',
  });
  assert.deepEqual([intent.json.error.code, intent.json.error.param], ['resource_missing', 'customer']);
});

test('what belongs to another organization is just not there', async () => {
  const other = await service.operate<{ id: string; keys: Keys }>('org.create', { name: 'Stranger' });
  const { json } = await service.call('/v1/customers', { key: keys.test.secret, body: {} });
  const missing = await service.call(`/v1/customers/${json.id}`, { key: other.keys.test.secret });
  assert.deepEqual([missing.status, missing.json.error.code], [404, 'resource_missing']);
  assert.doesNotMatch(missing.json.error.message, /mode exists|live mode|in test mode only/);
  const unknown = await service.call('/v1/customers/cus_1', { key: other.keys.test.secret });
  const withoutIds = ({ json }: Answer) => json.error.message.replace(/cus_\w+/, '');
  assert.equal(withoutIds(missing), withoutIds(unknown));
});

// The version header.

const versions: readonly (readonly [version: string, status: number])[] = [
  ['2026-11-01', 200],
  ['2026-11-02', 400],
  ['1', 400],
  ['', 400],
  ['latest', 400],
  ['2026-11-01, 2026-11-01', 400],
];
for (const [version, status] of versions) {
  test(`version "${version}" is ${status === 200 ? 'taken' : 'refused'}`, async () => {
    const answer = await service.call('/v1/account', {
      key: keys.test.secret,
      headers: { 'X-Service-Version': version },
    });
    assert.equal(answer.status, status);
    if (status === 200) return;
    assert.equal(answer.json.error.code, 'api_version_invalid');
    assert.match(answer.json.error.message, /2026-11-01/);
    assert.equal(answer.headers.has('ratelimit-limit'), false);
  });
}

// The error object.

const accepted: readonly (readonly [header: string, language: (typeof languages)[number]])[] = [
  ['en', 'en'],
  ['fr', 'fr'],
  ['ar', 'ar'],
  ['fr-MA, fr;q=0.9, en;q=0.8', 'fr'],
  ['ar-MA;q=0.5, fr;q=0.7', 'fr'],
  ['en;q=0.1, ar;q=0.2', 'ar'],
  ['de, fr;q=0', 'en'],
  ['*;q=0.5, fr;q=0', 'en'],
  ['zh', 'en'],
  ['', 'en'],
  [';;;q=', 'en'],
];
const arabic = /[\u0600-\u06ff]/;
const french = /paramètre/;
for (const [header, language] of accepted) {
  test(`Accept-Language "${header}" is answered in ${language}, by the edge and by the shard`, async () => {
    const headers = { 'Accept-Language': header };
    const answers = [
      await service.call('/v1/account', { key: null, headers }),
      await service.call('/v1/account?colour=red', { key: keys.test.secret, headers }),
    ];
    for (const { json } of answers) assert.equal(arabic.test(json.error.message), language === 'ar');
    assert.equal(french.test(answers[1]!.json.error.message), language === 'fr');
  });
}

test('the error object has all of its fields, and its page explains the code', async () => {
  const answer = await service.call('/v1/payment_intents', {
    key: keys.test.secret,
    body: { amount: 12_000, currency: 'mad', metadata: { order_id: 7 } },
    idempotencyKey: 'fields',
  });
  const { error } = answer.json;
  assert.deepEqual(Object.keys(answer.json), ['error']);
  assert.deepEqual(Object.keys(error), [
    'type',
    'code',
    'decline_code',
    'param',
    'message',
    'doc_url',
    'request_id',
  ]);
  assert.equal(error.type, 'invalid_request_error');
  assert.equal(error.code, 'parameter_invalid');
  assert.equal(error.decline_code, null);
  assert.equal(error.param, 'metadata.order_id');
  assert.equal(error.doc_url, `${service.url}/docs/errors#parameter_invalid`);
  assert.equal(error.request_id, answer.headers.get('request-id'));
  const page = await fetch(error.doc_url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /id="parameter_invalid"/);
});

test('an answer is JSON and says so, a refusal too', async () => {
  for (const path of ['/v1/account', '/v1/nothing', '/v1/payment_intents/pi_1']) {
    const { headers } = await service.call(path, { key: keys.test.secret });
    assert.equal(headers.get('content-type'), 'application/json');
  }
});

test('no two requests have the same id', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => service.call('/v1/account', { key: null })),
  );
  assert.equal(new Set(answers.map(({ headers }) => headers.get('request-id'))).size, 50);
});
