// The service with its log in PostgreSQL: a primary and two standbys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../service.ts';
import { leftOut, startServers } from './servers.ts';

const skip = { skip: leftOut };
const intent = { amount: 12_500, currency: 'mad' };

test('payments go on after the primary is lost and a standby is promoted', skip, async (context) => {
  const servers = await startServers(context, 2);
  const [a, b, c] = servers.all as [
    (typeof servers.all)[0],
    (typeof servers.all)[0],
    (typeof servers.all)[0],
  ];
  const env = { PAYMENTS_JOURNAL_URL: servers.url, PAYMENTS_SHARDS: '2' };
  const service = await startService({ env });
  context.after(() => service.kill());
  const create = (key: string) =>
    service.call('/v1/payment_intents', { method: 'POST', body: intent, idempotencyKey: key });
  const first = await create('first');
  assert.equal(first.status, 200, first.text);
  assert.deepEqual((await create('first')).json, first.json);
  await a.stop('kill');
  await b.promote();
  await c.follow(b);
  const second = await service.until(async () => {
    const answer = await create('second');
    return answer.status === 200 ? answer : undefined;
  });
  assert.deepEqual((await create('first')).json, first.json);
  const { json } = await service.call(`/v1/payment_intents/${second.json.id}`);
  assert.equal(json.amount, intent.amount);
  assert.equal(await service.stop(), 0);
});
