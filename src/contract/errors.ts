// The error table: one row a code, with its type and its HTTP status. Messages are in messages.ts, keyed by the same
// codes. Whoever refuses something names a code of this table; nothing else in the service knows a status.

import { format, type MessageKey } from './messages.ts';
import type { DeclineCode, Language } from './vocabulary.ts';

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'card_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error';

interface ErrorRow {
  readonly type: ErrorType;
  readonly status: number;
}

const row = (type: ErrorType, status: number): ErrorRow => ({ type, status });

export const errors = {
  parameter_missing: row('invalid_request_error', 400),
  parameter_unknown: row('invalid_request_error', 400),
  parameter_invalid: row('invalid_request_error', 400),
  resource_missing: row('invalid_request_error', 404),
  unrecognized_request_url: row('invalid_request_error', 404),
  api_version_invalid: row('invalid_request_error', 400),
  amount_too_small: row('invalid_request_error', 400),
  amount_too_large: row('invalid_request_error', 400),
  payment_method_unavailable: row('invalid_request_error', 400),
  payment_intent_unexpected_state: row('invalid_request_error', 400),
  payment_intent_busy: row('invalid_request_error', 409),
  charge_unexpected_state: row('invalid_request_error', 400),
  refund_unsupported_payment_method: row('invalid_request_error', 400),
  url_not_allowed: row('invalid_request_error', 400),
  webhook_endpoint_limit_reached: row('invalid_request_error', 400),
  webhook_endpoints_busy: row('invalid_request_error', 409),
  idempotency_key_missing: row('invalid_request_error', 400),
  invalid_request: row('invalid_request_error', 400),
  api_key_missing: row('authentication_error', 401),
  api_key_invalid: row('authentication_error', 401),
  api_key_revoked: row('authentication_error', 401),
  api_key_expired: row('authentication_error', 401),
  authentication_required: row('authentication_error', 401),
  secret_key_required: row('permission_error', 403),
  live_mode_not_activated: row('permission_error', 403),
  account_inactive: row('permission_error', 403),
  test_mode_only: row('permission_error', 403),
  permission_denied: row('permission_error', 403),
  card_declined: row('card_error', 402),
  idempotency_key_reused: row('idempotency_error', 400),
  idempotency_in_progress: row('idempotency_error', 409),
  idempotency_error: row('idempotency_error', 400),
  rate_limit_exceeded: row('rate_limit_error', 429),
  test_daily_cap_reached: row('rate_limit_error', 429),
  api_error: row('api_error', 500),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;
export const errorCodes = Object.keys(errors) as ErrorCode[];

/** The position of a code in the table: how threads name it to each other. 0 is kept for "no error". */
export const errorNumbers: ReadonlyMap<ErrorCode, number> = new Map(
  errorCodes.map((code, i) => [code, i + 1]),
);

/** A refusal: a value, not an exception. `message` names a more precise text than the code's own. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: MessageKey;
  /** The parameter at fault, as a path. */
  readonly param?: string;
  /** What the message's placeholders stand for. */
  readonly values?: Readonly<Record<string, string | number>>;
  readonly declineCode?: DeclineCode;
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** Instead of the code's own status: 503 for an `api_error` that says to try again, 413 and 431 for framing. */
  readonly status?: number;
}

export function refuse(code: ErrorCode, more: Omit<Refusal, 'code'> = {}): Refusal {
  return { code, ...more };
}

export function statusOf(refusal: Refusal): number {
  return refusal.status ?? errors[refusal.code].status;
}

/**
 * Whether a refusal is kept with its idempotency key. Refusals on the merits are. Not kept are those of a parameter,
 * wherever it is found out (the corrected request may use the same key), and those that say to try again: any 5xx, any
 * 429, any with `Retry-After` and every code that ends in `_busy`.
 */
export function isKept(refusal: Refusal): boolean {
  const { code, retryAfterSeconds } = refusal;
  if (code.startsWith('parameter_') || code === 'api_version_invalid') return false;
  const status = statusOf(refusal);
  return status < 500 && status !== 429 && retryAfterSeconds === undefined && !code.endsWith('_busy');
}

/** The part of the service that owns the data is being restarted, or can't write now: the same request will do later. */
export const unavailable: Refusal = refuse('api_error', {
  message: 'api_error.unavailable',
  status: 503,
  retryAfterSeconds: 1,
});

export interface ErrorContext {
  readonly language: Language;
  readonly requestId: string;
  /** Where the service is reached, without a final slash: `doc_url` starts with it. */
  readonly baseUrl: string;
}

/** The body of a refused request, as JSON text. */
export function errorBody(refusal: Refusal, context: ErrorContext): string {
  const { code, param } = refusal;
  return JSON.stringify({
    error: {
      type: errors[code].type,
      code,
      decline_code: refusal.declineCode ?? null,
      param: param ?? null,
      message: messageOf(refusal, context.language),
      doc_url: `${context.baseUrl}/docs/errors#${code}`,
      request_id: context.requestId,
    },
  });
}

export function messageOf(refusal: Refusal, language: Language): string {
  return format(refusal.message ?? refusal.code, language, { param: refusal.param ?? '', ...refusal.values });
}
