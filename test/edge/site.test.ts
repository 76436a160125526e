// What is the same for everybody is compressed for those who take it, and is then the same text; what takes a moment to make, a
// search, is limited for each visitor.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { takesGzip } from '../../src/edge/http/static-text.ts';
import { ReferenceIntegrator } from '../networks/reference-integrator.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { requestText, sendRaw } from './raw.ts';

let service: Service;
before(async () => {
  service = await startService({ env: { PAYMENTS_PAGES_VISITS_PER_MINUTE: '5', ...webhookEnv } });
});
after(() => service?.stop());

const headers: readonly (readonly [acceptEncoding: string, takes: boolean])[] = [
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['gzip; q=0.001', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0, br', false],
  ['deflate, br', false],
  ['x-gzip', false],
  ['gzipped', false],
  ['identity', false],
];
for (const [acceptEncoding, takes] of headers) {
  test(`Accept-Encoding: ${acceptEncoding} ${takes ? 'takes' : 'does not take'} gzip`, () => {
    assert.equal(takesGzip(acceptEncoding), takes);
  });
}

for (const path of ['/docs/api/payment-intents', '/openapi.json']) {
  test(`${path} is compressed for who takes gzip, and only then`, async () => {
    const ask = async (header: readonly (readonly [string, string])[]) =>
      (await sendRaw(service.url, requestText(`GET ${path}`, header)))!;
    const plain = await ask([]);
    assert.equal(plain.headers.get('content-encoding'), null);
    // Pages also depend on the reader's language.
    const vary = path.startsWith('/docs') ? 'Accept-Language, Accept-Encoding' : 'Accept-Encoding';
    assert.equal(plain.headers.get('vary'), vary);
    // `fetch` asks for gzip by itself, and takes it apart.
    const response = await fetch(service.url + path);
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.equal(response.headers.get('vary'), vary);
    assert.equal(await response.text(), plain.text);
    assert.ok(Number(response.headers.get('content-length')) < plain.text.length / 5);
    assert.equal((await ask([['Accept-Encoding', 'gzip;q=0']])).text, plain.text);
  });
}

test('a visitor may search only so often, and reads all pages meanwhile', async () => {
  const ask = (path: string) => fetch(service.url + path);
  const statuses: number[] = [];
  for (let i = 0; i < 7; i++) statuses.push((await ask('/docs/search?q=refund')).status);
  assert.deepEqual(statuses.slice(0, 5), [200, 200, 200, 200, 200]);
  const refused = await ask('/docs/search?q=refund');
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.match(await refused.text(), /Too many searches/);
  assert.equal((await ask('/docs/refunds')).status, 200);
});

test('who posts what is not from the network is held back, and a network that reports a lot of news is not', async (context) => {
  const integrator = await ReferenceIntegrator.start();
  context.after(() => integrator.stop());
  const { id: org, key } = await newOrganization(service, 'Épicerie');
  await service.operate('network.set', integrator.connecting(org, 'test'));
  const address = `${service.url}/networks/http/${org}/test`;
  const body = { amount: 10_000, currency: 'mad', payment_method_types: ['cash'] };
  const created = await service.call('/v1/payment_intents', { key, idempotencyKey: 'code', body });
  const confirm = `/v1/payment_intents/${created.json.id}/confirm`;
  const confirmed = await service.call(confirm, { key, idempotencyKey: 'issue', body: {} });
  const code = confirmed.json.next_action.cash_display_details.number;
  const report = (reference: string) => integrator.report(address, { reference, code, amount: 10_000 });
  for (let i = 0; i < 12; i++) assert.equal((await report(`R${i}`)).status, 200, 'each is another payment');
  const forged: number[] = [];
  for (let i = 0; i < 12; i++) forged.push((await integrator.post(address, '{}', 't=1,v1=0')).status);
  assert.deepEqual(forged.slice(0, 5), [401, 401, 401, 401, 401]);
  assert.equal(forged.at(-1), 429);
  const refused = await report('R12');
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});
