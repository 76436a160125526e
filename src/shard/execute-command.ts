// Executes commands, whoever gives them. A command is decided and applied, its changes are recorded
// in the commit batch with the response that is stored for its idempotency key, and its waiter is
// answered. One that waits for a network or a name server is answered by a later batch.

import { isStored, statusOf, unavailable } from '../contract/errors/table.ts';
import { storedResponseBytesMax } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import { type Cause, causes } from '../domain/cause.ts';
import type { AnyCommand, CommandParams, Done } from '../domain/command.ts';
import { type Command, decide } from '../domain/decide.ts';
import type { Context, Decision, Outcome } from '../domain/decision.ts';
import type { ApiRequest, StoredRecord } from '../domain/record.ts';
import { addressUnresolved } from '../domain/webhook-endpoints.ts';
import type { Entry } from '../journal/journal.ts';
import { type AnyOutcome, answer, errorBodyOf, refusalOf, type Waiter } from './answer.ts';
import type { CommitBatch } from './commit-batch.ts';
import type { Scope } from './scope.ts';
import type { ShardState } from './shard-state.ts';

/** A command with everything that the shard needs to execute it. */
export interface IssuedCommand<O extends AnyCommand = AnyCommand> extends Command<O> {
  /** The organization and mode on whose behalf it runs. */
  readonly scope: Scope;
  /** The API request that gave the command; null when a customer, an operator or time gave it. */
  readonly request: ApiRequest | null;
  /** Who gave it: for the outcome of a network call the network, not the request that waits. */
  readonly cause: Cause;
  /** Whether the command's webhook address is allowed; null before the check. */
  readonly addressAllowed: boolean | null;
}

type Issued = Pick<IssuedCommand, 'id' | 'scope' | 'request' | 'cause' | 'addressAllowed'>;

/** Executes a command about a record on behalf of the organization that the record belongs to. */
export function executeFor<O extends AnyCommand>(
  state: ShardState,
  batch: CommitBatch,
  record: StoredRecord,
  given: { readonly operation: O; readonly params: CommandParams<O>; readonly cause: Cause },
  waiter: Waiter | null = null,
): Outcome<Done<O>> {
  const { operation, params, cause } = given;
  const scope = state.scopes.get(record.org, record.livemode, batch);
  const request = record.kind === 'network_call' ? record.request : null;
  const command = { operation, id: record.id, params, scope, request, cause, addressAllowed: null };
  return executeCommand(state, batch, command, waiter);
}

/**
 * Executes a command and answers `waiter` when the outcome is known and durable. A command without
 * a waiter, which the shard gives to itself, runs even while writes are refused: its caller checks.
 */
export function executeCommand<O extends AnyCommand>(
  state: ShardState,
  batch: CommitBatch,
  command: IssuedCommand<O>,
  waiter: Waiter | null,
): Outcome<Done<O>> {
  const { settings, keys, waiters } = state;
  if (waiter !== null && state.refusesWrites) {
    answer(batch, settings, waiter, refusedForNow);
    return refusedForNow;
  }
  const decision = decideCommand(state, command, batch);
  const { outcome } = decision;
  if ('checksAddress' in outcome) {
    checkAddress(state, command, waiter, outcome.checksAddress);
    return outcome;
  }
  apply(state, batch, command.scope, decision);
  if ('waitsFor' in outcome) {
    const { id, request } = outcome.waitsFor;
    assert(waiter === null || !waiters.has(id), 'only one request waits for a network call');
    if (waiter !== null) waiters.set(id, waiter);
    keys.markRunning(request);
    batch.record(decision.changes, null, causeOf(command, null));
    return outcome;
  }
  const stored = responseToStore(state, command, outcome);
  batch.record(decision.changes, stored, causeOf(command, stored));
  if (command.operation === 'apply_network_outcome') answerBoth(state, batch, command, waiter, outcome);
  else if (waiter !== null) answer(batch, settings, waiter, outcome);
  return outcome;
}

/** Decides a command, which changes nothing yet. It is refused if it needs a damaged record. */
function decideCommand<O extends AnyCommand>(
  state: ShardState,
  command: IssuedCommand<O>,
  now: Now,
): Decision<Done<O>> {
  const decision = state.reads.read(() => decide(state.records, command, contextOf(state, command, now)));
  return 'refusal' in decision ? { changes: [], networkCalls: [], outcome: decision } : decision;
}

function contextOf({ settings, ids, endpoints, secrets }: ShardState, command: Issued, now: Now): Context {
  const { scope, request, cause, addressAllowed } = command;
  const { nowMs, serviceMs } = now;
  return {
    nowMs,
    serviceMs,
    org: scope.org,
    livemode: scope.livemode,
    account: scope.account(now),
    settings,
    language: request?.language ?? 'en',
    apiVersion: request?.api_version ?? scope.settings.apiVersion,
    request,
    cause,
    endpoints: endpoints.of(scope),
    endpointsBusy: scope.endpoints.isBusy,
    addressAllowed,
    newId: (kind) => ids.next(kind, scope.slot, nowMs),
    randomText: ids.randomText,
    sealSecret: (secret, id) => secrets.seal(secret, { id, org: scope.org }),
    randomBelow: ids.randomBelow,
  };
}

type Applied = Pick<Decision, 'changes' | 'networkCalls'>;

function apply(
  state: ShardState,
  batch: CommitBatch,
  scope: Scope,
  { changes, networkCalls }: Applied,
): void {
  for (const change of changes) {
    const isOwn = change.org === scope.org && change.livemode === scope.livemode;
    assert(isOwn, 'a command changes only what belongs to its organization and mode');
    state.outboxes.observe(change);
    if (change.kind === 'webhook_endpoint' && change.status === 'deleted') state.health.forget(change.id);
    state.records.apply(change);
    state.tasks.observe(change);
    state.endpoints.observe(change);
    state.openCalls.observe(change);
  }
  for (const call of networkCalls) {
    batch.networkCalls.push(call);
    // Its outcome is mostly applied soon. Nothing newer of it may be among the changes.
    if (changes.includes(call)) state.records.keepAtHand(call);
  }
}

/** Keeps the command until it is known whether its address may be used, and then executes it. */
function checkAddress<O extends AnyCommand>(
  state: ShardState,
  command: IssuedCommand<O>,
  waiter: Waiter | null,
  url: string,
): void {
  const { scope, request } = command;
  scope.endpoints.isBusy = true;
  state.keys.markRunning(request);
  state.checkAddress(url, (batch, allowed) => {
    scope.endpoints.isBusy = false;
    state.keys.clearRunning(request);
    if (allowed !== null) executeCommand(state, batch, { ...command, addressAllowed: allowed }, waiter);
    else if (waiter !== null) answer(batch, state.settings, waiter, { refusal: addressUnresolved });
  });
}

const refusedForNow = { refusal: unavailable };
const applied = { body: '{}' };

/**
 * Answers the request that waited for a network call. The network hears that it was applied, unless
 * a damaged record kept it from that.
 */
function answerBoth(
  { keys, settings, waiters }: ShardState,
  batch: CommitBatch,
  { id, request }: Pick<Issued, 'id' | 'request'>,
  network: Waiter | null,
  outcome: AnyOutcome,
): void {
  keys.clearRunning(request);
  const waiter = waiters.get(id);
  waiters.delete(id);
  if (waiter !== undefined) answer(batch, settings, waiter, outcome);
  if (network !== null) answer(batch, settings, network, 'refusal' in outcome ? outcome : applied);
}

/** Who gave the command. A request without a name is the one that the response is stored for. */
function causeOf({ cause, request }: Issued, stored: Entry['idempotency']): Cause {
  if (cause !== causes.request || stored !== null || request === null) return cause;
  return { by: 'request', name: request.request_id };
}

/** The response to store for the request's key; null if it says to try again or is too large. */
function responseToStore(
  { settings }: ShardState,
  { scope, request }: Issued,
  outcome: AnyOutcome,
): Entry['idempotency'] {
  if (request === null) return null;
  const { key_digest: keyDigest, fingerprint, request_id: requestId, resolved_defaults } = request;
  if (keyDigest === null || fingerprint === null) return null;
  const refusal = refusalOf(outcome);
  if (refusal !== null && !isStored(refusal)) return null;
  const body = refusal === null ? bodyToStore(outcome) : errorBodyOf(settings, refusal, request);
  if (isTooLong(body)) return null;
  const status = refusal === null ? 200 : statusOf(refusal);
  const defaults = resolved_defaults ? JSON.stringify(resolved_defaults) : '';
  return { keyDigest, fingerprint, slot: scope.slot, requestId, status, body, defaults };
}

function bodyToStore(outcome: AnyOutcome): string {
  return 'body' in outcome ? (outcome.storedBody ?? outcome.body) : '';
}

/** A UTF-16 unit takes at most three bytes, so the bytes of most bodies need not be counted. */
function isTooLong(body: string): boolean {
  return body.length * 3 > storedResponseBytesMax && Buffer.byteLength(body) > storedResponseBytesMax;
}
