// Webhooks of a service on several nodes: at most five are under way to an endpoint in the whole cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';
import { startNode } from './nodes.ts';

const timeoutMs = 8_000;
const flightsMax = 5;

test('a new owner waits for the attempts of one that was killed', { skip: leftOut }, async (context) => {
  const begun: number[] = [];
  const receiver = await startReceiver({ respond: () => void begun.push(performance.now()) });
  context.after(() => receiver.close());
  const servers = await startServers(context, 1);
  const env = { ...webhookEnv, PAYMENTS_WEBHOOKS_TIMEOUT_MS: String(timeoutMs) };
  const a = startNode(context, { url: servers.url, name: 'a', env });
  const first = await a.serving;
  const b = startNode(context, { url: servers.url, name: 'b', secretsKeyOf: a.dataDir, env });
  await b.says(/node b stands by"/);
  const { secret: key } = first.keys!;
  const endpoint = { url: `${receiver.origin}/hook`, enabled_events: ['payment_intent.created'] };
  assert.equal((await first.call('/v1/webhook_endpoints', { key, body: endpoint })).status, 200);
  for (let n = 0; n < 2 * flightsMax; n++)
    await first.call('/v1/payment_intents', {
      key,
      body: { amount: 5_000 + n, currency: 'mad' },
      idempotencyKey: `n${n}`,
    });
  await eventually(() => begun.length === flightsMax);
  await a.kill();
  await b.serving;
  // The receiver may still be busy with those of the node that is gone.
  await eventually(() => begun.length === 2 * flightsMax);
  const endedMs = begun[0]! + timeoutMs;
  assert.ok(begun[flightsMax]! >= endedMs, `sent ${Math.round(endedMs - begun[flightsMax]!)} ms too early`);
});
