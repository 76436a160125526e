// The error table has one row for each code: its type, its HTTP status, and whether the refusal is
// stored as the response for the request's idempotency key. The messages are in ../messages/, keyed
// by the same codes. A refusal names a code of this table; only this table has HTTP statuses.

import { format, type MessageKey, type Values } from '../messages/table.ts';
import type { DeclineCode, Language } from '../vocabulary.ts';

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
  /** Whether the refusal is stored as the response for the idempotency key. */
  readonly stored: boolean;
}

const row = (type: ErrorType, status: number, stored: 'stored' | 'not stored'): ErrorRow => ({
  type,
  status,
  stored: stored === 'stored',
});

/**
 * Refusals on the merits are stored. Three kinds are not stored: refusals of a request before it
 * runs, refusals of a parameter (the corrected request may use the same key), and those that say to
 * try again.
 */

export const errors = {
  parameter_missing: row('invalid_request_error', 400, 'not stored'),
  parameter_unknown: row('invalid_request_error', 400, 'not stored'),
  parameter_invalid: row('invalid_request_error', 400, 'not stored'),
  resource_missing: row('invalid_request_error', 404, 'stored'),
  unrecognized_request_url: row('invalid_request_error', 404, 'not stored'),
  api_version_invalid: row('invalid_request_error', 400, 'not stored'),
  amount_too_small: row('invalid_request_error', 400, 'stored'),
  amount_too_large: row('invalid_request_error', 400, 'stored'),
  payment_method_unavailable: row('invalid_request_error', 400, 'stored'),
  payment_intent_unexpected_state: row('invalid_request_error', 400, 'stored'),
  payment_intent_busy: row('invalid_request_error', 409, 'not stored'),
  charge_unexpected_state: row('invalid_request_error', 400, 'stored'),
  refund_unsupported_payment_method: row('invalid_request_error', 400, 'stored'),
  url_not_allowed: row('invalid_request_error', 400, 'stored'),
  webhook_endpoint_limit_reached: row('invalid_request_error', 400, 'stored'),
  webhook_endpoints_busy: row('invalid_request_error', 409, 'not stored'),
  idempotency_key_missing: row('invalid_request_error', 400, 'not stored'),
  invalid_request: row('invalid_request_error', 400, 'stored'),
  api_key_missing: row('authentication_error', 401, 'not stored'),
  api_key_invalid: row('authentication_error', 401, 'not stored'),
  api_key_revoked: row('authentication_error', 401, 'not stored'),
  api_key_expired: row('authentication_error', 401, 'not stored'),
  authentication_required: row('authentication_error', 401, 'not stored'),
  secret_key_required: row('permission_error', 403, 'not stored'),
  live_mode_not_activated: row('permission_error', 403, 'not stored'),
  account_inactive: row('permission_error', 403, 'not stored'),
  test_mode_only: row('permission_error', 403, 'not stored'),
  permission_denied: row('permission_error', 403, 'not stored'),
  card_declined: row('card_error', 402, 'stored'),
  idempotency_key_reused: row('idempotency_error', 400, 'not stored'),
  idempotency_in_progress: row('idempotency_error', 409, 'not stored'),
  idempotency_error: row('idempotency_error', 400, 'not stored'),
  rate_limit_exceeded: row('rate_limit_error', 429, 'not stored'),
  test_daily_cap_reached: row('rate_limit_error', 429, 'not stored'),
  api_error: row('api_error', 500, 'not stored'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;
export const errorCodes = Object.keys(errors) as ErrorCode[];

/** The number of a code in messages between threads, from 1 on; 0 means "no error". */
export const errorNumbers: ReadonlyMap<ErrorCode, number> = new Map(
  errorCodes.map((code, i) => [code, i + 1]),
);

/** A refusal is a value, not an exception. `message` is more precise than the code's. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: MessageKey;
  /** The parameter at fault, as a path. */
  readonly param?: string;
  /** The values of the message's placeholders. */
  readonly values?: Values;
  readonly declineCode?: DeclineCode;
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
}

export function refuse(code: ErrorCode, more: Omit<Refusal, 'code'> = {}): Refusal {
  return { code, ...more };
}

/** The statuses of messages that differ from the one of their code. */
const messageStatuses: { readonly [K in MessageKey]?: number } = {
  'invalid_request.body_too_large': 413,
  'invalid_request.headers_too_large': 431,
  'api_error.unavailable': 503,
  'api_error.overloaded': 503,
  'api_error.network_unavailable': 503,
  'api_error.timeout': 503,
};

export function statusOf({ code, message }: Refusal): number {
  return (message === undefined ? undefined : messageStatuses[message]) ?? errors[code].status;
}

/** All statuses that a code can have; the one of its row comes first. */
export function statusesOf(code: ErrorCode): readonly number[] {
  const others = Object.entries(messageStatuses).filter(([key]) => key.startsWith(`${code}.`));
  return [...new Set([errors[code].status, ...others.map(([, status]) => status)])];
}

/** Whether it is stored for its idempotency key: never when it says when to try again. */
export function isStored({ code, retryAfterSeconds }: Refusal): boolean {
  return errors[code].stored && retryAfterSeconds === undefined;
}

/** The shard is being restarted or can't write now. The same request can succeed later. */
export const unavailable: Refusal = refuse('api_error', {
  message: 'api_error.unavailable',
  retryAfterSeconds: 1,
});

/** Too many requests wait already. This one was not run. */
export const overloaded: Refusal = refuse('api_error', {
  message: 'api_error.overloaded',
  retryAfterSeconds: 1,
});

/** No charge can be opened right now. */
export const networkUnavailable: Refusal = refuse('api_error', {
  message: 'api_error.network_unavailable',
  retryAfterSeconds: 1,
});

interface ErrorContext {
  readonly language: Language;
  readonly requestId: string;
  /** The public address of the service without a final slash. `doc_url` starts with it. */
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
