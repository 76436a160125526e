import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ScanRange } from '../../src/domain/view.ts';
import { SortedKeys } from '../../src/store/sorted-keys.ts';

const keyOf = (n: number) => String(n).padStart(6, '0');

function filled(...keys: string[]): SortedKeys {
  const set = new SortedKeys();
  for (const key of keys) set.add(key);
  return set;
}

function all(set: SortedKeys): string[] {
  return [...set.scan({ descending: false })];
}

/** The same range over a plain sorted array. */
function rangeOf(sorted: readonly string[], { after, before, descending }: ScanRange): string[] {
  const inside = sorted.filter(
    (key) => (after === undefined || key > after) && (before === undefined || key < before),
  );
  return descending ? inside.reverse() : inside;
}

test('ranges exclude their bounds, in both directions', () => {
  const set = filled('b', 'd', 'a', 'c', 'e');
  const rows: [ScanRange, string][] = [
    [{ descending: false }, 'abcde'],
    [{ descending: true }, 'edcba'],
    [{ after: 'b', descending: false }, 'cde'],
    [{ before: 'd', descending: false }, 'abc'],
    [{ after: 'b', before: 'e', descending: false }, 'cd'],
    [{ after: 'b', before: 'e', descending: true }, 'dc'],
    [{ after: 'bb', before: 'dd', descending: false }, 'cd'],
    [{ after: 'bb', before: 'dd', descending: true }, 'dc'],
    [{ after: 'e', descending: false }, ''],
    [{ before: 'a', descending: true }, ''],
    [{ after: '', before: 'z', descending: true }, 'edcba'],
    [{ after: 'd', before: 'b', descending: false }, ''],
    [{ after: 'd', before: 'b', descending: true }, ''],
    [{ after: 'c', before: 'c', descending: false }, ''],
  ];
  for (const [range, expected] of rows) {
    assert.equal([...set.scan(range)].join(''), expected, JSON.stringify(range));
  }
});

test('an empty set', () => {
  const set = new SortedKeys();
  assert.equal(set.delete('a'), false);
  assert.deepEqual(all(set), []);
  assert.deepEqual([...set.scan({ after: 'a', before: 'b', descending: true })], []);
});

test('a key is in once', () => {
  const set = filled('a', 'b');
  assert.equal(set.add('a'), false);
  assert.equal(set.add('b'), false);
  assert.deepEqual(all(set), ['a', 'b']);
  assert.equal(set.delete('a'), true);
  assert.equal(set.delete('a'), false);
  assert.deepEqual(all(set), ['b']);
});

test('a scan goes on over keys that are added and deleted meanwhile', () => {
  for (const descending of [false, true]) {
    const set = new SortedKeys();
    for (let n = 0; n < 2_000; n++) set.add(keyOf(n));
    const seen: string[] = [];
    for (const key of set.scan({ descending })) {
      seen.push(key);
      set.delete(key);
    }
    assert.equal(seen.length, 2_000);
    assert.deepEqual(
      [...seen].sort(),
      Array.from({ length: 2_000 }, (_, n) => keyOf(n)),
    );
    assert.deepEqual(all(set), []);
  }

  const set = filled('a', 'c', 'e');
  const scan = set.scan({ descending: false });
  assert.equal(scan.next().value, 'a');
  set.add('b');
  set.add('0');
  set.delete('c');
  assert.deepEqual([...scan], ['b', 'e']);
});

test('a scan finds its place after as many keys were deleted as added', () => {
  const rows: [descending: boolean, added: string[], deleted: string[], rest: string[]][] = [
    [false, ['0'], ['e'], ['d']],
    [true, ['0', 'f'], ['a', 'd'], ['b', '0']],
  ];
  for (const [descending, added, deleted, rest] of rows) {
    const set = filled('a', 'b', 'c', 'd', 'e');
    const scan = set.scan({ descending });
    for (let passed = 0; passed < 3; passed++) scan.next();
    for (const key of added) set.add(key);
    for (const key of deleted) set.delete(key);
    assert.deepEqual([...scan], rest);
  }
});

test('a scan finds its place after a key was added on the way that it has come or has before it', () => {
  for (const [descending, rest] of [
    [false, 'de'],
    [true, 'ba0'],
  ] as const) {
    const set = filled('a', 'b', 'c', 'd', 'e');
    const scan = set.scan({ descending });
    for (let passed = 0; passed < 3; passed++) scan.next();
    set.add('0');
    assert.equal([...scan].join(''), rest);
  }
});

test('a set of one key', () => {
  const set = filled('a');
  for (const descending of [false, true]) {
    assert.deepEqual([...set.scan({ descending })], ['a']);
    for (const bounds of [{ after: 'a' }, { before: 'a' }, { after: 'b' }, { before: '0' }])
      assert.deepEqual([...set.scan({ ...bounds, descending })], []);
  }
});

test('a scan reads no further than it is asked to', () => {
  const set = filled('a', 'b', 'c');
  const [first] = set.scan({ descending: true });
  assert.equal(first, 'c');
});

test('keys in any order, over many blocks, come out sorted', () => {
  const orders: Record<string, (n: number) => number> = {
    ascending: (n) => n,
    descending: (n) => 9_999 - n,
    scattered: (n) => (n * 7_919) % 10_000,
  };
  for (const [name, order] of Object.entries(orders)) {
    const set = new SortedKeys();
    for (let n = 0; n < 10_000; n++) assert.equal(set.add(keyOf(order(n))), true, name);
    const keys = Array.from({ length: 10_000 }, (_, n) => keyOf(n));
    assert.deepEqual(all(set), keys, name);
    const left = new Set(keys);
    for (let n = 0; n < 10_000; n++) {
      if (n % 100 === 50) continue;
      assert.equal(set.delete(keyOf(order(n))), left.delete(keyOf(order(n))), name);
    }
    assert.deepEqual([...set.scan({ descending: true })], [...left].reverse(), name);
  }
});

test('the set agrees with a plain sorted array', () => {
  const key = fc.nat(4_000).map(keyOf);
  const bound = fc.option(key, { nil: undefined });
  const range = fc.record({ after: bound, before: bound, descending: fc.boolean() });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), from: fc.nat(4_000), count: fc.nat(900) }),
    fc.record({ kind: fc.constant('delete' as const), from: fc.nat(4_000), count: fc.nat(900) }),
    fc.record({ kind: fc.constant('toggle' as const), keys: fc.array(key, { maxLength: 30 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 15 }), fc.array(range, { maxLength: 5 }), (steps, ranges) => {
      const set = new SortedKeys();
      const model = new Set<string>();
      const put = (k: string) => assert.equal(set.add(k), model.size !== model.add(k).size);
      const drop = (k: string) => assert.equal(set.delete(k), model.delete(k));
      for (const s of steps) {
        if (s.kind === 'toggle') for (const k of s.keys) (model.has(k) ? drop : put)(k);
        else {
          for (let n = s.from; n < s.from + s.count; n++) (s.kind === 'add' ? put : drop)(keyOf(n));
        }
      }
      const sorted = [...model].sort();
      for (const r of [{ descending: false }, { descending: true }, ...ranges]) {
        assert.deepEqual([...set.scan(r)], rangeOf(sorted, r));
      }
    }),
  );
});
