// Which shard owns an organization. The slot of an organization never changes (core/slot.ts); the shard is the slot
// modulo the number of shards, which is written in the data folder when it is created. Changing either moves
// organizations away from their data, so the golden values in the test must stay as they are.

import { slotOf } from '../core/slot.ts';

/** The number of the shard that owns a slot. */
export function shardOfSlot(slot: number, shards: number): number {
  return slot % shards;
}

/** The number of the shard that owns an organization. */
export function shardOfOrganization(organization: string, shards: number): number {
  return shardOfSlot(slotOf(organization), shards);
}

/** Shards that a data folder may be laid out for: more than machines have cores, far fewer than there are slots. */
export const shardsMax = 64;
