// The JSON of a body that was sent as a form (`amount=12000&metadata[order]=7`), for the error that
// says to send JSON. It is a hint: what looks like an integer becomes one.

import { isUtf8 } from 'node:buffer';
import { findCardNumber } from '../core/card-number.ts';

const formBytesMax = 2_048;
const hintCharactersMax = 512;
/** A name, with one more in brackets or empty ones for a list. */
const fieldName = /^([^[\]]+)(?:\[([^[\]]*)\])?$/;
const integer = /^(?:0|-?[1-9]\d{0,14})$/;

/** Null when the body is no such form, too long, or must not be repeated. */
export function jsonOfForm(bytes: Buffer): string | null {
  if (bytes.length > formBytesMax || !isUtf8(bytes)) return null;
  const text = bytes.toString();
  if (!/^[^\s{["'=&<][^\s{"'=&<]*=/.test(text)) return null;
  const fields = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(text)) {
    const [, first, second] = fieldName.exec(name) ?? [];
    if (first === undefined) return null;
    const known = fields.get(first);
    const given = integer.test(value) ? Number(value) : value;
    if (second === undefined) fields.set(first, given);
    else if (second === '' || /^\d+$/.test(second))
      fields.set(first, [...(Array.isArray(known) ? known : []), given]);
    else fields.set(first, new Map(known instanceof Map ? known : []).set(second, value));
  }
  const json = JSON.stringify(Object.fromEntries(fields), (_, value) =>
    value instanceof Map ? Object.fromEntries(value) : value,
  );
  return json.length > hintCharactersMax || findCardNumber(json) ? null : json;
}
