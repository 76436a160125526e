import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, formatFields, formatTable, formatTime } from '../../../src/operator/cli/table.ts';

test('formatTable aligns columns by characters and leaves no space at the end', () => {
  const rows = [
    ['a', 'é😀', ''],
    ['bbbb', 'c', 'd'],
  ];
  assert.equal(formatTable(['id', 'name', 'x'], rows), 'ID    NAME  X\na     é😀\nbbbb  c     d');
  assert.equal(formatTable(['id', 'name'], []), 'ID  NAME');
});

test('formatFields aligns values', () => {
  assert.equal(formatFields({ id: '1', 'a name': '2' }), 'id      1\na name  2');
});

test('formatTime drops the fraction', () => {
  assert.equal(formatTime('2026-11-01T10:00:00.123Z'), '2026-11-01T10:00:00Z');
  assert.equal(formatTime(null), '-');
});

test('counted names one thing and several', () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => counted(number, 'shard')),
    ['0 shards', '1 shard', '2 shards'],
  );
});
