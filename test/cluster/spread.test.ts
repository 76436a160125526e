// Which node runs which partition.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spread } from '../../src/cluster/spread.ts';

const noWishes = (count: number) => Array.from({ length: count }, () => null);

/** Members, who runs each partition before, and who after. */
const cases: readonly (readonly [name: string, members: string, before: string, after: string])[] = [
  ['one node runs all', 'a', 'aaaa', 'aaaa'],
  ['a second one gets half', 'ab', 'aaaa', 'aabb'],
  ['a third one gets what is fair, from both', 'abc', 'aaabbb', 'aacbbc'],
  ['of an odd number who has more keeps more', 'ab', 'bba', 'bba'],
  ['the first one has more where nobody has', 'ab', 'aaa', 'aab'],
  ['of a node that is gone the others get what it had, and move nothing', 'ac', 'abcabc', 'aacacc'],
  ['all of a node that is gone go to the one that is left', 'a', 'bbb', 'aaa'],
  ['fewer partitions than nodes: some get none', 'abc', 'aa', 'ab'],
  ['no partitions', 'ab', '', ''],
];

for (const [name, members, before, after] of cases)
  test(name, () => {
    assert.deepEqual(spread([...members], [...before], noWishes(before.length)).join(''), after);
  });

/** Members, who runs each partition before, who is wanted for it (`-`: anybody), and who runs it after. */
const wishes: readonly (readonly [
  name: string,
  members: string,
  before: string,
  wanted: string,
  after: string,
])[] = [
  ['a partition goes where it is wanted, and another one comes back for it', 'ab', 'aabb', 'b---', 'baba'],
  ['what is wanted where it is stays when a node comes', 'abc', 'aaabbb', '--a---', 'acabbc'],
  [
    'a node may be wanted for more than is fair: the others share what is left',
    'abc',
    'aabbcc',
    'cccc--',
    'ccccab',
  ],
  ['nobody waits for a node that is gone', 'ab', 'aabb', 'c--c', 'aabb'],
  ['of one that is full of what it is wanted for, another partition goes', 'ab', 'ab', '-a', 'ba'],
  ['one node runs everything', 'a', 'aa', 'ab', 'aa'],
];

for (const [name, members, before, wanted, after] of wishes)
  test(name, () => {
    const wantedOf = [...wanted].map((member) => (member === '-' ? null : member));
    assert.deepEqual(spread([...members], [...before], wantedOf).join(''), after);
    assert.deepEqual(spread([...members], [...after], wantedOf).join(''), after, 'it stays so');
  });

test('whatever comes and goes, the counts differ by one at most, and nothing moves that need not', () => {
  let placed = Array.from({ length: 32 }, () => 'a');
  for (const members of ['ab', 'abc', 'ac', 'acde', 'e', 'ef', 'abcdefg', 'ag']) {
    const next = spread([...members], placed, noWishes(32));
    const counts = [...members].map((member) => next.filter((each) => each === member).length);
    assert(Math.max(...counts) - Math.min(...counts) <= 1, `${members}: ${counts}`);
    const most = Math.ceil(32 / members.length);
    const had = (member: string) => placed.filter((each) => each === member).length;
    const stay = [...members].reduce((sum, member) => sum + Math.min(had(member), most), 0);
    const stayed = next.filter((member, number) => member === placed[number]).length;
    // With 32 partitions some nodes have the greater share, so that one fewer may stay with each of the others.
    assert(stayed >= stay - members.length, `${members}: ${stayed} of ${stay}`);
    placed = next;
  }
});
