// What the columns of networks' statements are called, and what the words in them mean. A file with
// other names is read with `--columns` and `--types`.

import type { ConnectorName } from '../../networks/connectors.ts';

/** What a line is about. Lines of kind `fee` move no payment, and are counted only. */
export const lineKinds = ['payment', 'refund', 'chargeback', 'fee'] as const;
export type LineKind = (typeof lineKinds)[number];

export const columns = ['order', 'amount', 'type', 'reference', 'date', 'currency'] as const;
export type Column = (typeof columns)[number];

export interface StatementFormat {
  /** Whether amounts are decimal dirhams or whole centimes. */
  readonly amounts: 'dirhams' | 'centimes';
  /** The headings of each column, as `plainWord` gives them; the first in the file counts. */
  readonly headings: Readonly<Record<Column, readonly string[]>>;
}

const words = (list: string) => list.split(', ');

export const statementFormats: Readonly<Record<ConnectorName, StatementFormat>> = {
  cmi: {
    amounts: 'dirhams',
    headings: {
      order: words(
        'oid, order, order id, orderid, order number, commande, id commande, n commande, no commande, ' +
          'numero commande, numero de commande, reference commande',
      ),
      amount: words(
        'amount, gross amount, transaction amount, montant, montant brut, montant transaction, ' +
          'montant de la transaction',
      ),
      type: words(
        'type, transaction type, type transaction, type de transaction, type operation, ' +
          'type d operation, operation, nature',
      ),
      reference: words(
        'transid, trans id, transaction id, id transaction, n transaction, no transaction, ' +
          'numero transaction, numero de transaction, reference transaction, reference',
      ),
      date: words(
        'date, transaction date, date transaction, date de transaction, date operation, ' +
          'date d operation, date de l operation, date de paiement',
      ),
      currency: words('currency, devise, monnaie'),
    },
  },
  http: {
    amounts: 'centimes',
    headings: {
      order: words('code, charge'),
      amount: words('amount, montant'),
      type: words('type'),
      reference: words('reference'),
      date: words('paid at, date'),
      currency: words('currency, devise'),
    },
  },
};

const wordsOfKinds: Readonly<Record<LineKind, readonly string[]>> = {
  payment: words('payment, paid, sale, purchase, capture, paiement, achat, vente'),
  refund: words('refund, credit, remboursement, avoir'),
  chargeback: words('chargeback, dispute, impaye, contestation, litige'),
  fee: words('fee, fees, commission, commissions, frais'),
};

/** The kind of line that a word means, in the form that `plainWord` gives it. */
export function kindOfWord(word: string): LineKind | null {
  return lineKinds.find((kind) => wordsOfKinds[kind].includes(word)) ?? null;
}

/** A word as it is compared: lower case, no accents, a space for all but letters and digits. */
export function plainWord(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
