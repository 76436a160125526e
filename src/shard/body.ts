// Parses a request's body into parameters: a JSON object in valid UTF-8, without repeated names,
// with no more names and list items than allowed, and with texts that are valid Unicode and no card
// numbers.

import { isUtf8 } from 'node:buffer';
import { paramPath } from '../contract/echo.ts';
import { type Refusal, refuse } from '../contract/errors/table.ts';
import { bodyNamesMax, urlCharactersMax } from '../contract/limits.ts';
import { isObject, type Params } from '../contract/routes/parsed-params.ts';
import { findCardNumber, mayHoldCardNumber } from '../core/card-number.ts';

/** How deep objects and lists may be nested: more than parameters need, and safe for recursion. */
export const nestingMax = 32;

type ParsedBody = { readonly params: Params; readonly suspicious: boolean } | { readonly refusal: Refusal };

const notJson = { refusal: refuse('invalid_request', { message: 'invalid_request.json' }) };
const notAnObject = { refusal: refuse('invalid_request', { message: 'invalid_request.not_an_object' }) };
const tooDeep = { refusal: refuse('invalid_request', { message: 'invalid_request.too_deep' }) };
const values = { max: bodyNamesMax };
const tooManyNames = {
  refusal: refuse('invalid_request', { message: 'invalid_request.too_many_names', values }),
};
const duplicateName = { refusal: refuse('invalid_request', { message: 'invalid_request.duplicate_name' }) };

/**
 * Parses a body; an empty one means `{}`. A suspicious one must pass `findForbiddenText` as well.
 */
export function parseBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) return { params: {}, suspicious: false };
  if (!isUtf8(bytes)) return notJson;
  const text = bytes.toString('utf8');
  // They are counted first: to parse and validate thousands would take tens of milliseconds.
  const names = namesWritten(text);
  if (typeof names === 'object') return names;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return notJson;
  }
  if (!isObject(value)) return notAnObject;
  if (names !== namesIn(value)) return duplicateName;
  return { params: value, suspicious: text.includes('\\') || mayHoldCardNumber(text) };
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The names in a JSON text: its colons outside of texts. A refusal when it is nested too deeply, or
 * has too many of them and of list items: each list begins one, and each of its commas another.
 */
function namesWritten(text: string): number | typeof tooDeep {
  let names = 0;
  let items = 0;
  let depth = 0;
  /** What the text is in: a bit for each level, the innermost last; 1 for a list. */
  let levels = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (inText) {
      if (unit === backslash) i++;
      else if (unit === quote) inText = false;
    } else if (unit === quote) inText = true;
    else if (unit === colon) names++;
    else if (unit === comma) items += levels & 1;
    else if (unit === openBrace || unit === openBracket) {
      if (++depth > nestingMax) return tooDeep;
      levels = (levels << 1) | Number(unit === openBracket);
      items += levels & 1;
    } else if (unit === closeBrace || unit === closeBracket) {
      depth--;
      levels >>>= 1;
    }
  }
  return names + items > bodyNamesMax ? tooManyNames : names;
}

/** The number of names in a parsed value, at every depth. A repeated name counts once. */
function namesIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + namesIn(item), 0);
  if (!isObject(value)) return 0;
  const names = Object.keys(value);
  let count = names.length;
  for (const name of names) {
    const member = value[name];
    if (typeof member === 'object') count += namesIn(member);
  }
  return count;
}

/** The refusal of the first text or name that looks like a card number or is not valid Unicode. */
export function findForbiddenText(params: Params): Refusal | null {
  return forbiddenIn(params, []);
}

function forbiddenIn(value: unknown, path: readonly string[]): Refusal | null {
  if (typeof value === 'string') return forbidden(value, path);
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const refusal = forbidden(name, path) ?? forbiddenIn(member, [...path, name]);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** No parameter takes a longer text: it is refused for its length, without a search. */
const searchedLengthMax = 2 * urlCharactersMax;

function forbidden(text: string, path: readonly string[]): Refusal | null {
  if (text.length > searchedLengthMax) return null;
  const isWellFormed = text.isWellFormed();
  if (isWellFormed && !findCardNumber(text)) return null;
  const message = isWellFormed ? 'parameter_invalid.card_number' : 'parameter_invalid.encoding';
  return refuse('parameter_invalid', { param: paramPath(path), message });
}

const formBytesMax = 2_048;
const hintCharactersMax = 512;
/** A name, with one more in brackets or empty ones for a list. */
const fieldName = /^([^[\]]+)(?:\[([^[\]]*)\])?$/;
const integerOrBoolean = /^(?:0|-?[1-9]\d{0,14}|true|false)$/;

/**
 * The JSON of a body that was sent as a form (`amount=12000&metadata[order]=7`), for the error that
 * says to send JSON. It is a hint: what looks like an integer or a boolean becomes one. Null when
 * the body is no such form, too long, or must not be repeated.
 */
export function jsonOfForm(bytes: Buffer): string | null {
  if (bytes.length > formBytesMax || !isUtf8(bytes)) return null;
  const text = bytes.toString();
  if (!/^[^\s{["'=&<][^\s{"'=&<]*=/.test(text)) return null;
  const fields = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(text)) {
    const [, first, second] = fieldName.exec(name) ?? [];
    if (first === undefined) return null;
    const known = fields.get(first);
    const given: unknown = integerOrBoolean.test(value) ? JSON.parse(value) : value;
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
