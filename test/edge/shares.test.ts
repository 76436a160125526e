// Slots that are shared out among owners.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from '../../src/edge/http/shares.ts';

test('an organization takes its share, and each of its members a part of that, and the others have theirs', () => {
  const shares = new Shares(8, [4, 2]);
  const take = (org: string, member: string) => shares.take([org, member]);
  const ends = [0, 1].map(() => take('org_1', 'mem_1')!);
  assert.equal(take('org_1', 'mem_1'), null, 'the member has two');
  const more = ['mem_2', 'mem_3'].map((member) => take('org_1', member)!);
  for (let i = 4; i < 20; i++) assert.equal(take('org_1', `mem_${i}`), null, 'the organization has four');
  assert(take('org_2', 'mem_x') !== null);
  ends[0]!();
  assert(take('org_1', 'mem_4') !== null, 'one was given back');
  assert.equal(take('org_1', 'mem_1'), null);
  more[0]!();
  assert(take('org_1', 'mem_1') !== null);
});

test('what is taken in all has an end, and whatever was given back can be taken', () => {
  const shares = new Shares(3, [2]);
  const take = (owner: string) => shares.take([owner]);
  for (let round = 0; round < 10; round++) {
    const ends = ['a', 'a', 'b'].map((owner) => take(owner)!);
    assert.equal(take('c'), null, 'all are taken');
    for (const end of ends) end();
  }
});

test('when all are taken, the newest slot of who has most goes to who has fewer even with it', () => {
  const shares = new Shares(6, [3]);
  const lost: string[] = [];
  const take = (owner: string, name: string) => shares.take([owner], () => lost.push(name));
  const ends = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => take(name[0]!, name)!);
  assert.equal(take('a', 'a4'), null, 'its share is taken');
  assert.notEqual(take('d', 'd1'), null);
  assert.deepEqual(lost, ['a3']);
  assert.equal(take('a', 'a5'), null, 'nobody has more than it would have');
  assert.equal(take('c', 'c2'), null);
  ends[2]!();
  assert.equal(take('c', 'c2'), null, 'what is lost gives nothing back');
  assert.notEqual(take('e', 'e1'), null);
  assert.notEqual(take('f', 'f1'), null);
  assert.deepEqual(lost.slice(1).sort(), ['a2', 'b2']);
  assert.equal(take('g', 'g1'), null, 'nobody loses the only one');
  ends[0]!();
  assert.notEqual(take('g', 'g1'), null, 'one was given back');
});

test('slots that can not be lost stay', () => {
  const shares = new Shares(2, [2]);
  for (let i = 0; i < 2; i++) assert.notEqual(shares.take(['a']), null);
  assert.equal(shares.take(['b']), null);
});
