// The post from server to server that tells the merchant of a payment, and what it becomes when the stand-in misbehaves.

import { maskedCard } from './api.ts';
import { type Fields, hashOf } from './hash.ts';
import type { Order, SentCallback, Transaction } from './ledger.ts';
import { centimesOf, decimalOf } from './money.ts';

/** How the message itself is changed. The first three are signed as if they were true. */
export const changes = [
  'another_amount',
  'another_currency',
  'another_order',
  'forged',
  'another_store_key',
  'without_hash',
] as const;
export type Change = (typeof changes)[number];

/** The fields of a genuine callback: those of the form, and what became of the payment. */
export function callbackFields({ oid, fields }: Order, transaction: Transaction): Map<string, string> {
  const { procReturnCode } = transaction;
  const isAccepted = procReturnCode === '00';
  const told = new Map([...fields].filter(([name]) => name !== 'HASH'));
  const added: Readonly<Record<string, string>> = {
    ReturnOid: oid,
    amount: decimalOf(transaction.amount),
    TransId: transaction.transId,
    AuthCode: transaction.authCode,
    HostRefNum: transaction.hostReference,
    ...(procReturnCode !== '' && { ProcReturnCode: procReturnCode }),
    Response: isAccepted ? 'Approved' : 'Declined',
    mdStatus: procReturnCode === '' ? '0' : '1',
    ErrMsg: isAccepted ? '' : 'Transaction refusée | solde\n',
    maskedCreditCard: maskedCard,
    MaskedPan: '435508***4358',
    'EXTRA.CARDBRAND': 'VISA',
    'EXTRA.CARDHOLDERNAME': 'Zoé & Fils | l\'atelier \\ "Fès"',
    'EXTRA.TRXDATE': transaction.at.toISOString().slice(0, 19).replace('T', ' '),
    clientIp: '192.0.2.1',
    callbackCall: 'true',
  };
  for (const [name, value] of Object.entries(added)) told.set(name, value);
  return told;
}

/** The body of a callback. The hash is made before entities are written and lines end, as in CMI's own sample. */
export function callbackBody(fields: Fields, storeKey: string, change: Change | null): string {
  const told = new Map(fields);
  if (change === 'another_amount') told.set('amount', decimalOf(centimesOf(told.get('amount')!)! + 100));
  if (change === 'another_currency') told.set('currency', '978');
  if (change === 'another_order') told.set('oid', `${told.get('oid')!.slice(0, -4)}0000`);
  const hashed = new Map([...told].map(([name, value]) => [name, value.replace(/\n$/, '')]));
  const hash = hashOf(hashed, change === 'another_store_key' ? `${storeKey}x` : storeKey);
  if (change !== 'without_hash') told.set('HASH', hash);
  if (change === 'forged') told.set('amount', '1.00');
  told.set('EXTRA.CARDHOLDERNAME', withEntities(told.get('EXTRA.CARDHOLDERNAME')!));
  return new URLSearchParams([...told]).toString();
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  "'": '&#039;',
  '"': '&quot;',
  é: '&eacute;',
};

function withEntities(text: string): string {
  return [...text].map((letter) => entities[letter] ?? letter).join('');
}

/** Longer than the service may take. */
const answerMsMax = 30_000;

/** Sends a callback and waits for its answer. */
export async function send(body: string, fields: Fields): Promise<SentCallback> {
  const transId = fields.get('TransId') ?? null;
  try {
    const response = await fetch(fields.get('callbackUrl')!, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8' },
      body,
      signal: AbortSignal.timeout(answerMsMax),
    });
    return { transId, status: response.status, answer: (await response.text()).trim() };
  } catch {
    return { transId, status: null, answer: null };
  }
}
