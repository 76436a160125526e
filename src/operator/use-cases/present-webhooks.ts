// Webhook endpoints, deliveries and attempts as operators' commands answer them. Only the commands about secrets show
// secrets.

import { type Mode, modeOf } from '../../contract/vocabulary.ts';
import type { SecretBox } from '../../crypto/secret-box.ts';
import type { AttemptResult, DeliveryRecord, WebhookEndpointRecord } from '../../domain/record.ts';
import { isoTime } from './iso-time.ts';

export interface PresentedEndpoint {
  readonly id: string;
  readonly organization: string;
  readonly mode: Mode;
  readonly url: string;
  readonly status: WebhookEndpointRecord['status'];
  readonly enabled_events: readonly string[];
  readonly api_version: string;
  readonly created: string;
}

export function presentEndpoint(endpoint: WebhookEndpointRecord): PresentedEndpoint {
  const { id, org, livemode, url, status, enabled_events, api_version, created } = endpoint;
  const mode = modeOf(livemode);
  return {
    id,
    organization: org,
    mode,
    url,
    status,
    enabled_events,
    api_version,
    created: isoTime(created * 1000),
  };
}

export interface PresentedDelivery {
  readonly id: string;
  readonly endpoint: string;
  readonly event: string;
  readonly type: string;
  readonly status: DeliveryRecord['status'];
  readonly attempts: number;
  /** When the next attempt is due; now, when that time has passed. */
  readonly next_attempt: string | null;
  readonly created: string;
}

export function presentDelivery(delivery: DeliveryRecord, nowMs: number): PresentedDelivery {
  const { id, endpoint, event, event_type, status, attempt_count, due_at_ms, created } = delivery;
  return {
    id,
    endpoint,
    event,
    type: event_type,
    status,
    attempts: attempt_count,
    next_attempt: due_at_ms === null ? null : isoTime(Math.max(due_at_ms, nowMs)),
    created: isoTime(created * 1000),
  };
}

export interface PresentedAttempt {
  /** Null: the first attempt, which succeeded and has no record. */
  readonly id: string | null;
  readonly at: string;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly failure: string | null;
  /** Null when it is not kept. */
  readonly answer: string | null;
}

export function presentAttempt(attempt: AttemptResult & { readonly id?: string }): PresentedAttempt {
  const { id = null, at_ms, duration_ms, status, failure, answer } = attempt;
  return { id, at: isoTime(at_ms), duration_ms, status, failure, answer };
}

export interface PresentedSecret {
  readonly secret: string;
  /** When it stops signing; null: it does not end. */
  readonly expires: string | null;
}

/** The secrets in force, newest first, opened by `box`. */
export function presentSecrets(
  { id, org, secrets }: WebhookEndpointRecord,
  nowMs: number,
  box: Pick<SecretBox, 'open'>,
): PresentedSecret[] {
  return secrets
    .filter(({ expires_at_ms: endMs }) => endMs === null || endMs > nowMs)
    .map(({ sealed, expires_at_ms: endMs }) => ({
      secret: box.open(sealed, { id, org }),
      expires: isoTime(endMs),
    }));
}
