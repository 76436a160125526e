// Organizations on chosen shards, for tests that compare a shard with another one.

import { shardOfOrganization } from '../../src/shard/shard-map.ts';
import { newOrganization, type Service } from '../service.ts';

export interface Shop {
  readonly id: string;
  readonly key: string;
}

/** One organization on each of `shards` shards, in their order. */
export async function shopOnEachShard(service: Service, shards: number): Promise<Shop[]> {
  const shops: (Shop | undefined)[] = Array.from({ length: shards }, () => undefined);
  while (shops.includes(undefined)) {
    const shop = await newOrganization(service);
    shops[shardOfOrganization(shop.id, shards)] ??= shop;
  }
  return shops as Shop[];
}
