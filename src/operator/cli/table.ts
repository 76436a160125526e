// Text for terminals: tables, fields, numbers of things, amounts and times.

import { plain } from '../../core/shown-text.ts';
import type { ApiObject } from '../use-cases/trigger.ts';

/** Rows under their headings. A list of `rowsMax` rows may leave out others. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  rowsMax = Number.POSITIVE_INFINITY,
): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))));
  const table = lines
    .map((cells) =>
      cells
        .map((cell, column) => padded(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
  return rows.length < rowsMax ? table : `${table}\n\nThe newest ${rows.length}: there may be older ones.`;
}

/** A field, whose name is the heading, too; or a heading and what is shown under it. */
export type Column<Row> =
  | (keyof Row & string)
  | readonly [heading: string, value: (keyof Row & string) | ((row: Row) => unknown)];

export function tableOf<Row>(
  columns: readonly Column<Row>[],
  rowsMax?: number,
): (rows: readonly Row[]) => string {
  const places = columns.map((column) => (typeof column === 'string' ? ([column, column] as const) : column));
  const headings = places.map(([heading]) => heading.replaceAll('_', ' '));
  const cells = (row: Row) =>
    places.map(([, value]) => inCell(typeof value === 'function' ? value(row) : row[value]));
  return (rows) => formatTable(headings, rows.map(cells), rowsMax);
}

/** A value as a table shows it: on one line, times without their fraction. */
export function inCell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return plain(isoMoment.test(text) ? formatTime(text) : text);
}

const isoMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** An ISO time without its fraction, or a dash. */
export function formatTime(iso: string | null): string {
  return iso === null ? '-' : iso.replace(/\.\d+Z$/, 'Z');
}

export function formatFields(fields: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(fields).map(widthOf));
  return Object.entries(fields)
    .map(([name, value]) => `${padded(name, width)}  ${value}`)
    .join('\n');
}

export function triggered({ id, type, data }: Pick<ApiObject, 'id' | 'type' | 'data'>): string {
  return formatFields({ type, event: id, object: data.object.id });
}

/** A number of things, of which `noun` names one: `1 shard`, `2 shards`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Centimes as dirhams: 12345 → 123.45. */
export function dirhams(centimes: number): string {
  return (centimes / 100).toFixed(2);
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - widthOf(text));
}

function widthOf(text: string): number {
  return [...text].length;
}
