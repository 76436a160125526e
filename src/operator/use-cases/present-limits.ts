// Rate limits and requests for higher ones as operators' commands answer them.

import type { Bucket } from '../../contract/limits.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import {
  type LimitRequest,
  type LimitRequestState,
  type RequestedMode,
  stateOf,
} from '../../directory/limit-request.ts';
import type { Organization } from '../../directory/organization.ts';
import { type LimitInForce, limitsInForce } from '../../domain/limits-in-force.ts';
import { isoTime } from './iso-time.ts';

export interface PresentedLimit {
  readonly per_minute: number;
  readonly burst: number;
  readonly source: LimitInForce['source'];
  readonly until: string | null;
}

export interface PresentedLimits {
  readonly organization: string;
  readonly limits: Readonly<Record<Mode, Readonly<Record<Bucket, PresentedLimit>>>>;
  /** Test mode's daily cap. */
  readonly test_daily: { readonly requests: number; readonly payment_creations: number };
}

export function presentLimits(organization: Organization, nowMs: number): PresentedLimits {
  const presented = modes.map((mode) => {
    const { buckets } = limitsInForce(organization.limits[mode], mode, nowMs);
    const rows = Object.entries(buckets).map(([bucket, { perMinute, burst, source, untilMs }]) => {
      return [bucket, { per_minute: perMinute, burst, source, until: isoTime(untilMs) }];
    });
    return [mode, Object.fromEntries(rows)];
  });
  const daily = limitsInForce(organization.limits.test, 'test', nowMs).daily!;
  return {
    organization: organization.id,
    limits: Object.fromEntries(presented),
    test_daily: { requests: daily.requests, payment_creations: daily.paymentCreations },
  };
}

export interface PresentedLimitRequest {
  readonly id: string;
  readonly organization: string;
  readonly bucket: Bucket;
  readonly mode: RequestedMode;
  readonly per_minute: number;
  readonly until: string | null;
  readonly reason: string;
  readonly by: string;
  readonly created: string;
  readonly state: LimitRequestState;
  readonly decided: string | null;
  /** Null unless the request was approved. */
  readonly granted: { readonly per_minute: number; readonly until: string | null } | null;
  readonly note: string | null;
}

export function presentLimitRequest(organization: string, request: LimitRequest): PresentedLimitRequest {
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
