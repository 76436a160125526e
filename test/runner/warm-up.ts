// Has a service and the commands on its folder do once what most tests have them do, so that V8 keeps what it compiles for that
// (prepared-modules.cjs): it need not compile it in each of hundreds of processes, nor hold up one that a test times.

import { join } from 'node:path';
import { paymentsWith } from '../main/payments-command.ts';
import { newOrganization, type Service, startService, withRequestLogs } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export async function warmUp(): Promise<void> {
  const learning = { PREPARED_MODULES_LEARN: 'yes' };
  const service = await startService({
    env: { ...learning, ...withRequestLogs, PAYMENTS_LOG_LEVEL: 'silent' },
  });
  await takePayments(service);
  const command = (...args: string[]) => paymentsWith(learning, ...args, '--data-dir', service.dataDir);
  await command('status');
  await service.stop();
  const backup = join(temporaryFolder(), 'backup');
  await command('verify', '--json');
  await command('backup', '--to', backup);
  await paymentsWith(learning, 'restore', '--from', backup, '--data-dir', join(temporaryFolder(), 'data'));
}

async function takePayments(service: Service): Promise<void> {
  const { key } = await newOrganization(service);
  await service.operate('metrics', {});
  await service.call('/v1/customers', { key, body: { name: 'Amina' } });
  const hook = { url: 'https://shop.example/hook', enabled_events: ['payment_intent.succeeded'] };
  await service.call('/v1/webhook_endpoints', { key, body: hook });
  // Often enough that what comes with the second request, or the checkpoint, is met, too.
  for (let i = 0; i < 5; i++) {
    const intent = { amount: 10_000, currency: 'mad', metadata: { order: `${i}` } };
    const call = { key, body: intent, idempotencyKey: `create-${i}` };
    const { json } = await service.call('/v1/payment_intents', call);
    await service.call('/v1/payment_intents', call);
    const path = `/v1/payment_intents/${json.id}`;
    const body = { return_url: 'https://shop.example/back' };
    await service.call(`${path}/confirm`, { key, body, idempotencyKey: `confirm-${i}` });
    const { latest_charge: charge } = (await service.call(path, { key })).json;
    if (i % 2 === 0) await service.call(`/v1/test_helpers/charges/${charge}/complete`, { key, body: {} });
    else await service.call(`${path}/cancel`, { key, body: {}, idempotencyKey: `cancel-${i}` });
  }
  for (const list of ['payment_intents', 'charges', 'events', 'refunds'])
    await service.call(`/v1/${list}?limit=100`, { key });
  for (const page of ['/readyz', '/docs', '/dashboard/sign-in']) await service.call(page, { key: null });
}
