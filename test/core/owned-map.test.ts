import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OwnedMap } from '../../src/core/owned-map.ts';

const sized = (sizeMax: number) => new OwnedMap<string>(sizeMax, ({ length }) => length);

test('who has an equal part or more makes room, and others keep theirs', () => {
  const map = sized(10);
  map.set('a', '1', 'xxx');
  map.set('b', '1', 'xxxxxx');
  assert.equal(map.set('c', '1', 'x'), false);
  assert.equal(map.set('c', '2', 'x'), true);
  assert.deepEqual([map.get('a', '1'), map.get('b', '1'), map.get('c', '2')], ['xxx', undefined, 'x']);
});

test('a value that is larger than all may be is there alone', () => {
  const map = sized(10);
  for (const owner of ['a', 'b', 'c']) map.set(owner, '1', 'xx');
  map.set('d', '1', 'x'.repeat(20));
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((owner) => map.get(owner, '1')?.length),
    [undefined, undefined, undefined, 20],
  );
  map.set('a', '1', 'x');
  assert.deepEqual([map.get('a', '1'), map.get('d', '1')], ['x', undefined]);
});

test('whatever is put and taken away, what is there was put last, and all together is bounded', () => {
  const [owners, keys] = [
    ['a', 'b', 'c'],
    ['1', '2', '3', '4'],
  ];
  const step = fc.record({
    owner: fc.constantFrom(...owners),
    key: fc.constantFrom(...keys),
    value: fc.string({ maxLength: 8 }),
    what: fc.constantFrom('set', 'set', 'set', 'delete', 'forget'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = sized(16);
      const put = new Map<string, string>();
      for (const { owner, key, value, what } of steps) {
        if (what === 'set') {
          const isRoomMade = map.set(owner, key, value);
          put.set(owner + key, value);
          assert.equal(map.get(owner, key), value);
          const isThere = (each: string) => map.get(each[0]!, each[1]!) !== undefined;
          if (!isRoomMade) assert.ok([...put.keys()].every(isThere), 'nothing goes while there is room');
          for (const each of [...put.keys()]) if (!isThere(each)) put.delete(each);
        } else if (what === 'delete') {
          map.delete(owner, key);
          put.delete(owner + key);
        } else {
          map.forget(owner);
          for (const each of keys) put.delete(owner + each);
        }
        let size = 0;
        for (const each of owners.flatMap((owner) => keys.map((key) => owner + key))) {
          assert.equal(map.get(each[0]!, each[1]!), put.get(each));
          size += put.get(each)?.length ?? 0;
        }
        assert.ok(size <= 16);
      }
    }),
  );
});
