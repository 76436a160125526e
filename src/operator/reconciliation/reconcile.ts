// Reconciles a network's statement with our payments, in a memory that does not grow with the statement. The lines are sorted by
// their order on the disk, and compared order by order with the charges that the service is asked for. What was settled in the
// period is sorted by charge together with the charges that the statement names, which tells what the statement lacks.

import { moroccoDayBounds } from '../../core/morocco-day.ts';
import type { NamedCharge, Settled } from '../../domain/settled.ts';
import { OperatorFailure } from '../socket/protocol.ts';
import {
  compareOrder,
  type Difference,
  type DifferenceKind,
  nothing,
  type Period,
  type Told,
  type UnknownMoney,
} from './compare-order.ts';
import { ExternalSort } from './external-sort.ts';
import { linesOfStatement, type StatementFile, startOfStatement } from './read-statement.ts';
import type { StatementLine } from './statement-line.ts';

/** Our side, as the service has it. */
export interface Books {
  /** The charge that each name belongs to. */
  charges(names: readonly string[]): Promise<readonly (NamedCharge | null)[]>;
  /** Hands over what was settled in a period, some at a time, with how many of how many that makes. */
  settled(
    period: Period,
    take: (found: readonly Settled[], done: number, total: number) => Promise<void>,
  ): Promise<void>;
  /** Opens a review, unless the money is known already, or the charge has had as many reports as it can. */
  openReview(money: UnknownMoney): Promise<{ readonly id: string | null; readonly known: boolean }>;
}

export interface ReconcileOptions {
  readonly file: StatementFile;
  readonly books: Books;
  /** Null: from the first to the last day in the file. */
  readonly period: Period | null;
  readonly opensReviews: boolean;
  /** A folder with room for about twice the file. */
  readonly scratch: string;
  readonly onDifference: (difference: Difference) => void;
  /** What it does, and `done` of `total`. */
  readonly onProgress: (what: string, done: number, total: number) => void;
}

/** Lines and their centimes. */
interface Sum {
  readonly lines: number;
  readonly amount: number;
}

export interface Reconciled extends Period {
  readonly lines: number;
  /** Lines that are here as in the statement. */
  readonly payments: Sum;
  readonly refunds: Sum;
  /** Lines whose money is in a review already. */
  readonly in_reviews: number;
  readonly fees: number;
  readonly differences: Readonly<Partial<Record<DifferenceKind, number>>>;
  readonly reviews_opened: number;
}

const daysMax = 366;
const dayMs = 86_400_000;
const namesAtOnce = 200;
const linesOfOrderMax = 1_000;

/** Throws `OperatorFailure` when the file can't be read or the service can't be asked. */
export async function reconcile(options: ReconcileOptions): Promise<Reconciled> {
  const [orders, charges] = [new ExternalSort(options.scratch), new ExternalSort(options.scratch)];
  try {
    return await new Reconciliation(options, orders, charges).run();
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : new OperatorFailure('failed', message);
  } finally {
    await Promise.all([orders.close(), charges.close()]);
  }
}

class Reconciliation {
  readonly #options: ReconcileOptions;
  /** The statement's lines by order: `order TAB line TAB JSON`. */
  readonly #orders: ExternalSort;
  /** By charge: first `charge TAB` when the statement names it, then `charge TAB JSON` of what was settled of it. */
  readonly #charges: ExternalSort;
  #lines = 0;
  #fees = 0;
  #inReviews = 0;
  #reviewsOpened = 0;
  readonly #matched = { payment: { lines: 0, amount: 0 }, refund: { lines: 0, amount: 0 } };
  readonly #differences: Partial<Record<DifferenceKind, number>> = {};

  constructor(options: ReconcileOptions, orders: ExternalSort, charges: ExternalSort) {
    this.#options = options;
    this.#orders = orders;
    this.#charges = charges;
  }

  async run(): Promise<Reconciled> {
    const period = await this.#readStatement();
    await this.#compareOrders(period);
    await this.#compareSettled(period);
    return {
      ...period,
      lines: this.#lines,
      payments: this.#matched.payment,
      refunds: this.#matched.refund,
      in_reviews: this.#inReviews,
      fees: this.#fees,
      differences: this.#differences,
      reviews_opened: this.#reviewsOpened,
    };
  }

  /** Sorts the lines by order, and returns the period. */
  async #readStatement(): Promise<Period> {
    const { file, period, onProgress } = this.#options;
    const start = await startOfStatement(file);
    const inDoubt = period === null && start.form.places.date < 0;
    if (inDoubt) throw new OperatorFailure('usage', `${file.path} has no dates: ${namePeriod}`);
    let days: Period | null = null;
    const progress = (bytes: number) => onProgress('Reading the statement', bytes, start.bytes);
    for await (const batch of linesOfStatement(file.path, start, progress)) {
      const rows: string[] = [];
      this.#lines += batch.length;
      for (const line of batch) {
        if ('problem' in line)
          this.#tell({ kind: 'bad_line', ...nothing, line: line.line, problem: line.problem });
        else if (line.kind === 'fee') this.#fees++;
        else {
          rows.push(`${line.order}\t${String(line.line).padStart(12, '0')}\t${JSON.stringify(line)}`);
          days = widened(days, line.day);
        }
      }
      await this.#orders.add(rows);
    }
    const found = period ?? days;
    if (found === null)
      throw new OperatorFailure('usage', `${file.path} has no line with a date: ${namePeriod}`);
    if (daysIn(found) > daysMax)
      throw new OperatorFailure(
        'usage',
        `from ${found.from} to ${found.to} is more than ${daysMax} days: ${namePeriod}`,
      );
    return found;
  }

  async #compareOrders(period: Period): Promise<void> {
    let done = 0;
    let lines: StatementLine[] = [];
    let orders: StatementLine[][] = [];
    const compare = async () => {
      await this.#compareSome(orders, period);
      this.#options.onProgress('Comparing', done, this.#lines);
      orders = [];
    };
    for await (const rows of this.#orders.sorted()) {
      for (const row of rows) {
        const line = JSON.parse(row.slice(row.lastIndexOf('\t') + 1)) as StatementLine;
        done++;
        if (line.order !== lines[0]?.order) {
          if (orders.length === namesAtOnce) await compare();
          lines = [];
          orders.push(lines);
        }
        lines.push(line);
        if (lines.length > linesOfOrderMax)
          throw new OperatorFailure(
            'usage',
            `more than ${linesOfOrderMax} lines are of the order ${line.order}: is it another column that names the order (--columns)?`,
          );
      }
    }
    await compare();
  }

  async #compareSome(orders: readonly (readonly StatementLine[])[], period: Period): Promise<void> {
    if (orders.length === 0) return;
    const charges = await this.#options.books.charges(orders.map((lines) => lines[0]!.order));
    const named: string[] = [];
    for (const [position, lines] of orders.entries()) {
      const charge = charges[position]!;
      if (charge !== null) named.push(`${charge.id}\t`);
      const { matched, inReviews, told } = compareOrder(lines, charge, period);
      for (const { kind, amount } of matched) this.#count(kind === 'refund' ? 'refund' : 'payment', amount);
      this.#inReviews += inReviews.length;
      for (const each of told) await this.#settle(each);
    }
    await this.#charges.add(named);
  }

  /** What was settled in the period and whose charge the statement does not name. */
  async #compareSettled(period: Period): Promise<void> {
    const { books, onProgress } = this.#options;
    await books.settled(period, async (found, done, total) => {
      await this.#charges.add(found.map((each) => `${each.charge}\t${JSON.stringify(each)}`));
      onProgress('Reading our payments', done, total);
    });
    let named = '';
    for await (const rows of this.#charges.sorted())
      for (const row of rows) {
        const end = row.indexOf('\t');
        const charge = row.slice(0, end);
        if (end === row.length - 1) named = charge;
        else if (charge !== named) this.#tell(missingInStatement(JSON.parse(row.slice(end + 1)) as Settled));
      }
  }

  /** Tells a difference, with the review that it is in from now on. */
  async #settle({ difference, money }: Told): Promise<void> {
    if (money === null || !this.#options.opensReviews) {
      this.#tell(difference);
      return;
    }
    const { id: review, known } = await this.#options.books.openReview(money);
    if (known) this.#inReviews++;
    else {
      if (review !== null) this.#reviewsOpened++;
      this.#tell({ ...difference, review });
    }
  }

  #tell(difference: Difference): void {
    const { kind } = difference;
    this.#differences[kind] = (this.#differences[kind] ?? 0) + 1;
    this.#options.onDifference(difference);
  }

  #count(kind: 'payment' | 'refund', amount: number): void {
    this.#matched[kind].lines++;
    this.#matched[kind].amount += amount;
  }
}

const namePeriod = 'name the first and the last day with --from and --to';

function widened(period: Period | null, day: string | null): Period | null {
  if (day === null) return period;
  if (period === null) return { from: day, to: day };
  const { from, to } = period;
  return { from: day < from ? day : from, to: day > to ? day : to };
}

function daysIn({ from, to }: Period): number {
  return Math.round((moroccoDayBounds(to)!.toMs - moroccoDayBounds(from)!.fromMs) / dayMs);
}

function missingInStatement({ kind, id, payment_intent, charge, amount, settled }: Settled): Difference {
  return {
    ...nothing,
    kind: kind === 'charge' ? 'payment_not_in_statement' : 'refund_not_in_statement',
    day: settled,
    payment_intent,
    charge,
    refund: kind === 'refund' ? id : null,
    our_amount: amount,
  };
}
