// Which shard owns an organization. The slot of an organization never changes (core/slot.ts); the shard is the slot
// modulo the number of shards, which is written in the data folder when it is created. Changing either moves
// organizations away from their data, so the golden values in the test must stay as they are.

import { slotCount, slotOf } from '../core/slot.ts';

/** The number of the shard that owns a slot. */
export function shardOfSlot(slot: number, shards: number): number {
  return slot % shards;
}

/** The number of the shard that owns an organization. */
export function shardOfOrganization(organization: string, shards: number): number {
  return shardOfSlot(slotOf(organization), shards);
}

/** More shards than slots would leave some without any organization. */
export const shardsMax = slotCount;
