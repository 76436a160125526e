// A data folder with something of every kind in it, as a service that was killed leaves it: in its log, and after a restart
// also in its checkpoints.

import { sentEventTypes } from '../../src/contract/vocabulary.ts';
import { type Service, startService } from '../service.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { makeLink, openLink } from './payment-links.ts';
import { type Shop, shopOnEachShard } from './shops.ts';

export const shards = 2;
export const busyEnv = {
  PAYMENTS_SHARDS: String(shards),
  PAYMENTS_BASE_URL: 'https://pay.example',
  ...webhookEnv,
};

export interface BusyFolder {
  readonly dataDir: string;
  readonly shops: readonly Shop[];
  /** A payment link of each shop, and the session to which its customers are led. */
  readonly links: readonly { readonly path: string; readonly session: string }[];
}

/** Has every type of event happen in each of two organizations, on a shard each, and kills the service. */
export async function busyFolder(dataDir: string): Promise<BusyFolder> {
  const receiver = await startReceiver();
  try {
    const service = await startService({ dataDir, env: busyEnv });
    const shops = await shopOnEachShard(service, shards);
    for (const shop of shops) await trade(service, shop, `${receiver.origin}/hooks`);
    const links: { path: string; session: string }[] = [];
    for (const shop of shops) {
      const path = await makeLink(service, shop);
      links.push({ path, session: await openLink(service, path) });
    }
    await service.kill();
    return { dataDir, shops, links };
  } finally {
    await receiver.close();
  }
}

/** Brings everything into the checkpoints. */
export async function restart(dataDir: string): Promise<void> {
  const service = await startService({ dataDir, env: busyEnv });
  await service.stop();
}

async function trade(service: Service, { id, key }: Shop, url: string): Promise<void> {
  const send = (path: string, body: object, idempotencyKey = path) =>
    service.call(path, { key, body, idempotencyKey });
  const { json: customer } = await send('/v1/customers', { email: 'a@shop.example', name: 'Aïcha' });
  await send('/v1/webhook_endpoints', { url, enabled_events: ['*'] });
  await send('/v1/payment_intents', { amount: 12_345, currency: 'mad', customer: customer.id });
  for (const type of sentEventTypes) await service.operate('trigger', { org: id, type });
}
