// The results of operators' commands, which `--json` prints: in snake_case like the API, with times
// in ISO 8601, without the digests of keys. Only the commands about secrets show secrets.

import { type Mode, modeOf, type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { type Clock, type Now, wallMsOf } from '../../core/clock.ts';
import type { SecretBox } from '../../crypto/secret-box.ts';
import { type ApiKey, keyStatus } from '../../directory/api-key.ts';
import type { Directory } from '../../directory/directory.ts';
import { type LimitRequest, stateOf } from '../../directory/limit-request.ts';
import type { Methods, Organization } from '../../directory/organization.ts';
import { activeLimits } from '../../domain/active-limits.ts';
import type { Cause } from '../../domain/cause.ts';
import type {
  AttemptResult,
  DeliveryRecord,
  ReviewRecord,
  WebhookEndpointRecord,
} from '../../domain/record.ts';
import { availableIn } from '../../networks/connectors.ts';
import type { EndpointNow } from '../../shard/endpoint-health.ts';

export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function byMode<T>(valueIn: (mode: Mode) => T): Readonly<Record<Mode, T>> {
  return { test: valueIn('test'), live: valueIn('live') };
}

export type PresentedOrganization = ReturnType<typeof presentOrganization>;

export function presentOrganization(organization: Organization) {
  const { id, name, status, liveActivated, apiVersion, created, methods, connectors } = organization;
  const isAvailable = (mode: Mode, method: PaymentMethodType) => availableIn(connectors, mode)[method];
  return {
    id,
    name,
    status,
    live_activated: liveActivated,
    api_version: apiVersion,
    created: isoTime(created * 1000),
    methods: byMode(
      (mode): Methods => ({
        card: methods[mode].card && isAvailable(mode, 'card'),
        cash: methods[mode].cash && isAvailable(mode, 'cash'),
      }),
    ),
    // Methods that are switched on and have no network, so they can't be used.
    without_network: byMode((mode) =>
      paymentMethodTypes.filter((method) => methods[mode][method] && !isAvailable(mode, method)),
    ),
  };
}

/** Who makes a key or a link, as the directory notes it. */
export function makerOf(author: Cause): string {
  return author.by === 'member' && author.name !== null ? author.name : 'operator';
}

export type PresentedKey = ReturnType<typeof presentKey>;

export function presentKey(
  key: ApiKey,
  { directory, now }: { readonly directory: Directory; readonly now: Clock },
) {
  return {
    id: key.id,
    name: key.name,
    organization: key.org,
    mode: key.mode,
    kind: key.kind,
    // The key's last four characters.
    hint: key.hint,
    status: keyStatus(key, now()),
    created: isoTime(key.created * 1000),
    // A key that is used all the time is noted once a minute.
    last_used: isoTime(directory.keyUses.lastMs(key.id)),
    expires: isoTime(key.expiresAtMs),
    revoked: isoTime(key.revokedAtMs),
    rolled_to: key.rolledTo,
    // A member's id, or `operator`; null in one of version 0.1.0.
    made_by: key.madeBy,
  };
}

export function presentReview(review: ReviewRecord) {
  const { id, org, livemode, created, open, reason, payment_intent, charge } = review;
  const { amount_expected, amount_received, currency_received, closed_reason } = review;
  return {
    id,
    organization: org,
    mode: modeOf(livemode),
    created: isoTime(created * 1000),
    open,
    reason,
    payment_intent,
    charge,
    amount_expected,
    amount_received,
    currency_received,
    closed_reason,
  };
}

export function presentLimits({ id, limits }: Organization, nowMs: number) {
  const bucketsIn = (mode: Mode) => {
    const { buckets } = activeLimits(limits[mode], mode, nowMs);
    const rows = Object.entries(buckets).map(([bucket, { perMinute, burst, source, untilMs }]) => {
      const limit = { per_minute: perMinute, burst, source, until: isoTime(untilMs) };
      return [bucket, limit] as const;
    });
    return Object.fromEntries(rows);
  };
  const daily = defined(activeLimits(limits.test, 'test', nowMs).daily, 'test mode has a daily cap');
  return {
    organization: id,
    limits: byMode(bucketsIn),
    test_daily: { requests: daily.requests, payment_creations: daily.paymentCreations },
  };
}

export type PresentedLimitRequest = ReturnType<typeof presentLimitRequest>;

export function presentLimitRequest(organization: string, request: LimitRequest) {
  const { id, bucket, mode, perMinute, untilMs, reason, by, createdMs, decision } = request;
  const granted = decision?.granted ?? null;
  return {
    id,
    organization,
    bucket,
    mode,
    per_minute: perMinute,
    until: isoTime(untilMs),
    reason,
    by,
    created: isoTime(createdMs),
    state: stateOf(request),
    decided: isoTime(decision?.atMs ?? null),
    granted: granted && { per_minute: granted.perMinute, until: isoTime(granted.untilMs) },
    note: decision?.note ?? null,
  };
}

export type PresentedEndpoint = ReturnType<typeof presentEndpoint>;

export function presentEndpoint(endpoint: WebhookEndpointRecord, now: EndpointNow | undefined) {
  const { id, org, livemode, url, status, enabled_events, api_version, created } = endpoint;
  return {
    id,
    organization: org,
    mode: modeOf(livemode),
    url,
    status,
    enabled_events,
    api_version,
    created: isoTime(created * 1000),
    failing_since: isoTime(now?.health?.failingSinceMs ?? null),
    next_attempt: isoTime(now?.nextAttemptMs ?? null),
    last_status: now?.health?.lastStatus ?? null,
    attempts_24h: now?.health?.attempts ?? 0,
    failed_24h: now?.health?.failed ?? 0,
    median_ms: now?.health?.medianMs ?? null,
  };
}

export type PresentedDelivery = ReturnType<typeof presentDelivery>;

export function presentDelivery(delivery: DeliveryRecord, now: Now) {
  const { id, endpoint, event, event_type, status, attempt_count, due_at_ms, created } = delivery;
  return {
    id,
    endpoint,
    event,
    type: event_type,
    status,
    attempts: attempt_count,
    next_attempt: due_at_ms === null ? null : isoTime(wallMsOf(due_at_ms, now)),
    created: isoTime(created * 1000),
  };
}

/** A first attempt that succeeded has no record and no id. An answer that is not kept is null. */
export function presentAttempt(attempt: AttemptResult & { readonly id?: string }) {
  const { id = null, at_ms, duration_ms, status, failure, answer } = attempt;
  return { id, at: isoTime(at_ms), duration_ms, status, failure, answer };
}

/** The active signing secrets, newest first, each with the time when it stops signing. */
export function presentSecrets(
  { id, org, secrets }: WebhookEndpointRecord,
  nowMs: number,
  box: Pick<SecretBox, 'open'>,
) {
  return secrets
    .filter(({ expires_at_ms: endMs }) => endMs === null || endMs > nowMs)
    .map(({ sealed, expires_at_ms: endMs }) => ({
      secret: box.open(sealed, { id, org }),
      expires: isoTime(endMs),
    }));
}
