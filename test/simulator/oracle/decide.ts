// Stands in for `domain/decide.ts`: what is decided is compared with the model.

import type { AnyCommand, Done } from '../../../src/domain/command.ts';
import { type Command, decide as decideInService } from '../../../src/domain/decide.ts';
import type { Context, Decision } from '../../../src/domain/decision.ts';
import type { View } from '../../../src/domain/view.ts';
import { oracleOf } from './oracle.ts';

export function decide<O extends AnyCommand>(
  view: View,
  command: Command<O>,
  context: Context,
): Decision<Done<O>> {
  const decision = decideInService(view, command, context);
  oracleOf(view)?.decided(command, context, decision);
  return decision;
}
