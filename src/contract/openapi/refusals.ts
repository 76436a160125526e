// Refusals as the API description shows them: which codes a route can answer, by status, each with
// an example. The codes come from the checks that every request passes, in their order, and from
// the route's own row.

import { type ErrorCode, errorBody, errorCodes, errors, type Refusal, statusesOf } from '../errors/table.ts';
import { bodyBytesMax, headerBytesMax } from '../limits.ts';
import type { Route } from '../routes/route.ts';
import { apiVersions, methodNames } from '../vocabulary.ts';
import { exampleIds } from './examples.ts';
import { headerRefs } from './headers.ts';
import type { Json } from './schemas.ts';

/** Refusals from before the operation, the same for all routes, are described under these names. */
const sharedNames: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  413: 'ContentTooLarge',
  429: 'TooManyRequests',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

const statusMeanings: Readonly<Record<number, string>> = {
  400: 'The request is wrong, or the state of the object does not allow it.',
  401: 'No API key, or one that does not work.',
  402: 'A card was declined.',
  403: 'The key works but may not do this.',
  404: 'There is no such object in this mode.',
  409: 'Another request is under way. Nothing was changed: send the same request again.',
  413: 'The body is too large.',
  429: 'Too many requests. Nothing was done: send the same request again after `Retry-After`.',
  431: 'The headers are too large.',
  500: 'The service failed. Send the same request again, with the same key.',
  503: 'The service is not available for the moment. Send the same request again, with the same key.',
};

type Example = Omit<Refusal, 'code'>;

/** The values of each code's message in its example. */
const examples: Record<ErrorCode, Example> = {
  parameter_missing: { param: 'amount' },
  parameter_unknown: { param: 'amuont' },
  parameter_invalid: {
    param: 'amount',
    message: 'parameter_invalid.integer',
    values: { min: 1, max: 99_999_999 },
  },
  resource_missing: { values: { kind: 'customer', id: exampleIds.customer } },
  unrecognized_request_url: { values: { method: 'PATCH', path: '/v1/payment_intents' } },
  api_version_invalid: { values: { versions: apiVersions.join(', ') } },
  amount_too_small: { param: 'amount', values: { minimum: 10_000, method: methodNames.cash } },
  amount_too_large: { param: 'amount', values: { remaining: 15_000 } },
  payment_method_unavailable: { param: 'payment_method_types', values: { method: methodNames.cash } },
  payment_intent_unexpected_state: { values: { status: 'succeeded' } },
  payment_intent_busy: {},
  charge_unexpected_state: { values: { status: 'succeeded' } },
  refund_unsupported_payment_method: { param: 'payment_intent' },
  url_not_allowed: { param: 'url' },
  webhook_endpoint_limit_reached: { values: { max: 16 } },
  webhook_endpoints_busy: {},
  idempotency_key_missing: {},
  invalid_request: { message: 'invalid_request.json' },
  api_key_missing: {},
  api_key_invalid: {},
  api_key_revoked: {},
  api_key_expired: {},
  authentication_required: {},
  secret_key_required: {},
  live_mode_not_activated: {},
  account_inactive: {},
  test_mode_only: {},
  permission_denied: {},
  card_declined: { declineCode: 'insufficient_funds', message: 'card_declined.insufficient_funds' },
  idempotency_key_reused: {},
  idempotency_in_progress: {},
  idempotency_error: {},
  rate_limit_exceeded: { values: { bucket: 'writes', limit: 150, wait: 2 } },
  test_daily_cap_reached: { values: { cap: 10_000 } },
  api_error: {},
};

/** The examples of a code's other statuses, which have another message. */
const otherExamples: Readonly<Record<number, Example>> = {
  413: { message: 'invalid_request.body_too_large', values: { max: bodyBytesMax } },
  431: { message: 'invalid_request.headers_too_large', values: { max: headerBytesMax } },
  503: { message: 'api_error.unavailable' },
};

/** The English body of a refusal. `status` is given when it is not the one of the code's row. */
export function exampleRefusal(code: ErrorCode, baseUrl: string, status?: number): Json {
  const context = { language: 'en', requestId: exampleIds.request, baseUrl } as const;
  const example = otherExamples[status ?? 0] ?? examples[code];
  return JSON.parse(errorBody({ code, ...example }, context)) as Json;
}

/** The codes that a route can answer, by status: first those of the gates, then its own. */
function refusalsByStatus(route: Route): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set([...checkedCodes(route), ...route.refusals]);
  const byStatus = new Map<number, ErrorCode[]>();
  const add = (status: number, code: ErrorCode) =>
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  for (const code of errorCodes.filter((known) => codes.has(known))) {
    for (const status of statusesOf(code)) {
      // Only a POST has a body that could be too large.
      if (status !== 413 || route.method === 'POST') add(status, code);
    }
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** The codes of refusals before an operation runs, in the order of the gates. */
function checkedCodes(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = [
    'invalid_request',
    'api_key_missing',
    'authentication_required',
    'api_key_invalid',
    'api_key_revoked',
    'api_key_expired',
    'account_inactive',
    'live_mode_not_activated',
    'api_version_invalid',
    'secret_key_required',
    'permission_denied',
    'test_daily_cap_reached',
    'rate_limit_exceeded',
    'parameter_unknown',
    'parameter_invalid',
    'api_error',
  ];
  if (route.testOnly) codes.push('test_mode_only');
  if (route.idempotency === 'required') codes.push('idempotency_key_missing');
  if (route.idempotency !== 'ignored') {
    codes.push('idempotency_key_reused', 'idempotency_in_progress', 'idempotency_error');
  }
  if ((route.params.required ?? []).length > 0 || route.exactlyOne) codes.push('parameter_missing');
  return codes;
}

/** The parts of a description that several routes share, by name. */
export interface RefusalComponents {
  readonly responses: Map<string, Json>;
  readonly examples: Map<string, Json>;
}

/** The refusals of a route, by status. Those that routes share are added to `components`. */
export function describeRefusals(route: Route, baseUrl: string, components: RefusalComponents): Json {
  const responses: Json = {};
  for (const [status, codes] of refusalsByStatus(route)) {
    const response = describeRefusal(route, status, codes, baseUrl, components.examples);
    const shared = sharedNames[status];
    if (shared === undefined) {
      responses[status] = response;
      continue;
    }
    const name = `${shared}${status === 403 && route.testOnly ? 'TestHelper' : ''}`;
    components.responses.set(name, response);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

function describeRefusal(
  route: Route,
  status: number,
  codes: readonly ErrorCode[],
  baseUrl: string,
  components: Map<string, Json>,
): Json {
  const shown: Json = {};
  for (const code of codes) {
    if (status === errors[code].status) {
      components.set(code, { summary: code, value: exampleRefusal(code, baseUrl) });
      shown[code] = { $ref: `#/components/examples/${code}` };
    } else {
      shown[code] = { summary: code, value: exampleRefusal(code, baseUrl, status) };
    }
  }
  const narrowed = {
    type: 'object',
    properties: { error: { type: 'object', properties: { code: { type: 'string', enum: codes } } } },
  };
  return {
    description: `${statusMeanings[status]} Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: headerRefs(route, status),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, narrowed] },
        examples: shown,
      },
    },
  };
}
