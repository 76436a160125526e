// The dialect of a release: in which form it writes what the nodes of a service share. A node notes
// its dialect with the lease that it takes. One of another release compares it with its own before
// it follows or takes over, so that nothing is misread: numbers in the log are places in tables.

import { hash } from 'node:crypto';
import { causeKinds } from '../domain/cause.ts';
import { batchFormat } from './log/codec.ts';
import { dictionary } from './records/record-dictionary.ts';
import { layoutVersions, recordFields } from './records/record-layout.ts';

export interface Dialect {
  /** The versions of what has one, by name. */
  readonly formats: Readonly<Record<string, number>>;
  /** Tables whose rows are known by their places. */
  readonly tables: Readonly<Record<string, Table>>;
  /** The layouts of records, by kind. */
  readonly layouts: Readonly<Record<string, Layout>>;
}

interface Table {
  readonly rows: number;
  readonly digest: string;
}

interface Layout {
  readonly version: number;
  readonly digest: string;
}

/** The oldest and the newest version of each format that this release reads. */
const readable: Readonly<Record<string, readonly [oldest: number, newest: number]>> = {
  'commit batches': [batchFormat, batchFormat],
  'rows of the directory': [1, 1],
};

/** New rows come last, and none is moved: whoever has more rows reads what has fewer. */
const tables: Readonly<Record<string, readonly string[]>> = {
  'dictionary of records': dictionary,
  causes: causeKinds,
};

function digestOf(rows: readonly string[]): string {
  return hash('sha256', JSON.stringify(rows), 'hex').slice(0, 32);
}

function tableOf(rows: readonly string[]): Table {
  return { rows: rows.length, digest: digestOf(rows) };
}

function mapped<A, B>(from: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, map(value)]));
}

/** That of this release. */
export const dialect: Dialect = {
  formats: mapped(readable, ([, newest]) => newest),
  tables: mapped(tables, tableOf),
  layouts: Object.fromEntries(
    [...recordFields].map(([kind, names]) => [
      kind,
      { version: layoutVersions[kind] ?? 1, digest: digestOf(names) },
    ]),
  ),
};

/** What of another dialect this release can't read; null: it reads all of it. */
export function unreadableOf({ formats, tables: written, layouts }: Partial<Dialect>): string | null {
  if (formats === undefined || written === undefined || layouts === undefined)
    return 'in a form that is told in another way';
  for (const [name, version] of Object.entries(formats)) {
    const [oldest, newest] = readable[name] ?? [0, 0];
    if (version < oldest || version > newest) return `version ${version} of ${name}`;
  }
  for (const [name, { rows, digest }] of Object.entries(written)) {
    const own = (tables[name] ?? []).slice(0, rows);
    if (tableOf(own).digest !== digest) return `its ${name}`;
  }
  for (const [kind, { version, digest }] of Object.entries(layouts)) {
    const own = dialect.layouts[kind];
    const isKnown =
      own !== undefined && (version < own.version || (version === own.version && digest === own.digest));
    if (!isKnown) return `records of ${kind} in version ${version}`;
  }
  return null;
}
