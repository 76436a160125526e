// Executes one request in a shard: the gates behind the edge in their order (limits, idempotency key, body, the key's record,
// parameters), and then the operation. Everything is synchronous and happens within a turn. Nothing is answered before the
// turn is durable.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { idempotencyKeyCharactersMax } from '../contract/limits.ts';
import { page } from '../contract/routes/parameters.ts';
import { parseQuery } from '../contract/routes/query-string.ts';
import type { Route } from '../contract/routes/route.ts';
import { type CommandOperation, type QueryOperation, routeTable } from '../contract/routes/table.ts';
import { fillDefaults, firstRefusal, type Params, validateParams } from '../contract/routes/validate.ts';
import { apiVersions, type Language, languages } from '../contract/vocabulary.ts';
import { findCardNumber } from '../core/card-number.ts';
import type { TokenBucket } from '../core/token-bucket.ts';
import { causes } from '../domain/cause.ts';
import { query } from '../domain/query.ts';
import type { ApiRequest, ResolvedDefaults } from '../domain/record.ts';
import { defaultsResolver } from '../domain/resolved-defaults.ts';
import { answer, answerBody, answerRefusal, replay } from './answer.ts';
import { findForbiddenText, parseBody } from './body.ts';
import { executeCommand } from './execute-command.ts';
import { digestKey, digestRequest } from './fingerprint.ts';
import { answerFlags, type RequestFrame, requestFlags } from './frames.ts';
import type { IssuedCommand } from './issued-command.ts';
import type { Scope } from './scope.ts';
import type { KnownKey, ShardState } from './shard-state.ts';
import type { ReplyTo, Turn } from './turn.ts';
import type { RequestWaiter } from './waiter.ts';

const answerLost = refuse('api_error', { message: 'api_error.answer_lost' });

/** Takes one public request through the gates and executes it. */
export function execute(state: ShardState, turn: Turn, to: ReplyTo, frame: RequestFrame): void {
  const route = routeTable[frame.route]!;
  const scope = state.scope(frame.org, (frame.flags & requestFlags.livemode) !== 0, turn);
  const language = languages[frame.language]!;
  const counted = scope.bucketsOf(route, isFiltered(frame.query));
  const request: ApiRequest = {
    request_id: frame.requestId,
    idempotency_key: null,
    key_digest: null,
    fingerprint: null,
    resolved_defaults: null,
    language,
    api_version: apiVersions[frame.version] ?? scope.settings.apiVersion,
    member: (frame.flags & requestFlags.byMember) === 0 ? null : frame.member,
  };
  // A member uses the dashboard, which spends no limits.
  const limitRefusal = request.member !== null ? null : admit(state, turn, scope, route, counted, language);
  const limits = scope.headers(counted, turn);
  const waiter: RequestWaiter = { kind: 'request', to, limits, request };
  if (limitRefusal !== null) {
    answerRefusal(state, turn, waiter, limitRefusal);
    return;
  }
  const keyRefusal = refuseKey(route, frame);
  if (keyRefusal !== null) {
    answerRefusal(state, turn, waiter, keyRefusal);
    return;
  }
  const parsed = parseParams(route, frame);
  if ('refusal' in parsed) {
    answerRefusal(state, turn, waiter, parsed.refusal);
    return;
  }
  const { params } = parsed;
  const keyDigest = keyDigestOf(route, scope, frame);
  const known = keyDigest === null ? undefined : state.knownKey(turn, keyDigest);
  if (known !== undefined) {
    answerFromRecord(state, turn, waiter, known, frame, params);
    return;
  }
  const resolved =
    keyDigest === null ? noDefaults : resolveDefaults(state, turn, scope, request, frame, params);
  if ('refusal' in resolved) {
    answerRefusal(state, turn, waiter, resolved.refusal);
    return;
  }
  const keyed = keyDigest === null ? request : withKey(request, keyDigest, frame, params, resolved.defaults);
  const invalid = parsed.invalid ?? firstRefusal(params, validateParams(route, params), refuseText(parsed));
  if (invalid !== null) {
    answerRefusal(state, turn, waiter, invalid);
    return;
  }
  const operation = route.operation as CommandOperation;
  const asked = {
    operation,
    id: frame.id,
    params,
    scope,
    request: keyed,
    cause: request.member === null ? causes.request : { by: 'member', name: request.member },
    addressAllowed: null,
  } as IssuedCommand;
  run(
    state,
    turn,
    route,
    asked,
    keyed === request ? waiter : { kind: 'request', to, limits, request: keyed },
  );
}

/** Counts a request in the limits, or refuses it. */
function admit(
  state: ShardState,
  turn: Turn,
  scope: Scope,
  route: Route,
  counted: readonly TokenBucket[],
  language: Language,
): Refusal | null {
  const refusal = scope.admit(route, counted, turn, language);
  state.countsChanged(scope);
  return refusal;
}

function refuseText(parsed: Parsed): Refusal | null {
  return parsed.suspicious ? findForbiddenText(parsed.params) : null;
}

/** A list with any parameter besides the limit and the cursors counts as a search. */
function isFiltered(queryText: string): boolean {
  if (queryText === '') return false;
  const names = [...new URLSearchParams(queryText).keys()];
  return names.some((name) => !Object.hasOwn(page, name));
}

function refuseKey(route: Route, frame: RequestFrame): Refusal | null {
  if (route.method !== 'POST') return null;
  if ((frame.flags & requestFlags.hasIdempotencyKey) === 0) {
    return route.idempotency === 'required' ? refuse('idempotency_key_missing') : null;
  }
  const key = frame.idempotencyKey;
  const param = 'Idempotency-Key';
  if (key === '' || key.length > idempotencyKeyCharactersMax || !/^[\x20-\x7e]+$/.test(key)) {
    const values = { max: idempotencyKeyCharactersMax };
    return refuse('parameter_invalid', { param, message: 'parameter_invalid.idempotency_key', values });
  }
  return findCardNumber(key)
    ? refuse('parameter_invalid', { param, message: 'parameter_invalid.card_number' })
    : null;
}

interface Parsed {
  readonly params: Params;
  /** The texts must be searched for forbidden ones. */
  readonly suspicious: boolean;
  /** What is wrong with the query string. */
  readonly invalid: Refusal | null;
}

function parseParams(route: Route, frame: RequestFrame): Parsed | { readonly refusal: Refusal } {
  const fromQuery = parseQuery(route, frame.query);
  if (route.method === 'GET') {
    if ('refusal' in fromQuery) return { params: {}, suspicious: false, invalid: fromQuery.refusal };
    fillDefaults(route, fromQuery.params);
    return { params: fromQuery.params, suspicious: false, invalid: null };
  }
  if ((frame.flags & requestFlags.wrongContentType) !== 0 && frame.body.length > 0) {
    return { refusal: refuse('invalid_request', { message: 'invalid_request.content_type' }) };
  }
  const body = parseBody(frame.body);
  if ('refusal' in body) return body;
  fillDefaults(route, body.params);
  const { params, suspicious } = body;
  return { params, suspicious, invalid: 'refusal' in fromQuery ? fromQuery.refusal : null };
}

/** The digest of the idempotency key; null when the request has none or the route ignores it. */
function keyDigestOf(route: Route, scope: Scope, { flags, idempotencyKey }: RequestFrame): Uint8Array | null {
  const counts = route.method === 'POST' && (flags & requestFlags.hasIdempotencyKey) !== 0;
  return counts ? digestKey(scope.name, idempotencyKey) : null;
}

/** The digest of the request with its missing parameters filled in from `defaults`. */
function fingerprintOf(frame: RequestFrame, params: Params, defaults: ResolvedDefaults | null): Uint8Array {
  const { method, path } = routeTable[frame.route]!;
  const filledIn = defaults === null ? params : { ...defaults, ...params };
  return digestRequest(method, `${path} ${frame.id}`, frame.query, filledIn);
}

type Resolved = { readonly defaults: ResolvedDefaults | null } | { readonly refusal: Refusal };
const noDefaults: Resolved = { defaults: null };

/** The defaults that depend on the state, or a refusal when a record on which they depend can't be read. */
function resolveDefaults(
  state: ShardState,
  turn: Turn,
  scope: Scope,
  request: ApiRequest,
  frame: RequestFrame,
  params: Params,
): Resolved {
  const resolve = defaultsResolver(routeTable[frame.route]!.operation);
  if (resolve === undefined) return noDefaults;
  const { org, livemode } = scope;
  const context = { org, livemode, nowMs: turn.nowMs, apiVersion: request.api_version };
  return state.read(
    () => ({ defaults: resolve(state.records, context, params, frame.id) }),
    (refusal) => ({ refusal }),
  );
}

function withKey(
  request: ApiRequest,
  keyDigest: Uint8Array,
  frame: RequestFrame,
  params: Params,
  defaults: ResolvedDefaults | null,
): ApiRequest {
  return {
    request_id: request.request_id,
    idempotency_key: frame.idempotencyKey,
    key_digest: keyDigest,
    fingerprint: fingerprintOf(frame, params, defaults),
    resolved_defaults: defaults,
    language: request.language,
    api_version: request.api_version,
    member: request.member,
  };
}

/**
 * Answers a request whose idempotency key is known. The request is compared with the defaults of the first one, because the
 * state on which they depend may have changed since.
 */
function answerFromRecord(
  state: ShardState,
  turn: Turn,
  waiter: RequestWaiter,
  known: KnownKey,
  frame: RequestFrame,
  params: Params,
): void {
  // The defaults are lost with the response. If the operation has some, nobody knows whether it is the same request.
  const isUnsure =
    known.answer === 'lost' && defaultsResolver(routeTable[frame.route]!.operation) !== undefined;
  if (!isUnsure && !isSame(known.fingerprint, fingerprintOf(frame, params, known.resolvedDefaults))) {
    answerRefusal(state, turn, waiter, refuse('idempotency_key_reused'));
  } else if (known.answer === 'running') {
    answerRefusal(state, turn, waiter, refuse('idempotency_in_progress'));
  } else if (known.answer === 'lost') {
    answerRefusal(state, turn, waiter, answerLost);
  } else {
    replay(turn, waiter, known.answer);
  }
}

/** The index has only the beginning of a fingerprint. */
function isSame(known: Uint8Array, fingerprint: Uint8Array): boolean {
  return Buffer.compare(known, fingerprint.subarray(0, known.length)) === 0;
}

/** Runs the operation of a request that has passed all gates. */
function run(state: ShardState, turn: Turn, route: Route, asked: IssuedCommand, waiter: RequestWaiter): void {
  const { scope, params, id } = asked;
  if (route.kind === 'command') {
    const isCounted = route.spends === 'payment_creation' && asked.cause.by === 'request';
    if (isCounted && !state.refusesWrites) scope.countCreation();
    executeCommand(state, turn, asked, waiter);
    return;
  }
  if (route.kind === 'export' || route.kind === 'stream') {
    // The edge asks for the rest page by page, as fast as its client reads, and tells when the export is over.
    if (route.kind === 'export') scope.exports.add(waiter.request.request_id);
    answerBody(turn, waiter, '', answerFlags.more);
    return;
  }
  const context = state.queryContext(scope, turn);
  const outcome = state.read(
    () => query(state.view, route.operation as QueryOperation, params, context, id),
    (refusal) => ({ refusal }),
  );
  answer(state, turn, waiter, outcome);
}
