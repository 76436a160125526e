// What CMI posts after each attempt to pay on its page: a form with the fields that the payment was started with, the outcome,
// and the hash. Only one that is signed is read any further. CMI's own sample hashes a value without a line break at its
// end and with its HTML entities decoded; other clients also trim it, or take it as it is posted. All three are accepted: each
// is a text that only the holder of the store key can sign.

import { parse } from 'node:querystring';
import { decode } from 'html-entities';
import type { DeclineCode } from '../../contract/vocabulary.ts';
import type { CardDetails } from '../../domain/record.ts';
import { declineCodeOf } from './decline-codes.ts';
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

/** Fields that a message has. CMI's have about 60. */
const fieldsMax = 200;

/** The attempt that a genuine callback reports; otherwise what is wrong with it, in words for an operator. */
export function readAttempt(body: string, storeKey: string): CmiAttempt | string {
  const posted = fieldsOf(body);
  if (typeof posted === 'string') return posted;
  const hash = posted.find(([name]) => /^hash$/i.test(name))?.[1] ?? '';
  const decoded = withValues(posted, decodedValue);
  const isRight = (fields: readonly Field[]) => isSigned(fields, hash, storeKey);
  const fields = isRight(decoded) ? decoded : [withValues(decoded, trimmedValue), posted].find(isRight);
  if (fields === undefined) return 'the hash is not that of the fields: is the store key the right one?';
  return renamedFault(fields) ?? attemptOf(new Map(fields));
}

/**
 * What shows that a customer has given signed values other names; null when nothing does. The order of the names has to stay, so
 * the fields of our form, found with their values, keep those beside them in their places.
 */
function renamedFault(fields: readonly Field[]): string | null {
  const named = new Map(fields);
  for (const [name, value] of Object.entries(constantFields))
    if (named.get(name) !== value) return `${name} is not as in our form`;
  // The same message with the currency under another name is not about another currency.
  const currency = named.get('currency') ?? '';
  const isRenamed = currency !== dirham && fields.some(([, value]) => value === dirham);
  if (isRenamed || !/^\d{3}$/.test(currency)) return 'currency is not as in our form';
  const names = signedFields(fields).map(([name]) => name);
  const after = names.indexOf('TransId') + 1;
  // An attempt that reached no bank may have no such name.
  if (after > 0 && names[after] !== 'trantype') return 'a field is between TransId and trantype';
  return null;
}

function fieldsOf(body: string): Field[] | string {
  const posted = parse(bytesOf(body), '&', '=', {
    maxKeys: fieldsMax + 1,
    decodeURIComponent: (text) =>
      text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16)),
      ),
  });
  const fields = Object.entries(posted);
  if (fields.length > fieldsMax) return `it has more than ${fieldsMax} fields`;
  const repeated = fields.find(([, value]) => typeof value !== 'string');
  return repeated === undefined ? (fields as [string, string][]) : 'a field is there more than once';
}

function withValues(fields: readonly Field[], change: (value: string) => string): Field[] {
  return fields.map(([name, value]) => [name, change(value)]);
}

function decodedValue(value: string): string {
  return value
    .replace(/\n$/, '')
    .replace(/&#?\w{1,10};/g, (entity) => bytesOf(decode(entity, { level: 'html4', scope: 'strict' })));
}

/** Without spaces at its ends. A pattern for those at the end would take time that grows with the square of their number. */
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
  // There is no code when the customer did not pass the bank's challenge, so that no bank was asked.
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
