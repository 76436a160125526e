// The form that starts a payment on CMI's page. The customer's browser posts it, so the hash is
// what keeps its values as they are. Because the hash does not cover the names, no value may be a
// text of the customer's that could pass for an amount.

import { randomUUID } from 'node:crypto';
import type { HostedPayment } from '../network.ts';
import { dirham, dirhamsOf } from './dirhams.ts';
import { bytesOf, hashOf } from './hash.ts';

/** Fields that are the same in every form. CMI reports them as they are here. */
export const constantFields = {
  storetype: '3D_PAY_HOSTING',
  trantype: 'PreAuth',
  hashAlgorithm: 'ver3',
} as const;

/** How long CMI's page can be open. */
const pageSecondsMin = 30;
const pageSecondsMax = 2_700;

/** What a text about the customer may have in characters. */
const charactersMax = 255;

export function formFields(
  { charge, amount, language, customer, expiresAtMs, paidUrl, unpaidUrl, callbackUrl }: HostedPayment,
  { clientId, storeKey }: { readonly clientId: string; readonly storeKey: string },
  nowMs: number,
): [name: string, value: string][] {
  // The page ends with the charge.
  const leftSeconds = Math.floor((expiresAtMs - nowMs) / 1000);
  const timeout = Math.min(pageSecondsMax, Math.max(pageSecondsMin, leftSeconds));
  const fields: [string, string][] = [
    ['clientid', clientId],
    ...Object.entries(constantFields),
    ['amount', dirhamsOf(amount)],
    ['currency', dirham],
    ['oid', charge],
    ['okUrl', paidUrl],
    ['failUrl', unpaidUrl],
    ['shopurl', unpaidUrl],
    ['callbackUrl', callbackUrl],
    ['lang', language],
    ['rnd', randomUUID()],
    ['sessiontimeout', String(timeout)],
    ['encoding', 'UTF-8'],
    ...fieldAbout('BillToName', customer.name, /^\p{L}/u),
    ...fieldAbout('email', customer.email, /^[^@]+@[^@]+$/),
  ];
  const bytes = fields.map(([name, value]) => [name, bytesOf(value)] as const);
  return [...fields, ['HASH', hashOf(bytes, storeKey).toString('base64')]];
}

/** A text about the customer that can't pass for something else, trimmed as CMI's clients do. */
function fieldAbout(name: string, text: string | null, pattern: RegExp): [string, string][] {
  const value = (text ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, charactersMax)
    .trim()
    .toWellFormed();
  return pattern.test(value) ? [[name, value]] : [];
}
