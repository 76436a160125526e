// What the tests of this folder do with merchants: they work on a service, and everything that was acknowledged is there.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { verifyCommand } from '../operator/cli/command-line.ts';
import type { Service } from '../service.ts';

export function startWork({ url }: Service, merchants: readonly Merchant[], restMs?: number): void {
  for (const merchant of merchants) merchant.work(url, 4, restMs);
}

export async function pauseAll(merchants: readonly Merchant[]): Promise<void> {
  for (const merchant of merchants) await merchant.pause();
}

export async function merchantsOn(context: TestContext, service: Service): Promise<Merchant[]> {
  const shops = await shopOnEachShard(service, 2);
  return shops.map(({ key }, shard) => new Merchant(context, `shop${shard}`, key));
}

/** Settles when each merchant has so many more writes acknowledged. */
export async function progress(
  service: Service,
  merchants: readonly Merchant[],
  count: number,
): Promise<void> {
  const enough = merchants.map(({ acknowledged }) => acknowledged + count);
  await service.until(
    () => merchants.every(({ acknowledged }, i) => acknowledged >= enough[i]!) || undefined,
  );
}

/** Everything that was acknowledged is there, as it was, once. */
export async function assertWhole(
  service: Service,
  merchants: readonly Merchant[],
  hint: string,
): Promise<void> {
  for (const merchant of merchants) {
    await merchant.check(service.url, true);
    await merchant.checkLists(service.url);
    assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] }, hint);
  }
  assert.equal(await service.stop(), 0);
  const { code, out } = await verifyCommand(service.dataDir);
  assert.equal(code, 0, `${hint}\n${out}`);
}
