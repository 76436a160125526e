// Webhooks while single threads of the service end and are started again: the receiver gets every committed event, never more
// than five deliveries at a time, and the other threads are not affected.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowSize } from '../../src/shard/outbox.ts';
import { endThread, inspectorEnv } from '../main/inspector.ts';
import { newOrganization, startService } from '../service.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';

const rounds = 2;
const perRound = 60;
const answerMs = 15;

for (const entry of ['webhook-thread.ts', 'shard-thread.ts']) {
  test(`${entry} ends while delivering: all that was committed arrives, never more than five at a time`, async (t) => {
    let open = 0;
    let openMax = 0;
    const receiver = await startReceiver({
      respond: (response) => {
        openMax = Math.max(openMax, ++open);
        response.once('close', () => open--);
        setTimeout(() => response.end('ok'), answerMs);
      },
    });
    const env = { ...webhookEnv, ...inspectorEnv, PAYMENTS_SHARDS: '1' };
    t.after(() => receiver.close());
    const service = await startService({ env });
    t.after(() => service.stop());
    const { key } = await newOrganization(service);
    const body = { url: `${receiver.origin}/hooks`, enabled_events: ['payment_intent.created'] };
    const endpoint = (await service.call('/v1/webhook_endpoints', { key, body })).json.id;
    let number = 0;
    const create = () =>
      service.call('/v1/payment_intents', {
        key,
        idempotencyKey: `intent-${number++}`,
        body: { amount: 12_000, currency: 'mad' },
      });
    for (let round = 1; round <= rounds; round++) {
      const sending = Array.from({ length: perRound }, () => create());
      await eventually(() => receiver.requests.length > perRound * (round - 1) + 10);
      await endThread(service, { entry }, 'rejects a promise');
      await Promise.all(sending);
      await eventually(() => service.output().split('started again').length > round);
      await eventually(async () => (await create()).status === 200);
    }
    const committed: string[] = [];
    for (let after = ''; ; ) {
      const page = (await service.call(`/v1/events?limit=100${after}`, { key })).json;
      for (const { id } of page.data) committed.push(id);
      if (!page.has_more) break;
      after = `&starting_after=${page.data.at(-1).id}`;
    }
    const delivered = () =>
      new Set(receiver.requests.map((request) => JSON.parse(request.body.toString()).id as string));
    await eventually(() => delivered().size >= committed.length);
    assert.deepEqual([...delivered()].sort(), committed.sort());
    assert.ok(openMax <= 5, `${openMax} at a time`);
    const repeated = receiver.requests.length - committed.length;
    // What the receiver had taken and the journal had not yet recorded comes again, at most a window of it.
    assert.ok(repeated <= windowSize * rounds, `${repeated} came again: only what was leased may`);
    await eventually(async () => {
      const params = { endpoint, failedOnly: false };
      const list = await service.operate<{ status: string }[]>('webhooks.deliveries', params);
      return list.every(({ status }) => status === 'succeeded');
    });
  });
}
