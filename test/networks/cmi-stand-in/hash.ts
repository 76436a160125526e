// The hash of CMI's forms (ver3), made from docs/networks/cmi.md alone. It shares nothing with the service's, so that a mistake
// in either of them shows.

import { createHash } from 'node:crypto';

export type Fields = ReadonlyMap<string, string>;

export function hashOf(fields: Fields, storeKey: string): string {
  const names = [...fields.keys()].filter((name) => !['hash', 'encoding'].includes(name.toLowerCase()));
  const values = names.sort(byNaturalOrder).map((name) => fields.get(name)!);
  const text = [...values, storeKey].map(escaped).join('|');
  return createHash('sha512').update(text, 'utf8').digest('base64');
}

function escaped(value: string): string {
  return [...value].map((letter) => (letter === '\\' || letter === '|' ? `\\${letter}` : letter)).join('');
}

/** As PHP's `natcasesort`: letters by their upper case, runs of digits by their number. */
function byNaturalOrder(a: string, b: string): number {
  const [left, right] = [a, b].map((name) => name.toUpperCase().match(/[0-9]+|[^0-9]/g) ?? []);
  for (const [at, part] of left!.entries()) {
    const other = right![at];
    if (other === undefined) return 1;
    if (part === other) continue;
    const areNumbers = /[0-9]/.test(part) && /[0-9]/.test(other);
    const difference = areNumbers ? Number(part) - Number(other) : part < other ? -1 : 1;
    if (difference !== 0) return difference;
  }
  return left!.length - right!.length;
}
