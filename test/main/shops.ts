// Organizations on chosen shards, for tests that compare a shard with another one.

import { shardOfOrganization } from '../../src/shard/shard-map.ts';
import { limitedOrganization, raiseLimits, type Service } from '../service.ts';

export interface Shop {
  readonly id: string;
  readonly key: string;
}

/** One organization on each of `shards` shards, in their order. */
export async function shopOnEachShard(service: Service, shards: number): Promise<Shop[]> {
  const shops: (Shop | undefined)[] = Array.from({ length: shards }, () => undefined);
  while (shops.includes(undefined)) {
    const shop = await limitedOrganization(service);
    const shard = shardOfOrganization(shop.id, shards);
    if (shops[shard] !== undefined) continue;
    await raiseLimits(service, shop.id);
    shops[shard] = shop;
  }
  return shops as Shop[];
}
