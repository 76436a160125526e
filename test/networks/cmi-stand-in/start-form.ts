// The form that a customer's browser posts to `/fim/est3Dgate`, checked strictly: what CMI's page might take or not is refused.

import { type Fields, hashOf } from './hash.ts';
import { centimesOf } from './money.ts';

interface Start {
  readonly oid: string;
  /** Centimes. */
  readonly amount: number;
  readonly fields: Fields;
}

const fixed: Readonly<Record<string, string>> = {
  storetype: '3D_PAY_HOSTING',
  trantype: 'PreAuth',
  currency: '504',
  hashAlgorithm: 'ver3',
  encoding: 'UTF-8',
};
const addresses = ['okUrl', 'failUrl', 'callbackUrl', 'shopurl'];
const needed = ['clientid', 'amount', 'oid', 'lang', 'rnd', 'HASH', ...addresses, ...Object.keys(fixed)];

/** Returns what is wrong with a form that is not taken. */
export function readStart(body: string, clientId: string, storeKey: string): Start | string {
  const pairs = [...new URLSearchParams(body)];
  const fields = new Map(pairs);
  if (fields.size < pairs.length) return 'A field is there twice.';
  const missing = needed.find((name) => !fields.get(name));
  if (missing !== undefined) return `${missing} is missing.`;
  const spaced = pairs.find(([, value]) => value !== value.trim());
  if (spaced !== undefined) return `${spaced[0]} has spaces around it.`;
  if (fields.get('clientid') !== clientId) return 'There is no such clientid.';
  const wrong = Object.keys(fixed).find((name) => fields.get(name) !== fixed[name]);
  if (wrong !== undefined) return `${wrong} is not ${fixed[wrong]}.`;
  const oid = fields.get('oid')!;
  if (!/^[\w-]{1,64}$/.test(oid)) return 'oid has other letters than it may have.';
  const amount = centimesOf(fields.get('amount')!);
  if (amount === null || amount === 0) return 'amount is not in decimal dirhams.';
  if (!['ar', 'fr', 'en'].includes(fields.get('lang')!)) return 'lang is not ar, fr or en.';
  const timeout = fields.get('sessiontimeout');
  if (timeout !== undefined && !(Number(timeout) >= 30 && Number(timeout) <= 2700))
    return 'sessiontimeout is not 30 to 2700.';
  // The hash is of values in the order of their names: a customer who is called "1.00" could give that to another field.
  const name = fields.get('BillToName');
  if (name !== undefined && !/^\p{L}/u.test(name)) return 'BillToName does not begin with a letter.';
  const odd = addresses.find((name) => !/^https?:\/\/\S+$/.test(fields.get(name)!));
  if (odd !== undefined) return `${odd} is no address.`;
  if (fields.get('HASH') !== hashOf(fields, storeKey)) return 'The HASH does not fit.';
  return { oid, amount, fields };
}
