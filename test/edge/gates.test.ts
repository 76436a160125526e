// The order of the gates: a request begins with every possible fault. Each row names the refusal that answers, and then
// repairs that fault alone, until no fault is left.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertDescribed } from '../answers.ts';
import { newKey, newOrganization, type Service, startService } from '../service.ts';
import { requestText, sendRaw } from './raw.ts';

let service: Service;
let org: string;
let keys: Record<'test' | 'live', Record<'secret' | 'publishable', string>>;

before(async () => {
  service = await startService();
  const created = await service.operate<{ id: string; keys: typeof keys }>('org.create', { name: 'Gates' });
  ({ id: org, keys } = created);
});
after(() => service.stop());

/** The request as it is now. */
const request = {
  path: '/v1/payment_intents/',
  contentType: 'text/plain',
  authorization: null as string | null,
  version: '1999-01-01',
  idempotencyKeys: ['clé.', 'clé.'] as string[],
  body: '{' as string,
};

const bearer = (key: string) => {
  request.authorization = `Bearer ${key}`;
};
const setLimit = (bucket: string, perMinute: number) =>
  service.operate('limits.set', { org, mode: 'test', bucket, perMinute, source: 'custom', untilMs: null });
const setDay = (requests: number) =>
  service.operate('limits.daily', { org, mode: 'test', requests, paymentCreations: requests });
const body = { colour: 'red', amount: '99', payment_method_types: ['cash'] } as Record<string, unknown>;

type Row = readonly [what: string, status: number, code: string, repair: () => unknown];

/** Refused before it is counted: no rate-limit headers. */
const uncounted: readonly Row[] = [
  [
    'a repeated header',
    400,
    'invalid_request',
    () => {
      request.idempotencyKeys = ['clé.'];
    },
  ],
  [
    'no key',
    401,
    'api_key_missing',
    () => {
      request.authorization = 'Digest username="x"';
    },
  ],
  ['another scheme', 401, 'authentication_required', () => bearer('svc_sk_test_nobody')],
  [
    'a key that does not exist',
    401,
    'api_key_invalid',
    async () => {
      const key = await newKey(service, org, 'live', 'publishable');
      await service.operate('key.revoke', { key });
      bearer(key);
    },
  ],
  [
    'a revoked key',
    401,
    'api_key_revoked',
    async () => {
      const key = await newKey(service, org, 'live', 'publishable');
      await service.operate('key.roll', { key, overlapSeconds: 0 });
      await service.operate('org.suspend', { org });
      bearer(key);
    },
  ],
  ['an expired key', 401, 'api_key_expired', () => bearer(keys.live.publishable)],
  ['a suspended account', 403, 'account_inactive', () => service.operate('org.reinstate', { org })],
  [
    'live mode before activation',
    403,
    'live_mode_not_activated',
    () => service.operate('org.activate', { org }),
  ],
  [
    'a version that does not exist',
    400,
    'api_version_invalid',
    () => {
      request.version = '2026-11-01';
    },
  ],
  [
    'a trailing slash',
    404,
    'unrecognized_request_url',
    () => {
      request.path = '/v1/test_helpers/cash_payments';
    },
  ],
  ['a publishable key', 403, 'secret_key_required', () => bearer(keys.live.secret)],
  [
    'a live key for a test helper',
    403,
    'test_mode_only',
    async () => {
      // The key of the row after next is used now, before anything is at its limit.
      const headers = { 'Idempotency-Key': 'used' };
      const used = { amount: 12_000, currency: 'mad' };
      const key = keys.test.secret;
      const first = await service.call('/v1/payment_intents', { key, headers, body: used });
      assert.equal(first.status, 200);
      await setLimit('payment_creation', 1);
      await service.call('/v1/payment_intents', { key, idempotencyKey: 'spent', body: used });
      await service.operate('org.methods', { org, mode: 'test', methods: { cash: false } });
      await setDay(1);
      request.path = '/v1/payment_intents';
      bearer(key);
    },
  ],
];

const counted: readonly Row[] = [
  ['the daily cap', 429, 'test_daily_cap_reached', () => setDay(1_000_000)],
  ['a rate limit', 429, 'rate_limit_exceeded', () => setLimit('payment_creation', 1_000_000)],
  [
    'an idempotency key outside ASCII',
    400,
    'parameter_invalid',
    () => {
      request.idempotencyKeys = [];
    },
  ],
  [
    'no idempotency key',
    400,
    'idempotency_key_missing',
    () => {
      request.idempotencyKeys = ['used'];
    },
  ],
  [
    'a content type that is not JSON',
    400,
    'invalid_request',
    () => {
      request.contentType = 'application/json; charset=utf-8';
    },
  ],
  [
    'a body that does not parse',
    400,
    'invalid_request',
    () => {
      request.body = JSON.stringify(body);
    },
  ],
  [
    'an idempotency key of another request',
    400,
    'idempotency_key_reused',
    () => {
      request.idempotencyKeys = ['new'];
    },
  ],
  [
    'an unknown parameter',
    400,
    'parameter_unknown',
    () => {
      delete body.colour;
      request.body = JSON.stringify(body);
    },
  ],
  [
    'a missing parameter',
    400,
    'parameter_missing',
    () => {
      body.currency = 'mad';
      request.body = JSON.stringify(body);
    },
  ],
  [
    'an invalid parameter',
    400,
    'parameter_invalid',
    () => {
      body.amount = 99;
      request.body = JSON.stringify(body);
    },
  ],
  [
    'too small an amount',
    400,
    'amount_too_small',
    () => {
      body.amount = 12_000;
      request.body = JSON.stringify(body);
      request.idempotencyKeys = ['newer'];
    },
  ],
  [
    'an unavailable method',
    400,
    'payment_method_unavailable',
    () => {
      body.payment_method_types = ['card'];
      request.body = JSON.stringify(body);
      request.idempotencyKeys = ['newest'];
    },
  ],
];

async function send() {
  const { path, contentType, authorization, version, idempotencyKeys, body } = request;
  const headers: [string, string][] = [
    ['Content-Type', contentType],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['X-Service-Version', version],
    ...(authorization === null ? [] : [['Authorization', authorization] as [string, string]]),
    ...idempotencyKeys.map((key): [string, string] => ['Idempotency-Key', key]),
  ];
  const answer = await sendRaw(service.url, requestText(`POST ${path}`, headers, body));
  assert.ok(answer);
  assertDescribed('POST', path, answer);
  return answer;
}

for (const [rows, isCounted] of [
  [uncounted, false],
  [counted, true],
] as const) {
  for (const [what, status, code, repair] of rows) {
    test(`then ${what}: ${code}${isCounted ? '' : ', not counted'}`, async () => {
      const answer = await send();
      assert.deepEqual([answer.status, JSON.parse(answer.text).error.code], [status, code]);
      for (const name of ['limit', 'remaining', 'reset']) {
        assert.equal(answer.headers.has(`ratelimit-${name}`), isCounted, name);
      }
      await repair();
    });
  }
}

test('and then it succeeds', async () => {
  const answer = await send();
  assert.equal(answer.status, 200);
  assert.equal(JSON.parse(answer.text).amount, 12_000);
});

test('a request that is refused spends nothing, however often it is sent', async () => {
  const shop = await newOrganization(service);
  const remaining = async () => {
    const { headers } = await service.call('/v1/account', { key: shop.key });
    return Number(headers.get('ratelimit-remaining'));
  };
  const before = await remaining();
  for (let i = 0; i < 20; i++) {
    await service.call('/v1/nothing', { key: shop.key });
    await service.call('/v1/account', { key: shop.key, headers: { 'X-Service-Version': 'x' } });
  }
  assert.ok((await remaining()) >= before - 1);
});
