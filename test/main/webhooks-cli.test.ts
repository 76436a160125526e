// The commands about webhooks, on a running service with a receiver.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { futureEventTypes, sentEventTypes } from '../../src/contract/vocabulary.ts';
import { runCommandLine, startListen } from '../operator/cli/command-line.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';

let service: Service;
let receiver: Receiver;
let org: { id: string; key: string };
let endpoint: string;
/** The status that the receiver answers. */
let answered = 200;

before(async () => {
  receiver = await startReceiver({
    respond: (response) => {
      response.statusCode = answered;
      response.end('a\u001b[31m\nb');
    },
  });
  service = await startService({ env: { ...webhookEnv, PAYMENTS_WEBHOOKS_RETRY_SECONDS: '' } });
  org = await newOrganization(service);
  const body = { url: `${receiver.origin}/hooks`, enabled_events: ['payment_intent.created'] };
  endpoint = (await service.call('/v1/webhook_endpoints', { key: org.key, body })).json.id;
});
after(async () => {
  await service.stop();
  await receiver.close();
});

const run = (...args: string[]) => runCommandLine(args, { dataDir: () => service.dataDir });

async function json(...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, out, error } = await run(...args, '--json');
  assert.equal(code, 0, error);
  return JSON.parse(out);
}

let count = 0;
const createIntent = () =>
  service.call('/v1/payment_intents', {
    key: org.key,
    idempotencyKey: `cli-${count++}`,
    body: { amount: 100, currency: 'mad' },
  });

test('list shows endpoints without their secrets', async () => {
  const [shown, ...others] = await json('webhooks', 'list', org.id);
  assert.deepEqual(others, []);
  assert.deepEqual(Object.keys(shown), [
    'id',
    'organization',
    'mode',
    'url',
    'status',
    'enabled_events',
    'api_version',
    'created',
    'failing_since',
    'next_attempt',
    'last_status',
    'attempts_24h',
    'failed_24h',
    'median_ms',
  ]);
  assert.equal(shown.id, endpoint);
  const { out } = await run('webhooks', 'list', org.id);
  assert.match(
    out,
    new RegExp(`${endpoint}  test  enabled +0 of 0 +http://127.0.0.1:\\d+/hooks  payment_intent.created`),
  );
});

test('a failed delivery: listed with its attempts, resent, delivered', async () => {
  answered = 500;
  await createIntent();
  const failed = await eventually(
    async () => (await json('webhooks', 'deliveries', endpoint, '--failed'))[0],
  );
  assert.equal(failed.status, 'failed');
  assert.equal(failed.next_attempt, null);
  const [attempt] = await json('webhooks', 'attempts', failed.id);
  assert.equal(attempt.status, 500);
  assert.equal(attempt.failure, 'answered 500');
  const { out } = await run('webhooks', 'attempts', failed.id);
  assert.match(out, /500 +\d+ ms {2}answered 500 {2}a \[31m b/, 'no control characters');
  answered = 200;
  assert.equal((await json('webhooks', 'resend', failed.id)).status, 'pending');
  await eventually(async () => (await json('webhooks', 'deliveries', endpoint))[0].status === 'succeeded');
  assert.equal((await json('webhooks', 'attempts', failed.id)).length, 2);
  assert.deepEqual(await json('webhooks', 'deliveries', endpoint, '--failed'), []);
});

test('all failed deliveries of an endpoint are resent at once', async () => {
  answered = 500;
  await createIntent();
  await createIntent();
  const failed = async () => (await json('webhooks', 'deliveries', endpoint, '--failed')).length;
  await eventually(async () => (await failed()) === 2);
  answered = 200;
  const { out } = await run('webhooks', 'resend-failed', endpoint);
  assert.equal(out, `Sending 2 failed deliveries to ${endpoint} again.\n`);
  const again = await run('webhooks', 'resend-failed', endpoint);
  assert.equal(again.code, 1);
  assert.match(again.error, /every 60 minutes: the next time in 60 min/);
  await eventually(async () => {
    const listed = await json('webhooks', 'deliveries', endpoint);
    return listed.slice(0, 2).every(({ status }: { status: string }) => status === 'succeeded');
  });
});

test('resend is refused while the endpoint is disabled', async () => {
  const [{ id }] = await json('webhooks', 'deliveries', endpoint);
  const update = (disabled: boolean) =>
    service.call(`/v1/webhook_endpoints/${endpoint}`, { key: org.key, body: { disabled } });
  await update(true);
  const { code, error } = await run('webhooks', 'resend', id);
  assert.equal(code, 1);
  assert.match(error, /disabled/);
  await update(false);
});

test('a sample goes to its endpoint alone, a type that does not happen nowhere', async () => {
  const { event } = await json('webhooks', 'sample', endpoint, '--type', 'refund.failed');
  const request = await eventually(() => receiver.requests.find(({ body }) => body.includes(event)));
  assert.equal(JSON.parse(request.body.toString()).type, 'refund.failed');
  const refused = await run('webhooks', 'sample', endpoint, '--type', 'payout.paid');
  assert.equal(refused.code, 1);
  assert.match(refused.error, /payout.paid can be subscribed to, but does not happen yet/);
  assert.equal((await run('webhooks', 'sample', endpoint, '--type', 'nonsense')).code, 2);
});

test('a rolled secret signs beside the old one until the overlap ends', async () => {
  const { secrets: before } = await json('webhooks', 'show-secret', endpoint);
  const { secrets } = await json('webhooks', 'roll-secret', endpoint, '--overlap', '3600');
  assert.equal(secrets.length, 2);
  assert.equal(secrets[1].secret, before[0].secret);
  const { event } = await json('webhooks', 'sample', endpoint, '--type', 'charge.failed');
  const { body, headers } = await eventually(() =>
    receiver.requests.find(({ body }) => body.includes(event)),
  );
  for (const { secret } of secrets) {
    new Stripe('sk').webhooks.constructEvent(body, headers['x-service-signature'] as string, secret);
  }
  const rolled = await json('webhooks', 'roll-secret', endpoint, '--overlap', '0');
  assert.equal(rolled.secrets.length, 1);
});

for (const type of sentEventTypes) {
  test(`trigger ${type}`, async () => {
    const event = await json('trigger', type, '--org', org.id);
    assert.equal(event.type, type);
    assert.equal(event.livemode, false);
  });
}

for (const type of futureEventTypes) {
  test(`trigger ${type} is refused`, async () => {
    const { code, error } = await run('trigger', type, '--org', org.id);
    assert.equal(code, 1);
    assert.match(error, /does not happen yet/);
  });
}

test('trigger needs to know which organization, when there are several', async () => {
  const { code, error } = await run('trigger', 'charge.failed');
  assert.equal(code, 1);
  assert.match(error, /several organizations/);
});

test('listen forwards events, signed, and goes on after a restart without missing one', async () => {
  const local = await startReceiver();
  const own = await startService({ env: webhookEnv });
  const { id, key } = await newOrganization(own);
  const listening = startListen(id, '--forward-to', `${local.origin}/hooks`, '--data-dir', own.dataDir);
  const { next } = listening;
  const { secret, organization } = await next();
  assert.equal(organization, id);
  const create = (on: Service, idempotencyKey: string) =>
    on.call('/v1/payment_intents', { key, idempotencyKey, body: { amount: 100, currency: 'mad' } });
  await create(own, 'a');
  const first = await next();
  assert.equal(first.event.type, 'payment_intent.created');
  assert.equal(first.forwarded.status, 200);
  const [{ body, headers }] = local.requests as [(typeof local.requests)[0]];
  new Stripe('sk').webhooks.constructEvent(body, headers['x-service-signature'] as string, secret);

  await own.kill();
  const again = await startService({ dataDir: own.dataDir, env: webhookEnv });
  for (const idempotencyKey of ['b', 'c', 'd']) await create(again, idempotencyKey);
  const { json: list } = await again.call('/v1/events', { key });
  const wanted = list.data.map((event: { id: string }) => event.id).reverse();
  const seen = [first.event.id];
  while (seen.length < wanted.length) seen.push((await next()).event.id);
  assert.deepEqual(seen, wanted);
  await listening.stop();
  await again.stop();
  await local.close();
});

test('every command explains itself', async () => {
  for (const command of [
    'list',
    'deliveries',
    'attempts',
    'resend',
    'roll-secret',
    'show-secret',
    'sample',
  ]) {
    const { code, out } = await run('webhooks', command, '--help');
    assert.equal(code, 0);
    assert.match(out, /^Usage: payments webhooks /);
  }
  for (const command of ['listen', 'trigger']) assert.equal((await run(command, '--help')).code, 0);
});
