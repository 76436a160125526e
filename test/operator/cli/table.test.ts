import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, formatFields, formatTable, formatTime, tableOf } from '../../../src/operator/cli/table.ts';

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

test('tableOf shows fields by their names and what is made of a row, each on one line', () => {
  interface Row {
    readonly id: string;
    readonly last_used: string | null;
    readonly open: boolean;
    readonly types: readonly string[];
  }
  const table = tableOf<Row>(
    ['id', 'last_used', 'open', ['kinds', 'types'], ['long', ({ id }) => id.length]],
    2,
  );
  const row = { id: 'a\u001b[31m\nb', last_used: null, open: true, types: ['x', 'y'] };
  const used = { ...row, id: 'c', last_used: '2026-11-01T10:00:00.123Z', open: false };
  const lines = [
    'ID        LAST USED             OPEN  KINDS  LONG',
    'a [31m b  -                     yes   x,y    8',
  ];
  assert.equal(table([row]), 'ID        LAST USED  OPEN  KINDS  LONG\na [31m b  -          yes   x,y    8');
  const full = [
    ...lines,
    'c         2026-11-01T10:00:00Z  no    x,y    1',
    '',
    'The newest 2: there may be older ones.',
  ];
  assert.equal(table([row, used]), full.join('\n'));
});
