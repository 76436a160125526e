// `payments reconcile` compares a network's statement with our payments. It lists what differs,
// opens reviews for money that no payment has, and changes no payment. `payments review …` closes
// reviews.

import { tmpdir } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { listedMax } from '../../contract/limits.ts';
import { closedReasons, type Mode, modes } from '../../contract/vocabulary.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import { plain } from '../../core/shown-text.ts';
import { type ConnectorName, connectorNames } from '../../networks/connectors.ts';
import { type Difference, differenceKinds, type Period } from '../reconciliation/compare-order.ts';
import type { Books, Reconciled } from '../reconciliation/reconcile.ts';
import {
  type Column,
  columns,
  type LineKind,
  lineKinds,
  plainWord,
  statementFormats,
} from '../reconciliation/statement-line.ts';
import { callOperator } from '../socket/operator-client.ts';
import type { ResultOf } from '../use-cases/commands.ts';
import { CommandFailure, wrongUsage } from '../use-cases/failures.ts';
import { addCommand, type CliContext, choiceOption, modeOption } from './context.ts';
import { counted, dirhams, tableOf } from './table.ts';

interface Options {
  readonly file: string;
  readonly network: ConnectorName;
  readonly mode: Mode;
  readonly from?: string;
  readonly to?: string;
  readonly columns?: ReadonlyMap<Column, string>;
  readonly types?: ReadonlyMap<string, LineKind>;
  readonly amounts?: 'dirhams' | 'centimes';
  readonly dryRun?: true;
  readonly scratch: string;
}

export function addReconcileCommand(program: Command, context: CliContext): void {
  addCommand(
    program,
    'reconcile <ORG>',
    "compare a network's statement with our payments; exits with 1 when something differs",
  )
    .requiredOption('--file <file>', 'the statement, a CSV file')
    .addOption(choiceOption('--network <network>', 'the network that has made the statement', connectorNames))
    .addOption(modeOption())
    .option('--from <day>', 'the first day, such as 2026-12-01 (default: the first one in the file)', day)
    .option('--to <day>', 'the last day (default: the last one in the file)', day)
    .option(
      '--columns <columns>',
      `headings, such as order=Commande,amount=Montant (${columns.join(', ')})`,
      headings,
    )
    .option('--types <types>', `what words mean, such as Règlement=payment (${lineKinds.join(', ')})`, kinds)
    .addOption(
      new Option('--amounts <unit>', 'how amounts are written (default: as the network does)').choices([
        'dirhams',
        'centimes',
      ]),
    )
    .option('--dry-run', 'open no reviews for money that no payment has')
    .option('--scratch <folder>', 'a folder with room for twice the file', tmpdir())
    .action(async (org: string, options: Options) => {
      const { network, file, scratch, columns = new Map(), types = new Map(), dryRun = false } = options;
      const format = statementFormats[network];
      const amounts = options.amounts ?? format.amounts;
      const reconciled = await context.host.reconcile({
        file: { path: file, format: { ...format, amounts }, headings: columns, kinds: types },
        books: booksOf(context, org, options),
        period: periodOf(options),
        opensReviews: !dryRun,
        scratch,
        onDifference: (difference) => context.print({ difference }, () => inWords(difference)),
      });
      context.print({ reconciled }, () => summary(file, reconciled));
      const count = differencesIn(reconciled);
      if (count > 0) throw new CommandFailure(`${counted(count, 'difference')} in ${file}`);
    });
}

function booksOf({ folder, call }: CliContext, org: string, { mode, network }: Options): Books {
  return {
    charges: (names) => call('reconcile.charges', { org, mode, names: [...names] }),
    async settled(period, take) {
      const params = { org, mode, network, ...period };
      await callOperator(folder(), 'reconcile.settled', params, {
        onItem: ({ found, done, total }) => take(found, done, total),
      });
    },
    openReview: ({ charge, reference, amount }) => call('reconcile.review', { charge, reference, amount }),
  };
}

function day(text: string): string {
  if (moroccoDayBounds(text) !== null) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-12-31.');
}

function headings(text: string): ReadonlyMap<Column, string> {
  return new Map(
    pairs(text).map(([name, heading]) => {
      const column = columns.find((each) => each === name);
      if (column !== undefined) return [column, heading];
      throw new InvalidArgumentError(`The columns are ${columns.join(', ')}.`);
    }),
  );
}

function kinds(text: string): ReadonlyMap<string, LineKind> {
  return new Map(
    pairs(text).map(([word, name]) => {
      const kind = lineKinds.find((each) => each === name);
      if (kind !== undefined) return [plainWord(word), kind];
      throw new InvalidArgumentError(`The kinds of lines are ${lineKinds.join(', ')}.`);
    }),
  );
}

function pairs(text: string): [name: string, value: string][] {
  return text.split(',').map((pair) => {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
    if (name === '') throw new InvalidArgumentError('It must be like name=value,name=value.');
    return [name.trim(), value.trim()];
  });
}

function periodOf({ from, to }: Options): Period | null {
  if (from === undefined && to === undefined) return null;
  if (from !== undefined && to !== undefined && from <= to) return { from, to };
  throw wrongUsage('name the first and the last day of the period with --from and --to');
}

function inWords(difference: Difference): string {
  const { kind, line, order, reference, statement_amount, day, payment_intent, charge, refund, our_amount } =
    difference;
  const money = (centimes: number | null) => (centimes === null ? null : dirhams(centimes));
  const facts = {
    order: order === charge ? null : order,
    charge,
    refund,
    payment: payment_intent,
    reference,
    day,
    statement: money(statement_amount),
    here: money(our_amount),
    review: difference.review,
  };
  const told = Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  const what = difference.problem ?? differenceKinds[kind];
  return plain(
    `${line === null ? '' : `line ${line}: `}${kind}: ${what}${told.length > 0 ? ` (${told.join(', ')})` : ''}`,
  );
}

function differencesIn({ differences }: Reconciled): number {
  return Object.values(differences).reduce((sum, count) => sum + count, 0);
}

function summary(file: string, reconciled: Reconciled): string {
  const { from, to, lines, payments, refunds, in_reviews, fees, differences, reviews_opened } = reconciled;
  const sum = ({ lines, amount }: Reconciled['payments'], noun: string) =>
    `${counted(lines, noun)} of ${dirhams(amount)} MAD`;
  const rest = [
    ...(in_reviews > 0 ? [`${counted(in_reviews, 'line')} whose money is in a review`] : []),
    ...(fees > 0 ? [`${counted(fees, 'line')} about fees`] : []),
  ];
  const kinds = Object.entries(differences).map(([kind, count]) => `${count} ${kind}`);
  return [
    `${file}, ${from} to ${to}: ${counted(lines, 'line')}. As here: ${sum(payments, 'payment')}, ${sum(refunds, 'refund')}${rest.map((each) => `; ${each}`).join('')}.`,
    kinds.length === 0 ? 'Nothing differs.' : `What differs: ${kinds.join(', ')}.`,
    ...(reviews_opened > 0
      ? [`${counted(reviews_opened, 'review')} opened: "payments review list" shows them.`]
      : []),
  ].join('\n');
}

export function addReviewCommands(program: Command, { run }: CliContext): void {
  const review = addCommand(program, 'review', 'payments where something does not add up');
  addCommand(review, 'list <ORG>', "list an organization's open reviews, newest first")
    .option('--all', 'include closed reviews')
    .addOption(new Option('--mode <mode>', 'reviews of one mode only').choices(modes))
    .action((org, { all = false, mode = null }) =>
      run('review.list', { org, mode, openOnly: !all }, reviewTable),
    );
  addCommand(review, 'close <REVIEW>', 'close a review: the money was accepted, or given back')
    .addOption(choiceOption('--as <outcome>', 'what became of the money', closedReasons))
    .action((id, { as }) => run('review.close', { review: id, as }, closedInWords));
}

const reviewTable = tableOf<ResultOf<'review.close'>>(
  [
    'id',
    'mode',
    ['state', ({ open, closed_reason }) => (open ? 'open' : closed_reason)],
    'reason',
    ['expected', ({ amount_expected }) => dirhams(amount_expected)],
    ['received', received],
    ['payment', 'payment_intent'],
    'created',
  ],
  listedMax,
);

function received({ amount_received, currency_received }: ResultOf<'review.close'>): string {
  return `${dirhams(amount_received)} ${currency_received.toUpperCase()}`;
}

function closedInWords(review: ResultOf<'review.close'>): string {
  const { id, closed_reason, payment_intent } = review;
  return `Closed ${id} as ${closed_reason}: ${received(review)} received for ${payment_intent}.`;
}
