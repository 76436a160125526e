// The hash that signs CMI's messages in both directions ("ver3"): the values of all fields but `HASH` and `encoding`, in the
// order of the fields' names, joined by `|`, with the store key at the end; SHA-512; base 64. It doesn't cover the names.
// Whoever holds a signed message can give its values other names as long as their order stays the same.

import { createHash, timingSafeEqual } from 'node:crypto';

/** A field of a form. Name and value have one character for each byte, because the hash is of the bytes that are posted. */
export type Field = readonly [name: string, value: string];

/** The UTF-8 bytes of a text, one character each. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The fields that the hash covers, in its order. */
export function signedFields(fields: readonly Field[]): Field[] {
  return fields
    .filter(([name]) => !/^(hash|encoding)$/i.test(name))
    .sort(([left], [right]) => compareNames(left, right));
}

export function hashOf(fields: readonly Field[], storeKey: string): Buffer {
  const values = [...signedFields(fields).map(([, value]) => value), bytesOf(storeKey)];
  const text = values.map((value) => value.replace(/[\\|]/g, '\\$&')).join('|');
  return createHash('sha512').update(text, 'latin1').digest();
}

/** Whether `hash` is the base 64 of these fields' hash. It takes as long for a wrong hash as for the right one. */
export function isSigned(fields: readonly Field[], hash: string, storeKey: string): boolean {
  const given = Buffer.from(hash, 'base64');
  const expected = hashOf(fields, storeKey);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * The order of PHP's `natcasesort`, which CMI's own sample uses: letters as capitals (so `_` comes after them), and
 * digits that follow each other as one number (`item9` before `item10`). The names of fields have no spaces.
 */
export function compareNames(left: string, right: string): number {
  const [ours, others] = [partsOf(left), partsOf(right)];
  for (const [at, part] of ours.entries()) {
    const other = others[at];
    if (other === undefined) return 1;
    if (part !== other) return compareParts(part, other);
  }
  return ours.length - others.length;
}

/** The numbers in a name, without leading zeros, and its other characters one by one. */
function partsOf(name: string): string[] {
  const capitals = name.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  return (capitals.match(/\d+|\D/g) ?? []).map((part) => part.replace(/^0+(?=\d)/, ''));
}

function compareParts(left: string, right: string): number {
  const areNumbers = /^\d/.test(left) && /^\d/.test(right);
  if (areNumbers && left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : 1;
}
