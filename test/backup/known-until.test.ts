// What a restore warns of where less is known of a part than is wanted, or than of others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endWarning, type KnownPart } from '../../src/backup/known-until.ts';

const minute = 60_000;
const backupMs = Date.parse('2026-03-01T12:00:00Z');
const at = (minutes: number) => backupMs + minutes * minute;
const iso = (minutes: number) => new Date(at(minutes)).toISOString();
const all = Number.POSITIVE_INFINITY;

interface Part {
  /** Minutes after the backup. */
  readonly last?: number;
  readonly archived?: number;
  readonly isCut?: boolean;
}

function known(...parts: readonly Part[]): KnownPart[] {
  return parts.map(({ last, archived, isCut = false }, shard) => ({
    name: `shard ${shard}`,
    lastMs: last === undefined ? null : at(last),
    archivedMs: archived === undefined ? null : at(archived),
    isCut,
  }));
}

const cases: readonly {
  readonly title: string;
  readonly parts: readonly Part[];
  readonly toMs: number;
  /** The parts that are named, and the minute that they end with; null: there is no warning. */
  readonly warning: { readonly of?: string; readonly until: number } | null;
}[] = [
  { title: 'a backup alone, all of it', parts: [{ last: -1 }, {}], toMs: all, warning: null },
  { title: 'a backup alone, its moment', parts: [{ last: -1 }, {}], toMs: at(0), warning: null },
  { title: 'a backup alone, later', parts: [{ last: -1 }, {}], toMs: at(1), warning: { until: 0 } },
  {
    title: 'an archive that does not say how far it goes, later than any change',
    parts: [{ last: 3 }, { last: 1 }],
    toMs: at(4),
    warning: { until: 3 },
  },
  {
    title: 'the same up to the last change: the other part may have been idle',
    parts: [{ last: 3 }, { last: 1 }],
    toMs: at(3),
    warning: null,
  },
  {
    title: 'a service that was idle, whose archive says that nothing came',
    parts: [{ last: 3, archived: 9 }, { archived: 9 }],
    toMs: at(8),
    warning: null,
  },
  {
    title: 'one whose archive ends before the moment, and another that goes on behind it',
    parts: [
      { last: 8, archived: 9, isCut: true },
      { last: 2, archived: 5 },
    ],
    toMs: at(8),
    warning: { of: 'shard 1', until: 5 },
  },
  {
    title: 'changes behind the moment, noted or not',
    parts: [{ last: 7, archived: 7, isCut: true }, { archived: 9 }],
    toMs: at(8),
    warning: null,
  },
  {
    title: 'changes that were archived later than it was noted last',
    parts: [
      { last: 8, archived: 7 },
      { last: 8, archived: 9 },
    ],
    toMs: at(8),
    warning: null,
  },
  {
    title: 'both end before the moment',
    parts: [
      { last: 1, archived: 6 },
      { last: 1, archived: 5 },
    ],
    toMs: at(8),
    warning: { until: 5 },
  },
  {
    title: 'all of it, where archives end about together',
    parts: [{ archived: 30 }, { last: 19, archived: 20 }, {}],
    toMs: all,
    warning: null,
  },
  {
    title: 'all of it, where one has stopped long before',
    parts: [{ archived: 30 }, { archived: 19 }, { archived: 3 }],
    toMs: all,
    warning: { of: 'shard 1, shard 2', until: 3 },
  },
];

for (const { title, parts, toMs, warning } of cases)
  test(`restored: ${title}`, () => {
    const found = endWarning(known(...parts), toMs, backupMs);
    if (warning === null) return assert.equal(found, null);
    const { of, until } = warning;
    const begin = `the backup and the archive have nothing${of === undefined ? '' : ` of ${of}`} that is later than`;
    const text = String(found);
    assert(text.startsWith(`${begin} ${iso(until)}: `), text);
    assert.match(
      text,
      toMs === all ? /until 2026-03-01T12:30:00.000Z, where others end, if / : /until this moment, if /,
    );
  });
