// Reconciles a network's statement with our payments, in a memory that does not grow with it. The
// lines are sorted by order on the disk, and each order is compared with its charge. What was
// settled in the period is sorted together with the charges that the statement names: this shows
// what it lacks.

import { assert, defined } from '../../core/assert.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import type { NamedCharge, Settled } from '../../domain/settled.ts';
import { OperatorFailure, wrongUsage } from '../use-cases/failures.ts';
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
  /** Hands over what was settled in a period, some at a time, with the progress. */
  settled(
    period: Period,
    take: (found: readonly Settled[], done: number, total: number) => Promise<void>,
  ): Promise<void>;
  /** Opens a review, unless the money is known, or the charge can have no more reports. */
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

/** What was found so far. Amounts are centimes. */
function nothingFound() {
  const differences: Partial<Record<DifferenceKind, number>> = {};
  return {
    lines: 0,
    // Lines that are here as in the statement.
    payments: { lines: 0, amount: 0 },
    refunds: { lines: 0, amount: 0 },
    // Lines whose money is in a review already.
    in_reviews: 0,
    fees: 0,
    differences,
    reviews_opened: 0,
  };
}

export type Reconciled = Period & ReturnType<typeof nothingFound>;

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
    const isOfSystem = error instanceof Error && 'syscall' in error;
    throw isOfSystem ? new OperatorFailure('failed', error.message) : error;
  } finally {
    await Promise.all([orders.close(), charges.close()]);
  }
}

class Reconciliation {
  readonly #options: ReconcileOptions;
  /** The statement's lines by order: `order TAB line TAB JSON`. */
  readonly #orders: ExternalSort;
  /** `charge TAB` when the statement names it, `charge TAB JSON` of what was settled. */
  readonly #charges: ExternalSort;
  readonly #found = nothingFound();

  constructor(options: ReconcileOptions, orders: ExternalSort, charges: ExternalSort) {
    this.#options = options;
    this.#orders = orders;
    this.#charges = charges;
  }

  async run(): Promise<Reconciled> {
    const period = await this.#readStatement();
    await this.#compareOrders(period);
    await this.#compareSettled(period);
    return { ...period, ...this.#found };
  }

  /** Sorts the lines by order, and returns the period. */
  async #readStatement(): Promise<Period> {
    const { file, period, onProgress } = this.#options;
    const start = await startOfStatement(file);
    const inDoubt = period === null && start.form.places('date') < 0;
    if (inDoubt) throw wrongUsage(`${file.path} has no dates: ${namePeriod}`);
    let days: Period | null = null;
    const progress = (bytes: number) => onProgress('Reading the statement', bytes, start.bytes);
    for await (const batch of linesOfStatement(file.path, start, progress)) {
      const rows: string[] = [];
      this.#found.lines += batch.length;
      for (const line of batch) {
        if ('problem' in line)
          this.#tell({ kind: 'bad_line', ...nothing, line: line.line, problem: line.problem });
        else if (line.kind === 'fee') this.#found.fees++;
        else {
          rows.push(`${line.order}\t${String(line.line).padStart(12, '0')}\t${JSON.stringify(line)}`);
          days = widened(days, line.day);
        }
      }
      await this.#orders.add(rows);
    }
    const found = period ?? days;
    if (found === null) throw wrongUsage(`${file.path} has no line with a date: ${namePeriod}`);
    if (daysIn(found) > daysMax)
      throw wrongUsage(`from ${found.from} to ${found.to} is more than ${daysMax} days: ${namePeriod}`);
    return found;
  }

  async #compareOrders(period: Period): Promise<void> {
    let done = 0;
    let lines: StatementLine[] = [];
    let orders: StatementLine[][] = [];
    const compare = async () => {
      await this.#compareSome(orders, period);
      this.#options.onProgress('Comparing', done, this.#found.lines);
      orders = [];
    };
    for await (const rows of this.#orders.sorted()) {
      for (const row of rows) {
        const line: StatementLine = JSON.parse(row.slice(row.lastIndexOf('\t') + 1));
        done++;
        if (line.order !== lines[0]?.order) {
          if (orders.length === namesAtOnce) await compare();
          lines = [];
          orders.push(lines);
        }
        lines.push(line);
        if (lines.length > linesOfOrderMax)
          throw wrongUsage(
            `more than ${linesOfOrderMax} lines are of the order ${line.order}: is it another column that names the order (--columns)?`,
          );
      }
    }
    await compare();
  }

  async #compareSome(orders: readonly (readonly StatementLine[])[], period: Period): Promise<void> {
    if (orders.length === 0) return;
    const charges = await this.#options.books.charges(orders.map(([line]) => line?.order ?? ''));
    assert(charges.length === orders.length, 'each order has a charge or null');
    const named: string[] = [];
    for (const [position, lines] of orders.entries()) {
      const charge = charges[position] ?? null;
      if (charge !== null) named.push(`${charge.id}\t`);
      const { matched, inReviews, told } = compareOrder(lines, charge, period);
      for (const { kind, amount } of matched) {
        const sum = kind === 'refund' ? this.#found.refunds : this.#found.payments;
        sum.lines++;
        sum.amount += amount;
      }
      this.#found.in_reviews += inReviews.length;
      for (const each of told) await this.#putInReview(each);
    }
    await this.#charges.add(named);
  }

  /** Reports what was settled in the period although the statement does not name its charge. */
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
        else if (charge !== named) this.#tell(missingInStatement(JSON.parse(row.slice(end + 1))));
      }
  }

  /** Reports a difference, after its money was put in a review. */
  async #putInReview({ difference, money }: Told): Promise<void> {
    if (money === null || !this.#options.opensReviews) {
      this.#tell(difference);
      return;
    }
    assert(Number.isSafeInteger(money.amount) && money.amount >= 0, 'money is whole centimes');
    const { id: review, known } = await this.#options.books.openReview(money);
    if (known) this.#found.in_reviews++;
    else {
      if (review !== null) this.#found.reviews_opened++;
      this.#tell({ ...difference, review });
    }
  }

  #tell(difference: Difference): void {
    const { differences } = this.#found;
    differences[difference.kind] = (differences[difference.kind] ?? 0) + 1;
    this.#options.onDifference(difference);
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
  const bounds = (day: string) => defined(moroccoDayBounds(day), `${day} is a day`);
  return Math.round((bounds(to).toMs - bounds(from).fromMs) / dayMs);
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
