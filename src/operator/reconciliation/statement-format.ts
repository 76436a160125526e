// The statements of payment networks as CSV files: which columns each network's has, what they are called, and what the words
// in them mean. A file that uses other names is read with `--columns` and `--types`.

import type { ConnectorName } from '../../networks/connectors.ts';

/** What a line is about. Lines of kind `fee` move no payment, and are counted only. */
export const lineKinds = ['payment', 'refund', 'chargeback', 'fee'] as const;
export type LineKind = (typeof lineKinds)[number];

export const columns = ['order', 'amount', 'type', 'reference', 'date', 'currency'] as const;
export type Column = (typeof columns)[number];

export interface StatementFormat {
  /** Whether amounts are decimal dirhams or whole centimes. */
  readonly amounts: 'dirhams' | 'centimes';
  /** The headings of each column, in the form that `plainWord` gives them; the first one that the file has counts. */
  readonly headings: Readonly<Record<Column, readonly string[]>>;
}

export const statementFormats = {
  cmi: {
    amounts: 'dirhams',
    headings: {
      order: [
        'oid',
        'order',
        'order id',
        'orderid',
        'order number',
        'commande',
        'id commande',
        'n commande',
        'no commande',
        'numero commande',
        'numero de commande',
        'reference commande',
      ],
      amount: [
        'amount',
        'gross amount',
        'transaction amount',
        'montant',
        'montant brut',
        'montant transaction',
        'montant de la transaction',
      ],
      type: [
        'type',
        'transaction type',
        'type transaction',
        'type de transaction',
        'type operation',
        'type d operation',
        'operation',
        'nature',
      ],
      reference: [
        'transid',
        'trans id',
        'transaction id',
        'id transaction',
        'n transaction',
        'no transaction',
        'numero transaction',
        'numero de transaction',
        'reference transaction',
        'reference',
      ],
      date: [
        'date',
        'transaction date',
        'date transaction',
        'date de transaction',
        'date operation',
        'date d operation',
        'date de l operation',
        'date de paiement',
      ],
      currency: ['currency', 'devise', 'monnaie'],
    },
  },
  http: {
    amounts: 'centimes',
    headings: {
      order: ['code', 'charge'],
      amount: ['amount', 'montant'],
      type: ['type'],
      reference: ['reference'],
      date: ['paid at', 'date'],
      currency: ['currency', 'devise'],
    },
  },
} as const satisfies Record<ConnectorName, StatementFormat>;

/** The words for each kind of line, in the form that `plainWord` gives them. */
export const kindOfWord: ReadonlyMap<string, LineKind> = new Map([
  ...['payment', 'paid', 'sale', 'purchase', 'capture', 'paiement', 'achat', 'vente'].map(
    (word) => [word, 'payment'] as const,
  ),
  ...['refund', 'credit', 'remboursement', 'avoir'].map((word) => [word, 'refund'] as const),
  ...['chargeback', 'dispute', 'impaye', 'contestation', 'litige'].map(
    (word) => [word, 'chargeback'] as const,
  ),
  ...['fee', 'fees', 'commission', 'commissions', 'frais'].map((word) => [word, 'fee'] as const),
]);

/** A word of a file as it is compared: in lower case, without accents, with one space for whatever is no letter or digit. */
export function plainWord(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
