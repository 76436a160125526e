// What the tests of this folder do with merchants: they work on a service, and everything that was acknowledged is there.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { calmRestMs, hurriedRestMs, Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { verifyCommand } from '../operator/cli/command-line.ts';
import type { Service } from '../service.ts';

/** They are calm until something waits for their progress: what a test waits for otherwise takes no less time if they hurry. */
export function startWork(
  { url }: Service,
  merchants: readonly Merchant[],
  restMs: number = calmRestMs,
): void {
  for (const merchant of merchants) merchant.work(url, 4, restMs);
}

export async function pauseAll(merchants: readonly Merchant[]): Promise<void> {
  for (const merchant of merchants) await merchant.pause();
}

export async function merchantsOn(context: TestContext, service: Service): Promise<Merchant[]> {
  const shops = await shopOnEachShard(service, 2);
  return shops.map(({ key }, shard) => new Merchant(context, `shop${shard}`, key));
}

/**
 * Settles when each merchant has so many more writes acknowledged. Once each of them is served they hurry for that, so that much is
 * under way at the moment at which it settles, and whatever the test does then meets it. While one of them waits for its shard the
 * others stay calm: until that serves again, their hurry would only take what it needs of the processor.
 */
export async function progress(
  service: Service,
  merchants: readonly Merchant[],
  count: number,
): Promise<void> {
  const before = merchants.map(({ acknowledged }) => acknowledged);
  const haveMore = (more: number) =>
    service.until(
      () => merchants.every(({ acknowledged }, i) => acknowledged >= before[i]! + more) || undefined,
    );
  await haveMore(1);
  const rests = merchants.map(({ restMs }) => restMs);
  for (const merchant of merchants) merchant.restMs = hurriedRestMs;
  await haveMore(count);
  for (const [i, merchant] of merchants.entries()) merchant.restMs = rests[i]!;
}

/** Ends their work, and the service: everything that was acknowledged is there, as it was, once. */
export async function assertWhole(
  service: Service,
  merchants: readonly Merchant[],
  hint: string,
): Promise<void> {
  await pauseAll(merchants);
  for (const merchant of merchants) {
    await merchant.settle(service.url);
    await merchant.check(service.url, true);
    await merchant.checkLists(service.url);
    assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] }, hint);
  }
  assert.equal(await service.stop(), 0);
  const { code, out } = await verifyCommand(service.dataDir);
  assert.equal(code, 0, `${hint}\n${out}`);
}
