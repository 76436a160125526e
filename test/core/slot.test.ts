// Golden values of slots. They must never change, because the slot of an organization decides its
// shard and is in its ids.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotCount, slotOf } from '../../src/core/slot.ts';

const golden: readonly (readonly [organization: string, slot: number])[] = [
  ['', 11],
  ['o', 801],
  ['org_', 656],
  ['org_000000000000000000000000', 196],
  ['org_000000000000000000000001', 302],
  ['org_zzzzzzzzzzzzzzzzzzzzzzzz', 673],
  ['org_csTT06x0Z9H5BwvjNOLkfAE1', 558],
  ['org_é€😀', 476],
];

for (const [organization, slot] of golden) {
  test(`the slot of "${organization}" is ${slot}, for ever`, () => assert.equal(slotOf(organization), slot));
}

test('there are 1,024 slots: two base-62 characters and four digits hold one', () => {
  assert.equal(slotCount, 1024);
});

test('ids that differ in their last characters only spread over all slots evenly', () => {
  const perSlot = 100;
  const counts = new Uint32Array(slotCount);
  for (let i = 0; i < slotCount * perSlot; i++) {
    const slot = slotOf(`org_${i.toString(36).padStart(24, '0')}`);
    counts[slot] = counts[slot]! + 1;
  }
  // Ten standard deviations of a fair spread.
  for (const count of counts) assert.ok(Math.abs(count - perSlot) < 100, `${count} of ${perSlot}`);
  const chiSquared = counts.reduce((sum, count) => sum + (count - perSlot) ** 2 / perSlot, 0);
  assert.ok(chiSquared < slotCount + 8 * Math.sqrt(2 * slotCount), `chi-squared ${chiSquared}`);
});
