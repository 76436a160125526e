// Webhooks through the whole service: from the request that causes an event to a real receiver, over restarts, and with
// receivers that misbehave.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Stripe from 'stripe';
import { addressRecords, nameError, startDnsServer } from '../http-client/dns-server.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority } from '../webhooks/certificates.ts';
import { endless, type Receiver, type Respond, startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';

const authority = createAuthority();
const identity = authority.issue({ hosts: ['localhost'] });
const caFile = join(temporaryFolder(), 'ca.pem');
writeFileSync(caFile, authority.cert);
const env = { ...webhookEnv, PAYMENTS_WEBHOOKS_CA_FILE: caFile };

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
}

interface Attempt {
  readonly status: number | null;
  readonly failure: string | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}

let number = 0;

function createIntent(service: Service, key: string) {
  const body = { amount: 12_000, currency: 'mad' };
  return service.call('/v1/payment_intents', { key, idempotencyKey: `intent-${number++}`, body });
}

async function createEndpoint(service: Service, key: string, url: string, more: object = {}) {
  const body = { url, enabled_events: ['payment_intent.created'], ...more };
  const answer = await service.call('/v1/webhook_endpoints', { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as { id: string; secret: string };
}

const deliveriesOf = (service: Service, endpoint: string) =>
  service.operate<Delivery[]>('webhooks.deliveries', { endpoint, failedOnly: false });

const attemptsOf = (service: Service, delivery: string) =>
  service.operate<Attempt[]>('webhooks.attempts', { delivery });

describe('a merchant', () => {
  let service: Service;
  let receiver: Receiver;
  let respond: Respond = (response) => response.end('thanks');
  before(async () => {
    receiver = await startReceiver({ identity, host: '127.0.0.1', respond: (...all) => respond(...all) });
    service = await startService({
      env: { ...env, PAYMENTS_WEBHOOKS_RETRY_SECONDS: '0,0,0.1', PAYMENTS_WEBHOOKS_TIMEOUT_MS: '700' },
    });
  });
  after(async () => {
    await service.stop();
    await receiver.close();
  });
  const hooks = () => `https://localhost:${receiver.port}/hooks`;
  const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()));

  test('gets what Stripe accepts, and its pending deliveries tell the truth', async () => {
    const { key } = await newOrganization(service);
    const { secret } = await createEndpoint(service, key, hooks());
    const { json: intent } = await createIntent(service, key);
    const of = (body: Buffer) => JSON.parse(body.toString()).data.object.id === intent.id;
    const { body, headers } = await eventually(() => receiver.requests.find((request) => of(request.body)));
    assert.equal(headers['content-type'], 'application/json');
    const signature = headers['x-service-signature'] as string;
    const event = new Stripe('sk').webhooks.constructEvent(body, signature, secret);
    assert.equal(event.type, 'payment_intent.created');
    assert.equal(event.pending_webhooks, 1);
    assert.throws(() => new Stripe('sk').webhooks.constructEvent(body, signature, 'svc_whsec_other'));
    const pending = async () => (await service.call('/v1/events', { key })).json.data[0].pending_webhooks;
    await eventually(async () => (await pending()) === 0);
  });

  test('loses its first three answers: the same event comes until it answers', async () => {
    const { key } = await newOrganization(service);
    const { id } = await createEndpoint(service, key, hooks());
    let lost = 0;
    respond = (response) => (lost++ < 3 ? response.destroy() : response.end('ok'));
    await createIntent(service, key);
    const [delivery] = await eventually(async () => {
      const list = await deliveriesOf(service, id);
      return list[0]?.status === 'succeeded' && list;
    });
    assert.equal(delivery!.attempts, 4);
    assert.equal(bodies().filter((event) => event.id === delivery!.event).length, 4);
    const outcomes = (await attemptsOf(service, delivery!.id)).map(({ failure }) => failure);
    const lostAnswer = 'connection closed without an answer';
    assert.deepEqual(outcomes, [lostAnswer, lostAnswer, lostAnswer, null]);
  });

  const bomb: Respond = (response) => {
    response.setHeader('Content-Encoding', 'gzip');
    endless(response, {} as never, 0);
  };
  const nasty: readonly [name: string, respond: Respond, status: number | null, failure: RegExp | null][] = [
    [
      'redirects',
      (response) => response.writeHead(301, { Location: hooks() }).end(),
      301,
      /^redirect refused/,
    ],
    ['hangs after the headers', (response) => response.writeHead(200).flushHeaders(), 200, /^timed out/],
    [
      'drips',
      (response) => {
        const timer = setInterval(() => response.write('.'), 50);
        response.on('close', () => clearInterval(timer));
      },
      200,
      /^timed out/,
    ],
    ['never ends its answer', endless, 200, null],
    [
      'fails, and never ends its answer',
      (response, request, index) => endless(response.writeHead(500), request, index),
      500,
      /^answered 500$/,
    ],
    ['sends a gzip bomb', bomb, 200, null],
  ];
  for (const [name, misbehave, status, failure] of nasty) {
    test(`one that ${name}`, async () => {
      const { key } = await newOrganization(service);
      const { id } = await createEndpoint(service, key, hooks());
      respond = misbehave;
      await createIntent(service, key);
      const over = failure === null ? 'succeeded' : 'failed';
      const [delivery] = await eventually(async () => {
        const list = await deliveriesOf(service, id);
        return list[0]?.status === over && list;
      });
      const attempts = await attemptsOf(service, delivery!.id);
      assert.equal(attempts.length, failure === null ? 1 : 4);
      for (const attempt of attempts) {
        assert.equal(attempt.status, status);
        if (failure === null) assert.equal(attempt.failure, null);
        else assert.match(attempt.failure!, failure);
        assert.ok(attempt.duration_ms < 1500, `${attempt.duration_ms} ms`);
      }
      const answers = attempts.flatMap(({ answer }) => answer || []);
      assert.ok(answers.length <= 2);
      for (const answer of answers) assert.ok(answer.length <= 1024);
      if (status === 500) assert.deepEqual(attempts.at(-1)!.answer, 'x'.repeat(1024));
    });
  }

  test('one with a certificate that nobody vouches for', async () => {
    const stranger = await startReceiver({
      identity: createAuthority('Nobody').issue({ hosts: ['localhost'] }),
    });
    const { key } = await newOrganization(service);
    const { id } = await createEndpoint(service, key, `https://localhost:${stranger.port}/`);
    await createIntent(service, key);
    const [delivery] = await eventually(async () => {
      const list = await deliveriesOf(service, id);
      return list[0]?.status === 'failed' && list;
    });
    const [attempt] = await attemptsOf(service, delivery!.id);
    assert.match(attempt!.failure!, /^certificate not trusted/);
    assert.equal(stranger.requests.length, 0);
    await stranger.close();
  });

  test('disables an endpoint: what waits stays, what happens meanwhile is not sent; a deleted one ends', async () => {
    const { key } = await newOrganization(service);
    let held = true;
    respond = (response) => (held ? undefined : response.end());
    const { id } = await createEndpoint(service, key, hooks());
    const update = (disabled: boolean) =>
      service.call(`/v1/webhook_endpoints/${id}`, { key, body: { disabled } });
    for (let i = 0; i < 8; i++) await createIntent(service, key);
    await update(true);
    await createIntent(service, key);
    assert.equal((await deliveriesOf(service, id)).length, 8);
    held = false;
    await update(false);
    await eventually(async () =>
      (await deliveriesOf(service, id)).every(({ status }) => status === 'succeeded'),
    );
    held = true;
    for (let i = 0; i < 8; i++) await createIntent(service, key);
    await service.call(`/v1/webhook_endpoints/${id}`, { key, method: 'DELETE' });
    const list = await eventually(async () => {
      const all = await deliveriesOf(service, id);
      return all.every(({ status }) => status !== 'pending') && all;
    });
    assert.equal(list.length, 16, 'they stay listed');
    assert.ok(list.filter(({ status }) => status === 'ended').length >= 3);
    const events = await service.call('/v1/events', { key });
    for (const event of events.json.data) assert.equal(event.pending_webhooks, 0);
  });

  test('may have 16 endpoints; a replay of their creation shows no secret', async () => {
    const { key } = await newOrganization(service);
    for (let i = 0; i < 15; i++) await createEndpoint(service, key, hooks());
    const create = () =>
      service.call('/v1/webhook_endpoints', {
        key,
        idempotencyKey: 'last',
        body: { url: hooks(), enabled_events: ['payout.paid'] },
      });
    const first = await create();
    assert.match(first.json.secret, /^svc_whsec_/);
    const replay = await create();
    assert.equal(replay.headers.get('Idempotent-Replayed'), 'true');
    assert.deepEqual(replay.json, { ...first.json, secret: null });
    const one = await service.call('/v1/webhook_endpoints', {
      key,
      body: { url: hooks(), enabled_events: ['*'] },
    });
    assert.equal(one.json.error.code, 'webhook_endpoint_limit_reached');
  });
});

test('production guards stay up: addresses inside the network are refused, at creation and on update', async () => {
  const service = await startService();
  const { key } = await newOrganization(service);
  for (const url of [
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://localhost/',
    'https://localhost./',
    'http://example.com/',
    'https://user@example.com/',
    'https://@example.com/',
    'https://169.254.169.254/',
    'https://[::ffff:127.0.0.1]/',
    'https://10.0.0.1/',
    'https://0x7f.1/',
  ]) {
    const { json } = await service.call('/v1/webhook_endpoints', {
      key,
      body: { url, enabled_events: ['*'] },
    });
    assert.equal(json.error?.code, 'url_not_allowed', url);
  }
  await service.stop();
});

test('a name that does not resolve is refused for now, an address that is not public for good', async () => {
  let records: string[] = [];
  const dns = await startDnsServer((question) =>
    records.length === 0 ? { responseCode: nameError } : addressRecords(question, records),
  );
  const service = await startService({ env: { PAYMENTS_WEBHOOKS_DNS_SERVERS: dns.address } });
  const { key } = await newOrganization(service);
  const create = (idempotencyKey: string) =>
    service.call('/v1/webhook_endpoints', {
      key,
      idempotencyKey,
      body: { url: 'https://new.example/', enabled_events: ['*'] },
    });
  const unresolved = await create('a');
  assert.deepEqual([unresolved.status, unresolved.json.error.code], [400, 'url_not_allowed']);
  assert.equal(unresolved.headers.get('Retry-After'), '5');
  assert.match(unresolved.json.error.message, /did not resolve/);
  records = ['10.0.0.1'];
  const refused = await create('a');
  assert.equal(refused.json.error.code, 'url_not_allowed');
  assert.deepEqual(
    [refused.headers.get('Idempotent-Replayed'), refused.headers.get('Retry-After')],
    [null, null],
  );
  records = ['8.8.8.8'];
  const replay = await create('a');
  assert.equal(replay.headers.get('Idempotent-Replayed'), 'true');
  assert.equal(replay.text, refused.text);
  assert.equal((await create('b')).status, 200);
  await service.stop();
  await dns.close();
});

test('two changes that meet during a slow look-up: one is told to come again', async () => {
  const dns = await startDnsServer(() => 'silence');
  const service = await startService({ env: { ...env, PAYMENTS_WEBHOOKS_DNS_SERVERS: dns.address } });
  const { key } = await newOrganization(service);
  const create = () =>
    service.call('/v1/webhook_endpoints', {
      key,
      body: { url: 'https://slow.example/', enabled_events: ['*'] },
    });
  const slow = create();
  await eventually(() => dns.questions.length > 0);
  const { status, json } = await create();
  assert.deepEqual([status, json.error.code], [409, 'webhook_endpoints_busy']);
  assert.equal((await slow).json.error.code, 'url_not_allowed', 'its name was never resolved');
  await service.stop();
  await dns.close();
});

/** Each costs seconds: more of them on demand. */
const kills = Number(process.env.TEST_KILLS ?? 4);

test(`${kills} kills while two threads deliver: all that was committed arrives at each endpoint, nothing else, never more than five at a time`, async () => {
  const open = new Map<string, number>();
  let openMax = 0;
  const receiver = await startReceiver({
    respond: (response, { url: path }) => {
      const count = (open.get(path) ?? 0) + 1;
      open.set(path, count);
      openMax = Math.max(openMax, count);
      response.once('close', () => open.set(path, (open.get(path) ?? 0) - 1));
      setTimeout(() => response.end('ok'), 5);
    },
  });
  const dataDir = temporaryFolder();
  const ofTwo = { ...env, PAYMENTS_WEBHOOK_THREADS: '2' };
  let service = await startService({ dataDir, env: ofTwo });
  const { key } = await newOrganization(service);
  const paths = Array.from({ length: 6 }, (_, i) => `/hooks-${i}`);
  for (const path of paths) await createEndpoint(service, key, `${receiver.origin}${path}`);
  for (let kill = 0; kill < kills; kill++) {
    // Some are answered, some are under way, when the process ends.
    const sending = Array.from({ length: 60 }, () => createIntent(service, key).catch(() => null));
    const share = 10 + ((kill * 7) % 45);
    await Promise.race(sending.slice(share));
    await eventually(() => receiver.requests.length > 20 * kill || undefined);
    await service.kill();
    await Promise.all(sending);
    service = await startService({ dataDir, env: ofTwo });
  }
  const committed = new Set<string>();
  for (let after = ''; ; ) {
    const page = await service.call(`/v1/events?limit=100${after}`, { key });
    for (const { id } of page.json.data) committed.add(id);
    if (!page.json.has_more) break;
    after = `&starting_after=${page.json.data.at(-1).id}`;
  }
  const deliveredTo = (path: string) => {
    const requests = receiver.requests.filter(({ url }) => url === path);
    return new Set(requests.map(({ body }) => JSON.parse(body.toString()).id as string));
  };
  for (const path of paths) {
    await eventually(() => deliveredTo(path).size >= committed.size || undefined);
    assert.deepEqual([...deliveredTo(path)].sort(), [...committed].sort(), path);
  }
  assert.ok(committed.size > 10 * kills, String(committed.size));
  assert.ok(openMax <= 5, `${openMax} at a time`);
  await service.stop();
  await receiver.close();
});
