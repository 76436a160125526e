// What CMI posts after each attempt to pay on its page: a form with the fields that the payment was
// started with, the outcome, and the hash. Only one that is signed is read any further. CMI's own
// sample hashes a value without a line break at its end and with its HTML entities decoded; other
// clients also trim it, or take it as it is posted. All three are accepted: each is a text that
// only the holder of the store key can sign.

import { createRequire } from 'node:module';
import type * as HtmlEntities from 'html-entities';
import type { DeclineCode } from '../../contract/vocabulary.ts';
import { lazily } from '../../core/lazily.ts';
import { namesOf } from '../../core/tables.ts';
import type { CardDetails } from '../../domain/record.ts';
import { centimesOf, dirham } from './dirhams.ts';
import { constantFields } from './form.ts';
import { bytesOf, type Field, isSigned, signedFields } from './hash.ts';

/** One attempt to pay, as CMI reports it. */
export interface CmiAttempt {
  readonly clientId: string;
  /** Our name for what was paid. */
  readonly order: string;
  /** Null when the amount is missing or isn't one. */
  readonly centimes: number | null;
  readonly currency: string;
  /** CMI's name for the attempt. */
  readonly transaction: string;
  /** Why it was declined; null: the card's bank has authorized it. */
  readonly decline: DeclineCode | null;
  /** What CMI tells of the card; null when that is not all of it. */
  readonly card: CardDetails | null;
}

// CMI's messages have about 60 fields and 4 KiB. Anybody can post here, so what is much more is
// refused before work is done.
const messageCharactersMax = 16 * 1024;
const fieldsMax = 128;
const nameBytesMax = 64;
const valueBytesMax = 4 * 1024;
/** Ampersands in the values: each begins an HTML entity, of which a name may be full. */
const ampersandsMax = 1_024;

/** The attempt that a genuine callback reports, or what is wrong with it, for an operator. */
export function readAttempt(body: string, storeKey: string): CmiAttempt | string {
  const posted = fieldsOf(body);
  if (typeof posted === 'string') return posted;
  const hash = posted.find(([name]) => /^hash$/i.test(name))?.[1] ?? '';
  const signed = signedFields(posted);
  const decoded = withValues(signed, decodedValue);
  const isRight = (fields: readonly Field[]) => isSigned(fields, hash, storeKey);
  const fields = [decoded, withValues(decoded, trimmedValue), signed].find(isRight);
  if (fields === undefined) return 'the hash is not that of the fields: is the store key the right one?';
  return renamedFault(fields) ?? attemptOf(new Map(fields));
}

/**
 * What shows that a customer has given signed values other names; null when nothing does. The order
 * of the names (that of the hash) has to stay, so the fields of our form, found with their values,
 * keep those beside them in their places.
 */
function renamedFault(fields: readonly Field[]): string | null {
  const named = new Map(fields);
  for (const [name, value] of Object.entries(constantFields))
    if (named.get(name) !== value) return `${name} is not as in our form`;
  // The same message with the currency under another name is not about another currency.
  const currency = named.get('currency') ?? '';
  const isRenamed = currency !== dirham && fields.some(([, value]) => value === dirham);
  if (isRenamed || !/^\d{3}$/.test(currency)) return 'currency is not as in our form';
  const names = fields.map(([name]) => name);
  const after = names.indexOf('TransId') + 1;
  // An attempt that reached no bank may have no such name.
  if (after > 0 && names[after] !== 'trantype') return 'a field is between TransId and trantype';
  return null;
}

function fieldsOf(body: string): Field[] | string {
  if (body.length > messageCharactersMax) return 'it is longer than any message';
  const parts = bytesOf(body).split('&', fieldsMax + 1);
  if (parts.length > fieldsMax) return `it has more than ${fieldsMax} fields`;
  const fields = new Map<string, string>();
  let ampersands = 0;
  for (const part of parts.filter((text) => text !== '')) {
    const [name, value] = fieldOf(part);
    if (name.length > nameBytesMax) return 'the name of a field is too long';
    if (value.length > valueBytesMax) return 'the value of a field is too long';
    if (fields.has(name)) return 'a field is there more than once';
    fields.set(name, value);
    ampersands += value.split('&').length - 1;
  }
  return ampersands > ampersandsMax ? 'the values have too many ampersands' : [...fields];
}

function fieldOf(part: string): Field {
  const at = part.indexOf('=');
  return at < 0 ? [unescaped(part), ''] : [unescaped(part.slice(0, at)), unescaped(part.slice(at + 1))];
}

/** The bytes that a form's text stands for. A percent sign without two digits stays. */
function unescaped(text: string): string {
  if (!/[%+]/.test(text)) return text;
  const bytes = Buffer.allocUnsafe(text.length);
  let used = 0;
  for (let i = 0; i < text.length; i++) {
    const byte = text.charCodeAt(i);
    const escaped = byte === percent ? pairAt(text, i + 1) : notHexadecimal;
    if (escaped < notHexadecimal) i += 2;
    bytes[used++] = escaped < notHexadecimal ? escaped : byte === plus ? space : byte;
  }
  return bytes.toString('latin1', 0, used);
}

const [space, percent, plus] = [0x20, 0x25, 0x2b];
const notHexadecimal = 256;
/** The value of each byte as a hexadecimal digit. */
const hexadecimal = Uint16Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(character) ? Number.parseInt(character, 16) : notHexadecimal;
});

function digitAt(text: string, at: number): number {
  return hexadecimal[text.charCodeAt(at)] ?? notHexadecimal;
}

/** The byte that two hexadecimal digits stand for; `notHexadecimal` or more when they are none. */
function pairAt(text: string, at: number): number {
  return digitAt(text, at) * 16 + digitAt(text, at + 1);
}

function withValues(fields: readonly Field[], change: (value: string) => string): Field[] {
  return fields.map(([name, value]) => [name, change(value)]);
}

const require = createRequire(import.meta.url);
/** It makes the tables of all names when it is loaded, which only services with CMI need. */
const htmlEntities = lazily((): typeof HtmlEntities => require('html-entities'));
const entities = /&(?:#\d{1,9}|#[xX][0-9a-fA-F]{1,8}|[0-9a-zA-Z]{1,10});/g;

function decodedValue(value: string): string {
  const whole = value.endsWith('\n') ? value.slice(0, -1) : value;
  return whole.replace(entities, (entity) =>
    bytesOf(htmlEntities().decodeEntity(entity, { level: 'html4' })),
  );
}

/** Without spaces at its ends. A pattern would take time that grows with their square. */
function trimmedValue(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isSpace(value.charCodeAt(start))) start++;
  while (end > start && isSpace(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function attemptOf(fields: ReadonlyMap<string, string>): CmiAttempt | string {
  const field = (name: string) => fields.get(name) ?? '';
  const order = field('oid');
  if (!/^[\w-]{1,64}$/.test(order)) return 'it names no order that could be ours';
  // Without a code the customer did not pass the bank's challenge: no bank was asked.
  const returnCode = field('ProcReturnCode');
  const isAuthorized = returnCode === '00';
  if (isAuthorized !== /^approved$/i.test(field('Response')))
    return 'its return code and its response disagree';
  return {
    clientId: field('clientid'),
    order,
    // As our form has it, with two decimals: a number without them may be another field's.
    centimes: /\.\d\d$/.test(field('amount')) ? centimesOf(field('amount')) : null,
    currency: field('currency'),
    transaction: field('TransId'),
    decline: isAuthorized ? null : declineCodeOf(returnCode),
    card: cardOf(field),
  };
}

/** The card without the end of its validity, unless CMI tells all of that. */
function cardOf(field: (name: string) => string): CardDetails | null {
  const [last4] = /\d{4}$/.exec(field('maskedCreditCard') || field('MaskedPan')) ?? [];
  const brand = field('EXTRA.CARDBRAND') || field('EXTRA_CARDBRAND');
  if (last4 === undefined || !/^\w{1,20}$/.test(brand)) return null;
  const month = Number(field('Ecom_Payment_Card_ExpDate_Month'));
  const year = Number(field('Ecom_Payment_Card_ExpDate_Year'));
  const isWhole = month >= 1 && month <= 12 && year >= 1 && year <= 99;
  return {
    brand: brand.toLowerCase(),
    last4,
    exp_month: isWhole ? month : null,
    exp_year: isWhole ? 2000 + year : null,
  };
}

/**
 * Why CMI refused a card: its `ProcReturnCode` is the answer of the card's bank (ISO 8583, field
 * 39), or 99 for an error of the gateway. docs/networks/cmi.md has the table with its sources.
 */
const codes: Readonly<Record<DeclineCode, readonly string[]>> = {
  generic_decline: [],
  insufficient_funds: ['51'],
  lost_card: ['41'],
  stolen_card: ['43'],
  expired_card: ['33', '54'],
  incorrect_cvc: ['82', 'N7'],
  processing_error: ['06', '09', '13', '30', '76', '91', '92', '95', '96', '98', '99'],
  do_not_honor: ['01', '02', '04', '05', '07', '61', '65'],
  transaction_not_allowed: ['03', '12', '36', '52', '53', '56', '57', '58', '62'],
};

const byReturnCode = new Map(
  namesOf(codes).flatMap((decline) => codes[decline].map((code) => [code, decline] as const)),
);

/** A code that is not in the table is a refusal without a precise reason. */
export function declineCodeOf(procReturnCode: string): DeclineCode {
  return byReturnCode.get(procReturnCode) ?? 'generic_decline';
}
