// `payments review …`: reviews, which wait for an operator's decision.

import { type Command, Option } from 'commander';
import { modes } from '../../contract/vocabulary.ts';
import { listedMax } from '../socket/protocol.ts';
import type { PresentedReview } from '../use-cases/present.ts';
import type { CliContext } from './context.ts';
import { dirhams, formatTable, formatTime } from './table.ts';

export function addReviewCommands(program: Command, { run }: CliContext): void {
  const review = program.command('review').description('payments where something does not add up');
  review
    .command('list <ORG>')
    .description(`list an organization's open reviews, newest first, at most ${listedMax} of a mode`)
    .option('--all', 'closed ones too')
    .addOption(new Option('--mode <mode>', 'one side of the organization only').choices(modes))
    .action((org, { all = false, mode = null }, command) =>
      run(command, 'review.list', { org, mode, openOnly: !all }, list),
    );
  review
    .command('close <REVIEW>')
    .description('settle a review: the money was accepted, or given back')
    .addOption(
      new Option('--as <outcome>', 'what became of the money')
        .choices(['approved', 'refunded'])
        .makeOptionMandatory(),
    )
    .action((id, { as }, command) => run(command, 'review.close', { review: id, as }, closed));
}

function list(reviews: readonly PresentedReview[]): string {
  const rows = reviews.map((review) => [
    review.id,
    review.mode,
    review.open ? 'open' : review.closed_reason!,
    review.reason,
    dirhams(review.amount_expected),
    dirhams(review.amount_received),
    review.payment_intent,
    formatTime(review.created),
  ]);
  const headings = ['id', 'mode', 'state', 'reason', 'expected', 'received', 'payment', 'created'];
  return formatTable(headings, rows, listedMax);
}

function closed(review: PresentedReview): string {
  return `Closed ${review.id} as ${review.closed_reason}: ${dirhams(review.amount_received)} MAD received for ${review.payment_intent}.`;
}
