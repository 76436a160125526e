// The error table: one row a code, with its type, its HTTP status, and whether it is kept with an idempotency key. Messages are in messages.ts, keyed by the same
// codes. Whoever refuses something names a code of this table; nothing else in the service knows a status.

import { format, type MessageKey } from '../messages/table.ts';
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
  /** Whether the refusal is kept with its idempotency key, as the result of the request. */
  readonly kept: boolean;
}

const row = (type: ErrorType, status: number, kept: 'kept' | 'not kept'): ErrorRow => ({
  type,
  status,
  kept: kept === 'kept',
});

/**
 * One row a code. Refusals on the merits are kept. Not kept are refusals of a request before it runs, those of a
 * parameter wherever it is found out (the corrected request may use the same key), and those that say to try again.
 */

export const errors = {
  parameter_missing: row('invalid_request_error', 400, 'not kept'),
  parameter_unknown: row('invalid_request_error', 400, 'not kept'),
  parameter_invalid: row('invalid_request_error', 400, 'not kept'),
  resource_missing: row('invalid_request_error', 404, 'kept'),
  unrecognized_request_url: row('invalid_request_error', 404, 'not kept'),
  api_version_invalid: row('invalid_request_error', 400, 'not kept'),
  amount_too_small: row('invalid_request_error', 400, 'kept'),
  amount_too_large: row('invalid_request_error', 400, 'kept'),
  payment_method_unavailable: row('invalid_request_error', 400, 'kept'),
  payment_intent_unexpected_state: row('invalid_request_error', 400, 'kept'),
  payment_intent_busy: row('invalid_request_error', 409, 'not kept'),
  charge_unexpected_state: row('invalid_request_error', 400, 'kept'),
  refund_unsupported_payment_method: row('invalid_request_error', 400, 'kept'),
  url_not_allowed: row('invalid_request_error', 400, 'kept'),
  webhook_endpoint_limit_reached: row('invalid_request_error', 400, 'kept'),
  webhook_endpoints_busy: row('invalid_request_error', 409, 'not kept'),
  idempotency_key_missing: row('invalid_request_error', 400, 'not kept'),
  invalid_request: row('invalid_request_error', 400, 'kept'),
  api_key_missing: row('authentication_error', 401, 'not kept'),
  api_key_invalid: row('authentication_error', 401, 'not kept'),
  api_key_revoked: row('authentication_error', 401, 'not kept'),
  api_key_expired: row('authentication_error', 401, 'not kept'),
  authentication_required: row('authentication_error', 401, 'not kept'),
  secret_key_required: row('permission_error', 403, 'not kept'),
  live_mode_not_activated: row('permission_error', 403, 'not kept'),
  account_inactive: row('permission_error', 403, 'not kept'),
  test_mode_only: row('permission_error', 403, 'not kept'),
  permission_denied: row('permission_error', 403, 'not kept'),
  card_declined: row('card_error', 402, 'kept'),
  idempotency_key_reused: row('idempotency_error', 400, 'not kept'),
  idempotency_in_progress: row('idempotency_error', 409, 'not kept'),
  idempotency_error: row('idempotency_error', 400, 'not kept'),
  rate_limit_exceeded: row('rate_limit_error', 429, 'not kept'),
  test_daily_cap_reached: row('rate_limit_error', 429, 'not kept'),
  api_error: row('api_error', 500, 'not kept'),
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
}

export function refuse(code: ErrorCode, more: Omit<Refusal, 'code'> = {}): Refusal {
  return { code, ...more };
}

/** The statuses of the messages that don't have their code's own: a failure that passes, and requests too large to be read. */
const messageStatuses: { readonly [K in MessageKey]?: number } = {
  'invalid_request.body_too_large': 413,
  'invalid_request.headers_too_large': 431,
  'api_error.unavailable': 503,
  'api_error.network_unavailable': 503,
  'api_error.timeout': 503,
};

export function statusOf({ code, message }: Refusal): number {
  return (message === undefined ? undefined : messageStatuses[message]) ?? errors[code].status;
}

/** All statuses that a code can have, its own first. */
export function statusesOf(code: ErrorCode): readonly number[] {
  const others = Object.entries(messageStatuses).filter(([key]) => key.startsWith(`${code}.`));
  return [...new Set([errors[code].status, ...others.map(([, status]) => status)])];
}

/** Whether a refusal is kept with its idempotency key: as its code says, unless it says when to try again. */
export function isKept({ code, retryAfterSeconds }: Refusal): boolean {
  return errors[code].kept && retryAfterSeconds === undefined;
}

/** The part of the service that owns the data is being restarted, or can't write now: the same request will do later. */
export const unavailable: Refusal = refuse('api_error', {
  message: 'api_error.unavailable',
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
