// `payments review …`: reviews, which wait for an operator's decision.

import { type Command, Option } from 'commander';
import { modes } from '../../contract/vocabulary.ts';
import { listedMax } from '../socket/protocol.ts';
import type { ResultOf } from '../use-cases/commands.ts';
import { addCommand, type CliContext, choiceOption } from './context.ts';
import { dirhams, tableOf } from './table.ts';

export function addReviewCommands(program: Command, { run }: CliContext): void {
  const review = addCommand(program, 'review', 'payments where something does not add up');
  addCommand(review, 'list <ORG>', "list an organization's open reviews, newest first")
    .option('--all', 'include closed reviews')
    .addOption(new Option('--mode <mode>', 'reviews of one mode only').choices(modes))
    .action((org, { all = false, mode = null }) => run('review.list', { org, mode, openOnly: !all }, list));
  addCommand(review, 'close <REVIEW>', 'settle a review: the money was accepted, or given back')
    .addOption(choiceOption('--as <outcome>', 'what became of the money', ['approved', 'refunded']))
    .action((id, { as }) => run('review.close', { review: id, as }, closed));
}

const list = tableOf<ResultOf<'review.close'>>(
  [
    'id',
    'mode',
    ['state', ({ open, closed_reason }) => (open ? 'open' : closed_reason)],
    'reason',
    ['expected', ({ amount_expected }) => dirhams(amount_expected)],
    ['received', ({ amount_received }) => dirhams(amount_received)],
    ['payment', 'payment_intent'],
    'created',
  ],
  listedMax,
);

function closed({ id, closed_reason, amount_received, payment_intent }: ResultOf<'review.close'>): string {
  return `Closed ${id} as ${closed_reason}: ${dirhams(amount_received)} MAD received for ${payment_intent}.`;
}
