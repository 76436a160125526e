// Executes one request in a shard: it passes the gates in gates.ts, and then its operation runs. Everything is synchronous and
// happens within a turn. Nothing is answered before the turn is durable.

import type { CommandOperation, QueryOperation } from '../contract/routes/table.ts';
import { causes } from '../domain/cause.ts';
import { query } from '../domain/query.ts';
import { answer, answerBody, answerRefusal, replay } from './answer.ts';
import { executeCommand } from './execute-command.ts';
import { answerFlags, type RequestFrame } from './frames.ts';
import { gates, Passage } from './gates.ts';
import type { IssuedCommand } from './issued-command.ts';
import type { ShardState } from './shard-state.ts';
import type { ReplyTo, Turn } from './turn.ts';
import type { RequestWaiter } from './waiter.ts';

/** Takes one public request through the gates and executes it. */
export function execute(state: ShardState, turn: Turn, to: ReplyTo, frame: RequestFrame): void {
  const passage = new Passage(state, turn, frame);
  const stop = state.readForVisit(
    frame.requestId,
    () => stopOf(passage),
    (refusal) => refusal,
  );
  if (stop === null) {
    run(passage, to);
    return;
  }
  const { limits, request } = passage;
  const waiter: RequestWaiter = { kind: 'request', to, limits, request };
  if ('code' in stop) answerRefusal(state, turn, waiter, stop);
  else replay(turn, waiter, stop);
}

/** What stops the request at a gate; null when it has passed them all. */
function stopOf(passage: Passage): ReturnType<(typeof gates)[number]> {
  for (const gate of gates) {
    const stop = gate(passage);
    if (stop !== null) return stop;
  }
  return null;
}

/** Runs the operation of a request that has passed all gates. */
function run(passage: Passage, to: ReplyTo): void {
  const { state, turn, route, scope, frame, limits, request, params } = passage;
  const waiter: RequestWaiter = { kind: 'request', to, limits, request };
  if (route.kind === 'command') {
    const isCounted = route.spends === 'payment_creation' && request.member === null;
    if (isCounted && !state.refusesWrites) scope.countCreation();
    const command: IssuedCommand = {
      operation: route.operation as CommandOperation,
      id: frame.id,
      params,
      scope,
      request,
      cause: request.member === null ? causes.request : { by: 'member', name: request.member },
      addressAllowed: null,
    };
    executeCommand(state, turn, command, waiter);
    return;
  }
  if (route.kind === 'export' || route.kind === 'stream') {
    // The edge asks for the rest page by page, as fast as its client reads, and tells when the export is over.
    if (route.kind === 'export') scope.exports.add(request.request_id);
    answerBody(turn, waiter, '', answerFlags.more);
    return;
  }
  const context = state.queryContext(scope, turn);
  const outcome = state.readForVisit(
    request.request_id,
    () => query(state.view, route.operation as QueryOperation, params, context, frame.id),
    (refusal) => ({ refusal }),
  );
  answer(state, turn, waiter, outcome);
}
