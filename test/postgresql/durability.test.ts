// What a PostgreSQL server must promise before anything is acknowledged that it holds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durabilityDefect } from '../../src/postgresql/durability.ts';

const sound = { standbys: 'ANY 1 (b, c)', commit: 'on', fsync: 'on', pages: 'on' };

for (const [name, settings, isSingle, expected] of [
  ['all of it', {}, false, null],
  ['more than that', { commit: 'remote_apply' }, false, null],
  ['what it writes may stay in memory', { fsync: 'off' }, false, /^fsync is off: set fsync = on$/],
  ['pages may be torn', { pages: 'off' }, false, /^full_page_writes is off/],
  ['commits wait for no standby', { commit: 'local' }, false, /^synchronous_commit is local/],
  ['nobody else has it', { standbys: ' ' }, false, /^synchronous_standby_names is empty/],
  ['nobody else has it, and that is wanted', { standbys: '' }, true, null],
  [
    'one that is wanted alone may lose nothing, either',
    { standbys: '', fsync: 'off' },
    true,
    /^fsync is off/,
  ],
] as const)
  test(`what a server promises: ${name}`, () => {
    const defect = durabilityDefect({ ...sound, ...settings }, isSingle);
    if (expected === null) assert.equal(defect, null);
    else assert.match(String(defect), expected);
  });
