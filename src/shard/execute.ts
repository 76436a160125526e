// Executes one request in a shard: it passes the gates in gates.ts, and then its operation runs.
// Everything is synchronous and happens within a commit batch.

import type { Route } from '../contract/routes/route.ts';
import type { CommandOperation, QueryOperation } from '../contract/routes/table.ts';
import { causes } from '../domain/cause.ts';
import { query } from '../domain/query.ts';
import { answer, answerBody, answerRefusal, type RequestWaiter, replay } from './answer.ts';
import type { CommitBatch, ReplyTo } from './commit-batch.ts';
import { executeCommand } from './execute-command.ts';
import { answerFlags, type RequestFrame } from './frames.ts';
import { gates, Passage } from './gates.ts';
import type { ShardState } from './shard-state.ts';

export function execute(state: ShardState, batch: CommitBatch, to: ReplyTo, frame: RequestFrame): void {
  const passage = new Passage(state, batch, frame);
  const stop = state.reads.readForRequest(frame.requestId, () => stopOf(passage));
  const { limits, request } = passage;
  const waiter: RequestWaiter = { kind: 'request', to, limits, request };
  if (stop === null) run(passage, waiter);
  else if ('refusal' in stop) answerRefusal(batch, state.settings, waiter, stop.refusal);
  else if ('code' in stop) answerRefusal(batch, state.settings, waiter, stop);
  else replay(batch, waiter, stop);
}

/** What stops the request at a gate; null when it has passed them all. */
function stopOf(passage: Passage): ReturnType<(typeof gates)[number]> {
  for (const gate of gates) {
    const stop = gate(passage);
    if (stop !== null) return stop;
  }
  return null;
}

function run({ state, batch, route, scope, frame, request, params }: Passage, waiter: RequestWaiter): void {
  const { id } = frame;
  if (isCommand(route)) {
    const isCounted = route.spends === 'payment_creation' && request.member === null;
    if (isCounted && !state.refusesWrites) scope.countCreation();
    const { operation } = route;
    const cause =
      request.member === null ? causes.request : ({ by: 'member', name: request.member } as const);
    const command = { operation, id, params, scope, request, cause, addressAllowed: null };
    executeCommand(state, batch, command, waiter);
  } else if (isQuery(route)) {
    const context = state.queryContext(scope, batch);
    const outcome = state.reads.readForRequest(request.request_id, () =>
      query(batch.view, route.operation, params, context, id),
    );
    answer(batch, state.settings, waiter, outcome);
  } else {
    // The edge asks for the rest page by page, as fast as its client reads, and tells when the
    // export is over.
    if (route.kind === 'export') scope.exports.set(request.request_id, waiter.to.peer);
    answerBody(batch, waiter, '', answerFlags.more);
  }
}

function isCommand(route: Route): route is Route & { readonly operation: CommandOperation } {
  return route.kind === 'command';
}

function isQuery(route: Route): route is Route & { readonly operation: QueryOperation } {
  return route.kind === 'query';
}
