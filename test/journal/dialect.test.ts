// Two releases share a service where the one that reads knows all that the other one writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Dialect, dialect, unreadableOf } from '../../src/journal/dialect.ts';

const { formats, tables, layouts } = dialect;
const causes = tables.causes!;
const customer = layouts.customer!;
const event = layouts.event!;
const withLayout = (kind: string, layout: Dialect['layouts'][string]): Dialect => ({
  ...dialect,
  layouts: { ...layouts, [kind]: layout },
});
const withTable = (name: string, table: Dialect['tables'][string]): Dialect => ({
  ...dialect,
  tables: { ...tables, [name]: table },
});

const rows: readonly [what: string, written: Dialect, unreadable: string | null][] = [
  ['the same release', dialect, null],
  ['as it comes from PostgreSQL', JSON.parse(JSON.stringify(dialect)), null],
  [
    'an older layout, which is made into the newer one',
    withLayout('event', { version: event.version - 1, digest: 'another' }),
    null,
  ],
  [
    'a newer layout',
    withLayout('event', { version: event.version + 1, digest: 'another' }),
    `records of event in version ${event.version + 1}`,
  ],
  [
    'other fields in the same version',
    withLayout('customer', { ...customer, digest: 'another' }),
    `records of customer in version ${customer.version}`,
  ],
  ['a new kind', withLayout('payout', { version: 1, digest: 'new' }), 'records of payout in version 1'],
  ['a longer table', withTable('causes', { rows: causes.rows + 1, digest: 'longer' }), 'its causes'],
  ['another order', withTable('causes', { ...causes, digest: 'another' }), 'its causes'],
  [
    'a shorter table that begins alike',
    // The causes before there were members.
    withTable('causes', { rows: 6, digest: '20a81ca608c8b048d687e9ba5706d1c9' }),
    null,
  ],
  ['a new table', withTable('currencies', { rows: 1, digest: 'new' }), 'its currencies'],
  [
    'a newer format',
    { ...dialect, formats: { ...formats, 'commit batches': 9 } },
    'version 9 of commit batches',
  ],
  [
    'a format that is read no more',
    { ...dialect, formats: { ...formats, 'commit batches': 7 } },
    'version 7 of commit batches',
  ],
  ['something new', { ...dialect, formats: { ...formats, frames: 1 } }, 'version 1 of frames'],
];

for (const [what, written, unreadable] of rows)
  test(`what is written is readable or not: ${what}`, () => {
    assert.equal(unreadableOf(written), unreadable);
  });

test('this release says of each format which version it writes, and of each table and layout what is in it', () => {
  for (const [name, version] of Object.entries(formats)) {
    assert.ok(Number.isInteger(version) && version >= 1, name);
    for (const other of [version - 1, version + 1])
      assert.equal(
        unreadableOf({ ...dialect, formats: { ...formats, [name]: other } }),
        `version ${other} of ${name}`,
      );
  }
  for (const { rows, digest } of Object.values(tables)) {
    assert.ok(rows > 0);
    assert.match(digest, /^[0-9a-f]{32}$/);
  }
  for (const [kind, { version, digest }] of Object.entries(layouts)) {
    assert.ok(version >= 1, kind);
    assert.match(digest, /^[0-9a-f]{32}$/);
  }
  assert.equal(new Set(Object.values(layouts).map(({ digest }) => digest)).size, Object.keys(layouts).length);
});

test('what lacks a part is told in another way', () => {
  for (const name of ['formats', 'tables', 'layouts'] as const)
    assert.equal(unreadableOf({ ...dialect, [name]: undefined }), 'in a form that is told in another way');
});
