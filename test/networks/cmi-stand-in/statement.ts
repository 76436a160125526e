// What the gateway settled, as the statement that `payments reconcile` reads: a line for each capture and each refund.

import type { Ledger, Transaction } from './ledger.ts';
import { decimalOf } from './money.ts';

export function statementOf(ledger: Ledger): string {
  const lines = [...ledger.orders.values()].flatMap(({ oid, transactions }) =>
    transactions.filter(({ status }) => status === 'C').map((each) => lineOf(oid, each)),
  );
  return ['order,type,amount,reference,date', ...lines, ''].join('\n');
}

function lineOf(oid: string, { type, captured, transId, at, capturedAt }: Transaction): string {
  const date = (capturedAt ?? at).toISOString();
  return [oid, type === 'S' ? 'payment' : 'refund', decimalOf(captured), transId, date].join(',');
}
