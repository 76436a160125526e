// Which shard owns an organization: its slot, which never changes (core/slot.ts), modulo the number
// of shards of the data folder. Changing either moves organizations away from their data, so the
// golden values in the test must stay as they are.

import { slotOf } from '../core/slot.ts';

export function shardOfSlot(slot: number, shards: number): number {
  return slot % shards;
}

export function shardOfOrganization(organization: string, shards: number): number {
  return shardOfSlot(slotOf(organization), shards);
}

/** More than machines have cores, and far fewer than there are slots. */
export const shardsMax = 64;
