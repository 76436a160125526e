// The headers of every answer: no cache may store an answer of the API, and a service with an https address tells browsers to
// use https only.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addressOf, buttonsScript } from '../../src/html/assets.ts';
import { type Service, startService } from '../service.ts';
import { requestText, sendRaw } from './raw.ts';

let secure: Service;
let plain: Service;

before(async () => {
  [secure, plain] = await Promise.all([
    startService({ env: { PAYMENTS_BASE_URL: 'https://pay.example' } }),
    startService(),
  ]);
});
after(() => Promise.all([secure, plain].map((service) => service?.stop())));

/** The name of what answers, its status, and the request's line and headers. */
type Row = readonly [
  what: string,
  status: number,
  line: string,
  headers?: readonly (readonly [string, string])[],
];

const apiAnswers = (service: Service): Row[] => {
  const key = ['Authorization', `Bearer ${service.keys!.secret}`] as const;
  return [
    ['an object', 200, 'GET /v1/account', [key]],
    ['an export', 200, 'GET /v1/exports/charges', [key, ['Connection', 'close']]],
    ['a refusal of the shard', 400, 'GET /v1/account?colour=red', [key]],
    ['a refusal of the edge', 401, 'GET /v1/account'],
    ['an unknown address', 404, 'GET /v1/nothing', [key]],
    ['a request that is refused for its framing', 431, 'GET /v1/account', [['X-Long', 'x'.repeat(20_000)]]],
    ['an address outside the API', 404, 'GET /nothing'],
  ];
};
const otherAnswers: Row[] = [
  ['health', 200, 'GET /healthz'],
  ['readiness', 200, 'GET /readyz'],
  ['the description', 200, 'GET /openapi.json'],
  ['the errors', 200, 'GET /docs/errors'],
  ['no page of the documentation', 404, 'GET /docs/nothing'],
  ['a page', 404, 'GET /checkout/cs_nothing'],
  ['a script', 200, `GET ${addressOf(buttonsScript)}`],
];

async function answer(service: Service, [what, status, line, headers = []]: Row): Promise<Headers> {
  const answered = await sendRaw(service.url, requestText(line, headers));
  assert.equal(answered?.status, status, what);
  return answered.headers;
}

test('no answer of the API may be stored', async () => {
  for (const row of apiAnswers(plain)) {
    assert.equal((await answer(plain, row)).get('cache-control'), 'no-store', row[0]);
  }
});

test('a browser keeps a script for good, at an address that changes with its content', async () => {
  const address = addressOf(buttonsScript);
  const script = await plain.call(address, { key: null });
  assert.equal(script.text, buttonsScript.text);
  assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.match(address, /^\/assets\/buttons\.[0-9a-f]{16}\.js$/);
  const changed = addressOf({ ...buttonsScript, text: `${buttonsScript.text}\n` });
  assert.notEqual(changed, address);
  assert.equal((await plain.call(changed, { key: null })).status, 404);
});

test('with an https base URL every answer has browsers keep to https, and with another none does', async () => {
  const name = 'strict-transport-security';
  for (const row of [...apiAnswers(secure), ...otherAnswers]) {
    assert.equal((await answer(secure, row)).get(name), 'max-age=31536000', row[0]);
  }
  for (const row of [...apiAnswers(plain), ...otherAnswers]) {
    assert.equal((await answer(plain, row)).get(name), null, row[0]);
  }
});
