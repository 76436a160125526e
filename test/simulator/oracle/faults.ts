// What is wrong with a request that was admitted, once more: the first fault in the order of the gates, whatever is known of its
// idempotency key.

import { paramPath } from '../../../src/contract/echo.ts';
import { type Refusal, refuse } from '../../../src/contract/errors/table.ts';
import { bodyNamesMax, idempotencyKeyCharactersMax } from '../../../src/contract/limits.ts';
import { fillDefaults, isObject, type Params } from '../../../src/contract/routes/parsed-params.ts';
import { parseQuery } from '../../../src/contract/routes/query-string.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { firstRefusal, validateParams } from '../../../src/contract/routes/validate.ts';
import { findCardNumber } from '../../../src/core/card-number.ts';
import { type RequestFrame, requestFlags } from '../../../src/shard/frames.ts';

/** A refusal by its code and its parameter. */
export type Fault = readonly [code: string, param: string | null];

export interface Faults {
  /** Found before it is looked for the key. */
  readonly early: Fault | null;
  /** Of the parameters: a known key is replayed in spite of them. */
  readonly late: Fault | null;
  /** The parameters with their defaults. */
  readonly params: Params;
}

const nestingMax = 32;

export function faultsOf(route: Route, frame: RequestFrame): Faults {
  const key = keyFault(route, frame);
  if (key !== null) return { early: key, late: null, params: {} };
  const query = parseQuery(route, frame.query);
  const queryFault = 'refusal' in query ? query.refusal : null;
  const sent = route.method === 'GET' ? ('params' in query ? query.params : {}) : bodyOf(frame);
  if (sent === null) return { early: ['invalid_request', null], late: null, params: {} };
  fillDefaults(route, sent);
  const forbidden = route.method === 'GET' ? null : forbiddenIn(sent, []);
  const refusal = queryFault ?? firstRefusal(sent, validateParams(route, sent), forbidden);
  return { early: null, late: refusal && [refusal.code, refusal.param ?? null], params: sent };
}

function keyFault(
  { method, idempotency }: Route,
  { flags, idempotencyKey: key }: RequestFrame,
): Fault | null {
  if (method !== 'POST') return null;
  const isSent = (flags & requestFlags.hasIdempotencyKey) !== 0;
  if (!isSent) return idempotency === 'required' ? ['idempotency_key_missing', null] : null;
  const isFit = key !== '' && key.length <= idempotencyKeyCharactersMax && /^[ -~]*$/.test(key);
  return isFit && !findCardNumber(key) ? null : ['parameter_invalid', 'Idempotency-Key'];
}

/** The body as an object; null when it is none, or one that is not taken. */
function bodyOf({ flags, body }: RequestFrame): Params | null {
  if (body.length === 0) return {};
  if ((flags & requestFlags.wrongContentType) !== 0) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    const value: unknown = JSON.parse(text);
    const names = namesIn(value);
    const written = text.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
    const isFew = written + itemsIn(value) <= bodyNamesMax;
    const isTaken = depthOf(value) <= nestingMax && isFew && names === written;
    return isObject(value) && isTaken ? value : null;
  } catch {
    return null;
  }
}

const membersOf = (value: unknown) =>
  value !== null && typeof value === 'object' ? Object.values(value) : [];

function namesIn(value: unknown): number {
  const own = isObject(value) ? Object.keys(value).length : 0;
  return membersOf(value).reduce((sum, member) => sum + namesIn(member), own);
}

/** An empty list counts as one. */
function itemsIn(value: unknown): number {
  const own = Array.isArray(value) ? Math.max(1, value.length) : 0;
  return membersOf(value).reduce((sum, member) => sum + itemsIn(member), own);
}

function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...membersOf(value).map(depthOf));
}

/** The first text or name that looks like a card number, or is no Unicode. */
function forbiddenIn(value: unknown, path: readonly string[]): Refusal | null {
  const isForbidden = (text: string) =>
    text.length <= 4_096 && (!text.isWellFormed() || findCardNumber(text));
  const refusal = () => refuse('parameter_invalid', { param: paramPath(path) });
  if (typeof value === 'string') return isForbidden(value) ? refusal() : null;
  if (value === null || typeof value !== 'object') return null;
  for (const [name, member] of Object.entries(value)) {
    const found = isForbidden(name) ? refusal() : forbiddenIn(member, [...path, name]);
    if (found !== null) return found;
  }
  return null;
}
