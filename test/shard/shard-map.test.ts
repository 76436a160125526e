// Golden values of the shards that own organizations. They must never change, because data folders
// are laid out by them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotCount } from '../../src/core/slot.ts';
import { shardOfOrganization, shardOfSlot, shardsMax } from '../../src/shard/shard-map.ts';

const shardCounts = [1, 2, 3, 7, 64] as const;
const golden: readonly (readonly [organization: string, shards: readonly number[]])[] = [
  ['org_000000000000000000000000', [0, 0, 1, 0, 4]],
  ['org_000000000000000000000001', [0, 0, 2, 1, 46]],
  ['org_zzzzzzzzzzzzzzzzzzzzzzzz', [0, 1, 1, 1, 33]],
  ['org_csTT06x0Z9H5BwvjNOLkfAE1', [0, 0, 0, 5, 46]],
];

for (const [organization, expected] of golden) {
  test(`${organization} lies in shards ${expected.join(', ')} of ${shardCounts.join(', ')}`, () => {
    assert.deepEqual(
      shardCounts.map((count) => shardOfOrganization(organization, count)),
      expected,
    );
  });
}

test('every slot has a shard, and every shard has slots, up to the most shards there can be', () => {
  for (const shards of [...shardCounts, shardsMax]) {
    const owners = new Set(Array.from({ length: slotCount }, (_, slot) => shardOfSlot(slot, shards)));
    assert.deepEqual(
      [...owners].sort((a, b) => a - b),
      [...Array(shards).keys()],
    );
  }
});
