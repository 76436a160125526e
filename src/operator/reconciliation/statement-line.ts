// A line of a network's statement, read strictly: what can't be read with certainty is a bad line.
// A file with other headings or words than here is read with `--columns` and `--types`.

import { findCardNumber } from '../../core/card-number.ts';
import { parseAmount } from '../../core/money.ts';
import { moroccoDayAt, moroccoDayBounds } from '../../core/morocco-day.ts';
import type { ConnectorName } from '../../networks/connectors.ts';

export interface StatementLine {
  /** The line of the file, the first one being 1. */
  readonly line: number;
  readonly kind: LineKind;
  /** What the network calls the payment: the id of its charge, or its cash code. */
  readonly order: string;
  /** Centimes, of refunds and chargebacks, too. */
  readonly amount: number;
  /** The network's name for this movement; null when the statement has none. */
  readonly reference: string | null;
  /** The day in Morocco, `YYYY-MM-DD`; null when the statement has no date. */
  readonly day: string | null;
}

/** What can't be read, in a sentence without its line. */
export interface Unreadable {
  readonly problem: string;
}

/** Where each column is (-1: nowhere), how amounts are written, and more words for kinds. */
export interface LineForm extends Pick<StatementFormat, 'amounts'> {
  readonly places: (column: Column) => number;
  readonly kinds: ReadonlyMap<string, LineKind>;
}

const textCharactersMax = 255;

export function readLine(form: LineForm, line: number, cells: readonly string[]): StatementLine | Unreadable {
  const cell = (column: Column) => cells[form.places(column)]?.trim() ?? '';
  const amount = readAmount(cell('amount'), form.amounts);
  const kind = kindOf(form, cell('type'), amount);
  if (kind === null)
    return { problem: `the type ${quoted(cell('type'))} is not known: say what it means with --types` };
  if (kind === 'fee') return { line, kind, order: '', amount: 0, reference: null, day: null };
  if (amount === null) return { problem: `the amount ${quoted(cell('amount'))} is none in ${form.amounts}` };
  if (amount < 0 && kind === 'payment')
    return { problem: `a payment has the negative amount ${quoted(cell('amount'))}` };
  const currency = cell('currency').toLowerCase();
  if (!['', 'mad', 'dh', 'dhs', '504'].includes(currency))
    return { problem: `the currency ${quoted(cell('currency'))} is not MAD` };
  const order = orderOf(cell('order'));
  if (order === '') return { problem: 'it names no order' };
  const reference = withoutCardNumber(cell('reference'));
  if (Math.max(order.length, reference.length) > textCharactersMax)
    return { problem: `its order or reference is longer than ${textCharactersMax} characters` };
  if (/\p{Cc}/u.test(order + reference)) return { problem: 'its order or reference has control characters' };
  const day = readDay(cell('date'));
  if (day === null && cell('date') !== '')
    return { problem: `the date ${quoted(cell('date'))} is none, such as 31/12/2026 or 2026-12-31` };
  return { line, kind, order, amount: Math.abs(amount), reference: reference === '' ? null : reference, day };
}

/** Without a word for it, a line that takes money away is a refund. */
function kindOf({ kinds }: LineForm, type: string, amount: number | null): LineKind | null {
  if (type === '') return amount !== null && amount < 0 ? 'refund' : 'payment';
  const word = plainWord(type);
  return kinds.get(word) ?? kindOfWord(word);
}

function readAmount(text: string, amounts: LineForm['amounts']): number | null {
  const [, sign, digits = ''] = /^([-−+]?)\s*(.*)$/.exec(text) ?? [];
  const amount =
    amounts === 'dirhams' ? parseAmount(digits) : /^\d{1,15}$/.test(digits) ? Number(digits) : null;
  if (amount === null) return null;
  return sign === '-' || sign === '−' ? -amount : amount;
}

/** References are stored with reviews. Of a card number in their place only the end is kept. */
function withoutCardNumber(text: string): string {
  return findCardNumber(text) ? `…${text.slice(-4)}` : text;
}

/** Cash codes are often written in groups. */
function orderOf(text: string): string {
  return /^[\d \u00a0-]+$/.test(text) ? text.replace(/\D/g, '') : text;
}

const dayFirst = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:[ T,]+\d{1,2}[:h]\d\d(?:[:]\d\d)?)?$/;
const yearFirst = /^(\d{4})[/.-]?(\d\d)[/.-]?(\d\d)(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/;
const withZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
const unixSeconds = /^\d{10}$/;

/** The day in Morocco of a date; without a zone, that is its own. */
export function readDay(text: string): string | null {
  if (unixSeconds.test(text)) return moroccoDayAt(Number(text) * 1000);
  if (withZone.test(text)) {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? null : moroccoDayAt(ms);
  }
  const [, ownDay = '', ownMonth = '', ownYear = ''] = dayFirst.exec(text) ?? [];
  const [, year = ownYear, month = ownMonth, day = ownDay] = yearFirst.exec(text) ?? [];
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return moroccoDayBounds(date) === null ? null : date;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

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
function kindOfWord(word: string): LineKind | null {
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
