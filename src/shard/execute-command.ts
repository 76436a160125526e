// Executes the commands of requests, pages, operators, payment networks, the webhook thread, and the shard itself. A command is
// decided and applied, its changes are recorded in the turn with the response that is stored for its idempotency key, and the
// waiter is answered. A command that waits for a network or a name server is answered by a later turn.

import { isStored, statusOf, unavailable } from '../contract/errors/table.ts';
import { storedResponseBytesMax } from '../contract/limits.ts';
import { type Cause, causes } from '../domain/cause.ts';
import type { AnyCommand, CommandParams, Done } from '../domain/command.ts';
import type { Outcome } from '../domain/decision.ts';
import type { StoredRecord } from '../domain/record.ts';
import { addressUnresolved } from '../domain/webhook-endpoints.ts';
import type { Entry } from '../journal/journal.ts';
import { answer, refusalOf } from './answer.ts';
import type { IssuedCommand } from './issued-command.ts';
import type { ShardState } from './shard-state.ts';
import type { Turn } from './turn.ts';
import type { Waiter } from './waiter.ts';

/** A command about a record that `cause` gave, on behalf of the organization that the record belongs to. */
export function about<O extends AnyCommand>(
  state: ShardState,
  turn: Turn,
  record: StoredRecord,
  operation: O,
  params: CommandParams<O>,
  cause: Cause,
): IssuedCommand<O> {
  const scope = state.scope(record.org, record.livemode, turn);
  const request = record.kind === 'network_call' ? record.request : null;
  return { operation, id: record.id, params, scope, request, cause, addressAllowed: null };
}

/**
 * Executes a command and answers `waiter` when the outcome is known and durable. `waiter` is null when the shard gives the
 * command to itself. Such a command is executed even while writes are refused, so its caller checks that.
 */
export function executeCommand<O extends AnyCommand>(
  state: ShardState,
  turn: Turn,
  command: IssuedCommand<O>,
  waiter: Waiter | null,
): Outcome<Done<O>> {
  if (waiter !== null && state.refusesWrites) {
    answer(state, turn, waiter, refusedForNow);
    return refusedForNow;
  }
  const decision = state.decide(command, turn);
  const { outcome } = decision;
  if ('checksAddress' in outcome) {
    state.checkAddress(command as unknown as IssuedCommand, waiter, outcome.checksAddress);
    return outcome;
  }
  state.apply(turn, decision);
  if ('waitsFor' in outcome) {
    state.waitFor(outcome.waitsFor, waiter);
    turn.record(decision.changes, null, causeOf(command, null));
    return outcome;
  }
  const told = outcome as Outcome;
  const stored = recordFor(state, command, told);
  turn.record(decision.changes, stored, causeOf(command, stored));
  if (command.operation === 'settle_network_call') settled(state, turn, command, waiter, told);
  else if (waiter !== null) answer(state, turn, waiter, told);
  return outcome;
}

/** Executes a command whose address was looked up; `allowed` is null when no name server answered. */
export function addressChecked(
  state: ShardState,
  turn: Turn,
  checked: {
    readonly command: IssuedCommand;
    readonly waiter: Waiter | null;
    readonly allowed: boolean | null;
  },
): void {
  const { command, waiter, allowed } = checked;
  state.addressChecked(command);
  if (allowed !== null) executeCommand(state, turn, { ...command, addressAllowed: allowed }, waiter);
  else if (waiter !== null) answer(state, turn, waiter, { refusal: addressUnresolved });
}

const refusedForNow = { refusal: unavailable };
const applied = { body: '{}' };

/** Answers the request that waited for the network call with the outcome. The runner is only told that it was applied. */
function settled(
  state: ShardState,
  turn: Turn,
  { id, request }: Pick<IssuedCommand, 'id' | 'request'>,
  network: Waiter | null,
  outcome: Outcome,
): void {
  state.ran(request);
  const waiting = state.takeWaiting(id);
  if (waiting !== undefined) answer(state, turn, waiting, outcome);
  if (network !== null) answer(state, turn, network, applied);
}

/** Who gave the command, as its entry says it: a request is named by the response that is stored for it, if there is one. */
function causeOf({ cause, request }: IssuedCommand, stored: Entry['idempotency']): Cause {
  if (cause !== causes.request || stored !== null || request === null) return cause;
  return { by: 'request', name: request.request_id };
}

/** The idempotency record of a request with its response; null when that says to try again or is too large. */
function recordFor(
  state: ShardState,
  { scope, request }: IssuedCommand,
  outcome: Outcome,
): Entry['idempotency'] {
  if (request === null) return null;
  const { key_digest: keyDigest, fingerprint, request_id: requestId, resolved_defaults } = request;
  if (keyDigest === null || fingerprint === null) return null;
  const refusal = refusalOf(outcome);
  if (refusal !== null && !isStored(refusal)) return null;
  const body = refusal === null ? storedBodyOf(outcome) : state.errorBody(refusal, request);
  if (isTooLong(body)) return null;
  const status = refusal === null ? 200 : statusOf(refusal);
  const defaults = resolved_defaults ? JSON.stringify(resolved_defaults) : '';
  return { keyDigest, fingerprint, slot: scope.slot, requestId, status, body, defaults };
}

function storedBodyOf(outcome: Outcome): string {
  return 'body' in outcome ? (outcome.storedBody ?? outcome.body) : '';
}

/** A UTF-16 unit takes at most three bytes, so the bytes of most bodies need not be counted. */
function isTooLong(body: string): boolean {
  return body.length * 3 > storedResponseBytesMax && Buffer.byteLength(body) > storedResponseBytesMax;
}
