// What the stand-in knows of each order: the truth that the service's records are compared with. An order is authorized,
// captured or voided, and refunded; what an order does not allow is refused, as the gateway refuses it.

import type { Fields } from './hash.ts';

/** One line of an order's history. */
export interface Transaction {
  /** A sale or a credit. */
  readonly type: 'S' | 'C';
  /** Authorized, captured, voided or refused. */
  status: 'A' | 'C' | 'V' | 'D';
  readonly transId: string;
  /** Centimes. */
  readonly amount: number;
  captured: number;
  readonly authCode: string;
  readonly hostReference: string;
  readonly procReturnCode: string;
  readonly at: Date;
  capturedAt: Date | null;
  voidedAt: Date | null;
}

/** A callback that was sent, and what came back; null for a callback whose answer never came. */
export interface SentCallback {
  readonly transId: string | null;
  readonly status: number | null;
  readonly answer: string | null;
}

export interface Order {
  readonly oid: string;
  /** What the browser posted. */
  fields: Fields;
  /** Centimes. */
  amount: number;
  readonly transactions: Transaction[];
  readonly callbacks: SentCallback[];
}

/** What tests and statements see of an order. Amounts are centimes. */
export interface OrderSums {
  readonly oid: string;
  readonly amount: number;
  /** Held or taken from the card. */
  readonly authorized: number;
  readonly captured: number;
  readonly voided: number;
  readonly refunded: number;
  /** How many refunds were made. */
  readonly refunds: number;
  readonly callbacks: readonly SentCallback[];
}

/** Why an order does not allow something. */
export interface Refused {
  readonly code: string;
  readonly message: string;
}

export class Ledger {
  readonly orders = new Map<string, Order>();
  /** Whether the gateway keeps the `TransId` that comes with a credit, and refuses it the second time. */
  keepsTransId = true;
  /** Whether the day has been closed: before, nothing can be credited. */
  settled = true;
  #count = 0;

  /** The customer's browser brings an order. One that was paid is not taken again; after a refusal another card may be tried. */
  open(oid: string, fields: Fields, amount: number): Order | null {
    const known = this.orders.get(oid);
    if (known === undefined) {
      const order: Order = { oid, fields, amount, transactions: [], callbacks: [] };
      this.orders.set(oid, order);
      return order;
    }
    if (isPaid(known)) return null;
    known.fields = fields;
    known.amount = amount;
    return known;
  }

  authorize(order: Order): Transaction {
    return this.#add(order, { type: 'S', status: 'A', amount: order.amount, procReturnCode: '00' });
  }

  decline(order: Order, procReturnCode: string): Transaction {
    return this.#add(order, { type: 'S', status: 'D', amount: order.amount, procReturnCode });
  }

  /** Takes what is held: `transId`'s, or all of the order's only sale. */
  capture(order: Order, amount: number | null, transId?: string): Refused | Transaction {
    const held = order.transactions.find(
      (each) => isHeld(each) && (transId ?? each.transId) === each.transId,
    );
    if (held === undefined) return refused('CORE-2503', 'No open pre-authorization for this order.');
    if (amount !== null && amount > held.amount)
      return refused('CORE-2505', 'The amount is above what is held.');
    held.status = 'C';
    held.captured = amount ?? held.amount;
    held.capturedAt = new Date();
    return held;
  }

  void(order: Order): Refused | Transaction {
    const sale = order.transactions.findLast((each) => isHeld(each) || isCaptured(each));
    const isRefunded = order.transactions.some(isCredit);
    if (sale === undefined || isRefunded) return refused('CORE-2008', 'Nothing of this order can be voided.');
    sale.status = 'V';
    sale.voidedAt = new Date();
    return sale;
  }

  credit(order: Order, amount: number, transId: string | null): Refused | Transaction {
    const own = this.keepsTransId ? transId : null;
    const isKnown = this.#transactions().some((each) => each.transId === own && isCredit(each));
    if (isKnown) return refused('CORE-2010', 'This TransId exists already.');
    const refusal = this.#creditRefused(order, amount);
    const credit = { type: 'C', amount, transId: own } as const;
    if (refusal === null) return this.#add(order, { ...credit, status: 'C', procReturnCode: '00' });
    this.#add(order, { ...credit, status: 'D', procReturnCode: '99' });
    return refusal;
  }

  #creditRefused(order: Order, amount: number): Refused | null {
    const { captured, refunded } = sumsOf(order);
    if (captured === 0) return refused('CORE-2507', 'Nothing of this order was captured.');
    if (!this.settled) return refused('CORE-2508', 'The order is not settled yet.');
    if (refunded + amount > captured) return refused('CORE-2509', 'The amount is above what was captured.');
    return null;
  }

  #transactions(): Transaction[] {
    return [...this.orders.values()].flatMap(({ transactions }) => transactions);
  }

  #add(
    order: Order,
    given: Pick<Transaction, 'type' | 'status' | 'amount' | 'procReturnCode'> & { transId?: string | null },
  ): Transaction {
    const number = String(++this.#count).padStart(5, '0');
    const isDone = given.procReturnCode === '00';
    const isTaken = given.status === 'C';
    const transaction: Transaction = {
      ...given,
      transId: given.transId ?? `26326StDn${number}`,
      captured: isTaken ? given.amount : 0,
      authCode: isDone ? `P${number}` : '',
      hostReference: isDone ? `6326007${number}` : '',
      at: new Date(),
      capturedAt: isTaken ? new Date() : null,
      voidedAt: null,
    };
    order.transactions.push(transaction);
    return transaction;
  }
}

export function isRefused(answer: Refused | Transaction): answer is Refused {
  return 'message' in answer;
}

export const isPaid = ({ transactions }: Order) =>
  transactions.some(({ procReturnCode }) => procReturnCode === '00');
const refused = (code: string, message: string): Refused => ({ code, message });
const isHeld = ({ type, status }: Transaction) => type === 'S' && status === 'A';
const isCaptured = ({ type, status }: Transaction) => type === 'S' && status === 'C';
const isCredit = ({ type, status }: Transaction) => type === 'C' && status === 'C';
const total = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

export function sumsOf({ oid, amount, transactions, callbacks }: Order): OrderSums {
  const voided = transactions.filter(({ type, status }) => type === 'S' && status === 'V');
  const credits = transactions.filter(isCredit);
  const held = transactions.filter((each) => isHeld(each) || isCaptured(each));
  return {
    oid,
    amount,
    authorized: total(held.map((each) => each.amount)),
    captured: total(transactions.filter(isCaptured).map(({ captured }) => captured)),
    voided: total(voided.map((each) => each.amount)),
    refunded: total(credits.map((each) => each.amount)),
    refunds: credits.length,
    callbacks,
  };
}
