// How many long answers members have at a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemberSlots } from '../../src/edge/member-slots.ts';

test('a member takes a few slots and leaves room for others, and gives back what ends or fails', async () => {
  const slots = new MemberSlots(3, 2);
  const ends = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const held = ['mem_1', 'mem_1', 'mem_2'].map((member, i) => slots.hold(member, () => ends[i]!.promise));
  const room = () => ['mem_1', 'mem_2', 'mem_3'].map((member) => slots.hasRoomFor(member));
  assert.deepEqual(room(), [false, false, false], 'all are taken');
  ends[2]!.resolve();
  await held[2];
  assert.deepEqual(room(), [false, true, true], 'the first has two');
  ends[1]!.reject(new Error('cut off'));
  await assert.rejects(held[1]!);
  assert.deepEqual(room(), [true, true, true]);
  ends[0]!.resolve();
  await held[0];
});
