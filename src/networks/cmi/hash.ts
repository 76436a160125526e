// The hash that signs CMI's messages in both directions ("ver3"): the values of all fields but
// `HASH` and `encoding`, in the order of the fields' names, joined by `|`, with the store key at
// the end; SHA-512; base 64. It doesn't cover the names. Whoever holds a signed message can give
// its values other names as long as their order stays the same.

import { createHash, timingSafeEqual } from 'node:crypto';

/** A field of a form, one character for each byte, because the hash is of posted bytes. */
export type Field = readonly [name: string, value: string];

/** The UTF-8 bytes of a text, one character each. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The fields that the hash covers, in its order. */
export function signedFields(fields: readonly Field[]): Field[] {
  return fields
    .filter(([name]) => !/^(hash|encoding)$/i.test(name))
    .map((field) => ({ field, key: sortKey(field[0]) }))
    .sort(({ key: left }, { key: right }) => (left < right ? -1 : Number(left > right)))
    .map(({ field }) => field);
}

export function hashOf(fields: readonly Field[], storeKey: string): Buffer {
  return hashInOrder(signedFields(fields), storeKey);
}

function hashInOrder(signed: readonly Field[], storeKey: string): Buffer {
  const values = [...signed.map(([, value]) => value), bytesOf(storeKey)];
  return createHash('sha512').update(values.map(escaped).join('|'), 'latin1').digest();
}

const [backslash, bar] = [0x5c, 0x7c];

/** A value with its bars and backslashes escaped. A pattern is slow where there are many. */
function escaped(value: string): string {
  if (!/[\\|]/.test(value)) return value;
  const bytes = Buffer.allocUnsafe(2 * value.length);
  let used = 0;
  for (let i = 0; i < value.length; i++) {
    const byte = value.charCodeAt(i);
    if (byte === bar || byte === backslash) bytes[used++] = backslash;
    bytes[used++] = byte;
  }
  return bytes.toString('latin1', 0, used);
}

/**
 * Whether `hash` is the base 64 of the hash of these fields, which are what `signedFields` gives.
 * It takes as long for a wrong hash as for the right one.
 */
export function isSigned(signed: readonly Field[], hash: string, storeKey: string): boolean {
  const given = Buffer.from(hash, 'base64');
  const expected = hashInOrder(signed, storeKey);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const zero = 0x30;

/**
 * A text whose characters sort as the name does in PHP's `natcasesort`, which CMI's own sample
 * uses: letters as capitals (so `_` comes after them), and digits that follow each other as one
 * number (`item9` before `item10`): as `0`, the count of its digits and its digits, without leading
 * zeros. The names of fields have no spaces. It is made once for each name, because strangers may
 * post names that take long to compare.
 */
export function sortKey(name: string): string {
  const codes: number[] = [];
  let i = 0;
  while (i < name.length) {
    if (!isDigit(name, i)) {
      const code = name.charCodeAt(i++);
      codes.push(code >= 0x61 && code <= 0x7a ? code - 0x20 : code);
      continue;
    }
    while (name.charCodeAt(i) === zero && isDigit(name, i + 1)) i++;
    const start = i;
    while (isDigit(name, i)) i++;
    codes.push(zero, i - start);
    for (let at = start; at < i; at++) codes.push(name.charCodeAt(at));
  }
  return String.fromCharCode(...codes);
}

function isDigit(name: string, at: number): boolean {
  const code = name.charCodeAt(at);
  return code >= zero && code <= 0x39;
}
