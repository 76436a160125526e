// Leaves out of entries what must not be stored: the service's keys and secrets, and card numbers.
// The edges don't look, so it is done before an entry is written. What the service has accepted was
// searched for card numbers there, its names are those of the API, and nearly always it has nothing
// to leave out: that is found by a few searches over a whole batch. What was refused can hold
// anything, and is always read.

import { cardBrand, findCardNumber, luhnValid } from '../core/card-number.ts';
import { maskText, maskValue, redacted } from '../core/secret-text.ts';
import {
  type AnsweredRequest,
  bodyKeptBytesMax,
  type EntryReader,
  EntryWriter,
  entryFlags,
} from './entry.ts';

const refusedFrom = 400;
/**
 * What only an entry with a secret or an encoded text has: a part of `svc_`, a part of its base 64,
 * and the characters that begin an encoded one. Their first characters are rare in JSON, which
 * makes the search fast.
 */
const signs = ['vc_', 'ZjX', '\\', '%'];
const none = Number.POSITIVE_INFINITY;

/** Masks the entries of a batch, which has `bytes` bytes, in their order. */
export class Masker {
  readonly #buffer: Buffer;
  readonly #next: number[];
  #scratch: EntryWriter | null = null;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#next = signs.map((sign) => this.#find(sign, 0));
  }

  #find(sign: string, from: number): number {
    const found = this.#buffer.indexOf(sign, from, 'latin1');
    return found < 0 ? none : found;
  }

  /** The entry's bytes when something was left out of it; null when it can be stored as it is. */
  masked(entry: EntryReader): Buffer | null {
    if (entry.isGap || !this.#isSuspicious(entry)) return null;
    const before = entry.answered(false);
    const after = maskedRequest(before, entry.flags);
    if (after === null) return null;
    this.#scratch ??= new EntryWriter(Buffer.alloc(0));
    this.#scratch.begin(Buffer.allocUnsafe(3 * (entry.end - entry.start) + 4 * bodyKeptBytesMax));
    this.#scratch.put(
      entry.sender,
      after,
      entryFlags.masked | (entry.flags & (entryFlags.requestCut | entryFlags.answerCut)),
    );
    return this.#scratch.buffer.subarray(0, this.#scratch.used);
  }

  #isSuspicious(entry: EntryReader): boolean {
    const { start, end, status, flags } = entry;
    let isFound = status >= refusedFrom;
    for (let i = 0; i < signs.length; i++) {
      if (this.#next[i]! < start) this.#next[i] = this.#find(signs[i]!, start);
      if (this.#next[i]! < end) isFound = true;
    }
    const isCut = (flags & (entryFlags.requestCut | entryFlags.answerCut)) !== 0;
    return isFound || isCut || mayHoldCardNumber(this.#buffer, entry.textsAt, end);
  }
}

const digitsMin = 13;
const digitsMax = 19;
const [other, separator, digit, beyondAscii] = [0, 1, 2, 3];
/** What each byte can be in a number. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return beyondAscii;
  const character = String.fromCharCode(byte);
  return /\d/.test(character) ? digit : /[ ._/+-]/.test(character) ? separator : other;
});

/**
 * Whether a part of the bytes, which has the characters of numbers only, may have a card number. It
 * looks at the last byte of a span of thirteen first; when that is none of them, the next span
 * begins behind it.
 */
function mayHoldCardNumber(bytes: Buffer, start: number, end: number): boolean {
  let from = start;
  while (from + digitsMin <= end) {
    let i = from + digitsMin - 1;
    while (i >= from && kinds[bytes[i]!] !== other) i--;
    if (i >= from) {
      from = i + 1;
      continue;
    }
    let digits = '';
    let isAscii = true;
    for (i = from; i < end && kinds[bytes[i]!] !== other; i++) {
      const kind = kinds[bytes[i]!];
      if (kind === digit) digits += bytes[i]! & 15;
      else if (kind === beyondAscii) isAscii = false;
    }
    if (isAscii ? hasCardDigits(digits) : findCardNumber(bytes.toString('utf8', from, i))) return true;
    from = i;
  }
  return false;
}

/** Whether some of the digits in a row are a card number. */
function hasCardDigits(digits: string): boolean {
  for (let start = 0; start + digitsMin <= digits.length; start++) {
    if (cardBrand(digits.slice(start, start + 6)) === null) continue;
    for (let length = digitsMin; length <= digitsMax && start + length <= digits.length; length++)
      if (luhnValid(digits.slice(start, start + length))) return true;
  }
  return false;
}

/** The request without what must not be stored; null when there was nothing of it. */
function maskedRequest(entry: AnsweredRequest, flags: number): AnsweredRequest | null {
  const requestBody = maskedBody(entry.requestBody, (flags & entryFlags.requestCut) !== 0);
  const answerBody = maskedBody(entry.answerBody as Uint8Array, (flags & entryFlags.answerCut) !== 0);
  const { idempotencyKey } = entry;
  const texts = {
    method: maskText(entry.method),
    path: maskedAddress(entry.path),
    query: maskedAddress(entry.query),
    objectId: maskedAddress(entry.objectId),
    idempotencyKey: idempotencyKey === undefined ? undefined : maskText(idempotencyKey),
    version: entry.version === undefined ? undefined : maskText(entry.version),
  };
  const isSame = Object.entries(texts).every(([name, text]) => entry[name as keyof typeof texts] === text);
  if (isSame && requestBody === null && answerBody === null) return null;
  return {
    ...entry,
    ...texts,
    requestBody: requestBody ?? entry.requestBody,
    answerBody: answerBody ?? entry.answerBody,
  };
}

/** One that hides something behind percent or plus signs is left out as a whole. */
function maskedAddress(text: string): string {
  const masked = maskText(text);
  if (!/[%+]/.test(text)) return masked;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return masked;
  }
  return maskText(decoded) === decoded ? masked : redacted;
}

/**
 * Digits at the end of a body that was cut may be the beginning of a card number, also where it was
 * cut behind a separator. There is one way to match them, from the first of them on: otherwise a
 * row of digits elsewhere in a body would take as many steps as there are ways.
 */
const digitsAtEnd =
  /(?<!\p{Nd}[^0-9A-Za-z\p{Nd}]{0,2})\p{Nd}(?:[^0-9A-Za-z\p{Nd}]{0,2}\p{Nd})*[^0-9A-Za-z\p{Nd}]{0,2}$/u;
const escapes = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
/** What JSON writes with a letter; other escaped characters stand for themselves. */
const written: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** A body without what must not be stored; null when it has nothing of it. */
function maskedBody(bytes: Uint8Array, isCut: boolean): Buffer | null {
  if (bytes.length === 0) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const whole = isCut ? text.replace(digitsAtEnd, '') : text;
  const masked = text.includes('\\') ? maskedEscapes(whole) : maskText(whole);
  return masked === text ? null : Buffer.from(masked);
}

/** Masks a text with escaped characters, which may hide digits and names. */
function maskedEscapes(text: string): string {
  const masked = maskText(text);
  try {
    const value = JSON.parse(masked);
    const clean = JSON.stringify(maskValue(value));
    return clean === JSON.stringify(value) ? masked : clean;
  } catch {
    // It is no JSON, or was cut.
    const plain = masked.replace(escapes, (_, code?: string, character = '') =>
      code === undefined ? (written[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
    );
    const clean = maskText(plain);
    return clean === plain ? masked : clean;
  }
}
