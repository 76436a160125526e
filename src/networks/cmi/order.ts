// What CMI knows of an order: its status tells the latest transaction, its history all of them. An
// answer that makes no sense is an error. A refund is found by our name for it; one under another
// name may be ours too, if CMI has not kept ours.

import { hasName } from '../../core/tables.ts';
import { centimesInHistory } from './dirhams.ts';
import type { CmiResponse } from './messages.ts';

const states = {
  A: 'held',
  C: 'taken',
  S: 'taken',
  PN: 'pending',
  V: 'voided',
  CNCL: 'voided',
  D: 'declined',
  ERR: 'declined',
} as const;

/** `held`: the card's bank holds the money. `taken`: it was captured, or is settled. */
export type TransactionState = (typeof states)[keyof typeof states];

export interface Transaction {
  readonly kind: 'sale' | 'refund';
  readonly state: TransactionState;
  /** What was taken, which may be a part; before that, what is held or asked for. */
  readonly centimes: number;
  /** CMI's name for it; of a refund, ours. */
  readonly name: string;
}

/** The latest transaction of an order; null when CMI does not know the order. */
export function latestOf({ isDone, extra, fault, message }: CmiResponse): Transaction | null {
  if (!isDone) {
    // The summary of an order that is not there has all its names, and no value.
    if (/^ORD_ID:(\t|$)/.test(extra('ORDERSTATUS')) || /^No record found/.test(message)) return null;
    throw new Error(`the network did not tell the status of the order (${fault})`);
  }
  return transactionOf(
    extra('CHARGE_TYPE_CD'),
    extra('TRANS_STAT'),
    extra('ORIG_TRANS_AMT'),
    extra('CAPTURE_AMT'),
    extra('TRANS_ID'),
  );
}

/** What CMI's names for transactions look like, and those that we give. */
export const transactionName = /^[\w-]{1,64}$/;

const historyMax = 1_000;

/** The transactions of an order, newest first; none when CMI does not know the order. */
export function historyOf({ isDone, extra, fault }: CmiResponse): Transaction[] {
  const count = extra('TRXCOUNT');
  if (count === '0') return [];
  if (!isDone) throw new Error(`the network did not tell the order's history (${fault})`);
  if (!/^\d{1,4}$/.test(count) || Number(count) > historyMax) throw new Error('the history has no count');
  return Array.from({ length: Number(count) }, (_, at) => {
    const line = extra(`TRX${at + 1}`).split('\t');
    const [kind = '', state = '', amount = '', captured = '', , , , , , , name = ''] = line;
    return transactionOf(kind, state, amount, captured, name);
  });
}

function transactionOf(
  kind: string,
  status: string,
  amount: string,
  captured: string,
  name: string,
): Transaction {
  const state = hasName(states, status) ? states[status] : null;
  const centimes = centimesInHistory(state === 'taken' && captured !== '' ? captured : amount);
  if (!/^[SC]$/.test(kind) || state === null || centimes === null)
    throw new Error('the network tells of a transaction that makes no sense');
  return { kind: kind === 'S' ? 'sale' : 'refund', state, centimes, name };
}

/** Whether there is no money of it: then an older payment of the order may count. */
export function isWithoutMoney({ state }: Transaction): boolean {
  return state === 'declined' || state === 'voided';
}

/** The sale that counts: the newest one with money; else one that was voided; else the newest. */
export function saleOf(history: readonly Transaction[]): Transaction | null {
  const sales = history.filter(({ kind }) => kind === 'sale');
  const voided = sales.find(({ state }) => state === 'voided');
  return sales.find((sale) => !isWithoutMoney(sale)) ?? voided ?? sales[0] ?? null;
}

export type RefundFound = 'made' | 'pending' | 'voided' | 'not_there' | 'cannot_tell';

/** What became of a refund. `isOurs`: whether a transaction's name is one that we gave. */
export function refundIn(
  history: readonly Transaction[],
  name: string,
  centimes: number,
  isOurs: (name: string) => boolean,
): RefundFound {
  const refunds = history.filter(({ kind, state }) => kind === 'refund' && state !== 'declined');
  const found = refunds.find((refund) => refund.name === name);
  if (found !== undefined) {
    if (found.centimes !== centimes) return 'cannot_tell';
    if (found.state === 'voided' || found.state === 'pending') return found.state;
    return 'made';
  }
  const mayBeIt = refunds.some((refund) => refund.centimes === centimes && !isOurs(refund.name));
  return mayBeIt ? 'cannot_tell' : 'not_there';
}
