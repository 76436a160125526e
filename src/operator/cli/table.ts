// Text for terminals: numbers of things, amounts, and tables with columns aligned on the left, two spaces apart, no lines.

/**
 * The rows under their headings. `rowsMax` is the length of a list that may leave rows out. Cells must not contain control
 * characters.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  rowsMax = Number.POSITIVE_INFINITY,
): string {
  const widths = headings.map((heading, i) =>
    Math.max(...[heading, ...rows.map((row) => row[i]!)].map(widthOf)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell + ' '.repeat(widths[i]! - widthOf(cell)))
      .join('  ')
      .trimEnd();
  const table = [headings.map((heading) => heading.toUpperCase()), ...rows].map(line).join('\n');
  return rows.length < rowsMax ? table : `${table}\n\nThe newest ${rows.length}: there may be older ones.`;
}

/** A number of things, of which `noun` names one: `1 shard`, `2 shards`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Centimes as dirhams: 12345 → 123.45. */
export function dirhams(centimes: number): string {
  return (centimes / 100).toFixed(2);
}

/** The names and values of one object, each on a line. */
export function formatFields(fields: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(fields).map(widthOf));
  return Object.entries(fields)
    .map(([name, value]) => `${name}${' '.repeat(width - widthOf(name))}  ${value}`)
    .join('\n');
}

/** An ISO time without its fraction, or a dash. */
export function formatTime(iso: string | null): string {
  return iso === null ? '-' : iso.replace(/\.\d+Z$/, 'Z');
}

function widthOf(text: string): number {
  return [...text].length;
}
