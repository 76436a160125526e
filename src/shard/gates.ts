// The gates behind the edge, in their order: limits, idempotency key, body, what is known of the
// key, parameters. Each finds out something about the request for those after it, or stops it:
// with a refusal, or with the response that is stored for its key.

import { type Refusal, refuse } from '../contract/errors/table.ts';
import { idempotencyKeyCharactersMax } from '../contract/limits.ts';
import { fillDefaults, type Params } from '../contract/routes/parsed-params.ts';
import { isFiltered, parseQuery } from '../contract/routes/query-string.ts';
import type { Route } from '../contract/routes/route.ts';
import { routeTable } from '../contract/routes/table.ts';
import { firstRefusal, validateParams } from '../contract/routes/validate.ts';
import { apiVersions, languages } from '../contract/vocabulary.ts';
import { assert, elementAt } from '../core/assert.ts';
import { findCardNumber } from '../core/card-number.ts';
import type { ApiRequest, ResolvedDefaults } from '../domain/record.ts';
import { defaultsResolver } from '../domain/resolved-defaults.ts';
import type { StoredResponse } from '../journal/journal.ts';
import { findForbiddenText, jsonOfForm, parseBody } from './body.ts';
import type { CommitBatch } from './commit-batch.ts';
import { digestKey, digestRequest } from './fingerprint.ts';
import { type RequestFrame, requestFlags } from './frames.ts';
import type { KnownKey } from './idempotency-keys.ts';
import type { LimitHeaders, Scope } from './scope.ts';
import type { ShardState } from './shard-state.ts';

/** A request on its way through the gates, with what they have found out so far. */
export class Passage {
  readonly state: ShardState;
  readonly batch: CommitBatch;
  readonly frame: RequestFrame;
  readonly route: Route;
  readonly scope: Scope;
  /** Names its idempotency key once it is known to be new. */
  request: ApiRequest;
  limits: LimitHeaders = { limit: 0, remaining: 0, resetSeconds: 0 };
  params: Params = {};
  /** The texts in `params` must be searched for forbidden ones. */
  isSuspicious = false;
  /** What is wrong with the query string. */
  queryFault: Refusal | null = null;

  constructor(state: ShardState, batch: CommitBatch, frame: RequestFrame) {
    const { flags } = frame;
    this.state = state;
    this.batch = batch;
    this.frame = frame;
    this.route = elementAt(routeTable, frame.route);
    this.scope = state.scopes.get(frame.org, (flags & requestFlags.livemode) !== 0, batch);
    this.request = {
      request_id: frame.requestId,
      idempotency_key: null,
      key_digest: null,
      fingerprint: null,
      resolved_defaults: null,
      language: elementAt(languages, frame.language),
      api_version: apiVersions[frame.version] ?? this.scope.settings.apiVersion,
      member: (flags & requestFlags.byMember) === 0 ? null : frame.member,
    };
  }
}

/** Null lets the request go on. */
type Gate = (passage: Passage) => Refusal | StoredResponse | null;

export const gates: readonly Gate[] = [spendLimits, checkKey, parseParameters, recallKey, validateParameters];

/** Counts the request in its buckets. A member uses the dashboard, which spends no limits. */
function spendLimits(passage: Passage): Refusal | null {
  const { state, batch, frame, route, scope, request } = passage;
  const buckets = scope.bucketsOf(route, isFiltered(route, frame.query));
  let refusal: Refusal | null = null;
  if (request.member === null) {
    refusal = scope.admit(route, buckets, batch, request.language);
    state.scopes.countsChanged(scope);
  }
  passage.limits = scope.headers(buckets, batch);
  return refusal;
}

function checkKey({ route, frame }: Passage): Refusal | null {
  if (route.method !== 'POST') return null;
  if (!hasKey(frame)) return route.idempotency === 'required' ? refuse('idempotency_key_missing') : null;
  const key = frame.idempotencyKey;
  if (key === '' || key.length > idempotencyKeyCharactersMax || !/^[\x20-\x7e]+$/.test(key)) {
    const values = { max: idempotencyKeyCharactersMax };
    return refuse('parameter_invalid', { param, message: 'parameter_invalid.idempotency_key', values });
  }
  const message = 'parameter_invalid.card_number';
  return findCardNumber(key) ? refuse('parameter_invalid', { param, message }) : null;
}

function hasKey({ flags }: RequestFrame): boolean {
  return (flags & requestFlags.hasIdempotencyKey) !== 0;
}

const param = 'Idempotency-Key';
const responseLost = refuse('api_error', { message: 'api_error.answer_lost' });
const wrongContentType = refuse('invalid_request', { message: 'invalid_request.content_type' });

function parseParameters(passage: Passage): Refusal | null {
  const { route, frame } = passage;
  const fromQuery = parseQuery(route, frame.query);
  if ('refusal' in fromQuery) passage.queryFault = fromQuery.refusal;
  if (route.method === 'GET') {
    if ('params' in fromQuery) passage.params = fromQuery.params;
  } else {
    const isWrongType = (frame.flags & requestFlags.wrongContentType) !== 0;
    if (isWrongType && frame.body.length > 0) return notSentAsJson(frame);
    const body = parseBody(frame.body);
    if ('refusal' in body) return body.refusal;
    passage.params = body.params;
    passage.isSuspicious = body.suspicious;
  }
  fillDefaults(route, passage.params);
  return null;
}

/** Clients that send forms by default are shown what to send. */
function notSentAsJson({ body }: RequestFrame): Refusal {
  const json = jsonOfForm(body);
  if (json === null) return wrongContentType;
  return refuse('invalid_request', { message: 'invalid_request.form', values: { json } });
}

/** Replays the response of a known key, or refuses. A new key becomes part of the request. */
function recallKey(passage: Passage): Refusal | StoredResponse | null {
  const { state, batch, route, scope, frame, request } = passage;
  if (route.method !== 'POST' || !hasKey(frame)) return null;
  const { idempotencyKey } = frame;
  assert(request.key_digest === null, 'a request has one idempotency key');
  const keyDigest = digestKey(scope.name, idempotencyKey);
  const known = state.keys.find(batch, keyDigest);
  if (known !== undefined) return responseTo(passage, known);
  const resolved = resolveDefaults(passage);
  if ('refusal' in resolved) return resolved.refusal;
  passage.request = {
    request_id: request.request_id,
    idempotency_key: idempotencyKey,
    key_digest: keyDigest,
    fingerprint: fingerprintOf(passage, resolved.defaults),
    resolved_defaults: resolved.defaults,
    language: request.language,
    api_version: request.api_version,
    member: request.member,
  };
  return null;
}

/** Compares the request with the defaults of the first one, as the state may have changed since. */
function responseTo(passage: Passage, known: KnownKey): Refusal | StoredResponse {
  // With the response, defaults are lost: nobody knows whether it is the same request.
  const isUnsure = known.response === 'lost' && defaultsResolver(passage.route.operation) !== undefined;
  if (!isUnsure && !isSame(known.fingerprint, fingerprintOf(passage, known.resolvedDefaults)))
    return refuse('idempotency_key_reused');
  if (known.response === 'running') return refuse('idempotency_in_progress');
  return known.response === 'lost' ? responseLost : known.response;
}

/** The index has only the beginning of a fingerprint. */
function isSame(known: Uint8Array, fingerprint: Uint8Array): boolean {
  return Buffer.compare(known, fingerprint.subarray(0, known.length)) === 0;
}

/** The digest of the request with its missing parameters filled in from `defaults`. */
function fingerprintOf({ route, frame, params }: Passage, defaults: ResolvedDefaults | null): Uint8Array {
  const filledIn = defaults === null ? params : { ...defaults, ...params };
  return digestRequest(route.method, `${route.path} ${frame.id}`, frame.query, filledIn);
}

type Resolved = { readonly defaults: ResolvedDefaults | null } | { readonly refusal: Refusal };
const noDefaults: Resolved = { defaults: null };

/** The defaults that depend on the state, or a refusal if it can't be read. */
function resolveDefaults({ state, batch, route, scope, request, frame, params }: Passage): Resolved {
  const resolve = defaultsResolver(route.operation);
  if (resolve === undefined) return noDefaults;
  const { org, livemode } = scope;
  const context = { org, livemode, nowMs: batch.nowMs, apiVersion: request.api_version };
  return state.reads.read(() => ({ defaults: resolve(state.records, context, params, frame.id) }));
}

function validateParameters({ route, params, isSuspicious, queryFault }: Passage): Refusal | null {
  const forbidden = isSuspicious ? findForbiddenText(params) : null;
  return queryFault ?? firstRefusal(params, validateParams(route, params), forbidden);
}
