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
import { jsonOfForms } from '../world/forms.ts';

export interface Faults {
  /** Found before it is looked for the key. */
  readonly early: Refusal | null;
  /** Of the parameters: a known key is replayed in spite of them. */
  readonly late: Refusal | null;
  /** The parameters with their defaults. */
  readonly params: Params;
}

const nestingMax = 32;

export function faultsOf(route: Route, frame: RequestFrame): Faults {
  const key = keyFault(route, frame);
  if (key !== null) return { early: key, late: null, params: {} };
  const query = parseQuery(route, frame.query);
  const queryFault = 'refusal' in query ? query.refusal : null;
  const asked = 'params' in query ? query.params : {};
  const body = route.method === 'GET' ? { params: asked } : bodyOf(frame);
  if ('refusal' in body) return { early: body.refusal, late: null, params: {} };
  const { params } = body;
  fillDefaults(route, params);
  const forbidden = route.method === 'GET' ? null : forbiddenIn(params, []);
  return {
    early: null,
    late: queryFault ?? firstRefusal(params, validateParams(route, params), forbidden),
    params,
  };
}

function keyFault(
  { method, idempotency }: Route,
  { flags, idempotencyKey: key }: RequestFrame,
): Refusal | null {
  if (method !== 'POST') return null;
  const isSent = (flags & requestFlags.hasIdempotencyKey) !== 0;
  if (!isSent) return idempotency === 'required' ? refuse('idempotency_key_missing') : null;
  const isFit = key !== '' && key.length <= idempotencyKeyCharactersMax && /^[ -~]*$/.test(key);
  const param = 'Idempotency-Key';
  const values = { max: idempotencyKeyCharactersMax };
  if (!isFit)
    return refuse('parameter_invalid', { param, message: 'parameter_invalid.idempotency_key', values });
  const message = 'parameter_invalid.card_number';
  return findCardNumber(key) ? refuse('parameter_invalid', { param, message }) : null;
}

type Body = { readonly params: Params } | { readonly refusal: Refusal };

/** The body as an object, or why it is none that is taken. */
function bodyOf({ flags, body }: RequestFrame): Body {
  if (body.length === 0) return { params: {} };
  if ((flags & requestFlags.wrongContentType) !== 0) {
    const json = jsonOfForms.get(body.toString()) ?? null;
    if (json === null) return invalid('invalid_request.content_type');
    return invalid('invalid_request.form', { json });
  }
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    value = JSON.parse(text);
  } catch {
    return invalid('invalid_request.json');
  }
  const names = text.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
  if (depthOf(value) > nestingMax) return invalid('invalid_request.too_deep');
  if (names + itemsIn(value) > bodyNamesMax)
    return invalid('invalid_request.too_many_names', { max: bodyNamesMax });
  if (!isObject(value)) return invalid('invalid_request.not_an_object');
  return names === namesIn(value) ? { params: value } : invalid('invalid_request.duplicate_name');
}

function invalid(message: Refusal['message'], values: Refusal['values'] = {}): Body {
  return { refusal: refuse('invalid_request', { message, values }) };
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
  const faultOf = (text: string) => {
    if (text.length > 4_096 || (text.isWellFormed() && !findCardNumber(text))) return null;
    const message = `parameter_invalid.${text.isWellFormed() ? 'card_number' : 'encoding'}` as const;
    return refuse('parameter_invalid', { param: paramPath(path), message });
  };
  if (typeof value === 'string') return faultOf(value);
  if (value === null || typeof value !== 'object') return null;
  for (const [name, member] of Object.entries(value)) {
    const found = faultOf(name) ?? forbiddenIn(member, [...path, name]);
    if (found !== null) return found;
  }
  return null;
}
