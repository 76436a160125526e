// The rate limits that apply to an organization in a mode: its overrides until they end, else the
// defaults.

import { type Bucket, buckets, defaultDailyCap, defaultLimits } from '../contract/limits.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { tableOf } from '../core/tables.ts';
import { burstOf } from '../core/token-bucket.ts';

/** A limit of the organization's own; without one, or once it has ended, the default applies. */
export interface BucketOverride {
  readonly perMinute: number;
  readonly source: 'plan' | 'custom';
  /** Unix milliseconds; null: no end. */
  readonly untilMs: number | null;
}

/**
 * The limits that differ from the defaults, in one mode. The daily cap exists in test mode only.
 */
export interface LimitsOverrides {
  readonly buckets: Readonly<Record<Bucket, BucketOverride | null>>;
  readonly dailyRequests: number | null;
  readonly dailyPaymentCreations: number | null;
}

/** A bucket's active limit. */
export interface ActiveLimit {
  readonly perMinute: number;
  readonly burst: number;
  readonly source: 'default' | 'plan' | 'custom';
  /** Unix milliseconds; null: no end. */
  readonly untilMs: number | null;
}

export interface ActiveLimits {
  readonly buckets: Readonly<Record<Bucket, ActiveLimit>>;
  /** Requests and payment creations a day; null in live mode, which has no daily cap. */
  readonly daily: { readonly requests: number; readonly paymentCreations: number } | null;
}

/** The limits that apply in a mode at a time. */
export function activeLimits(overrides: LimitsOverrides, mode: Mode, nowMs: number): ActiveLimits {
  const activeLimit = (bucket: Bucket): ActiveLimit => {
    const override = overrides.buckets[bucket];
    const { perMinute, source, untilMs } =
      override !== null && (override.untilMs === null || override.untilMs > nowMs)
        ? override
        : { perMinute: defaultLimits[mode][bucket], source: 'default' as const, untilMs: null };
    return { perMinute, burst: burstOf(perMinute), source, untilMs };
  };
  return {
    buckets: tableOf(buckets, activeLimit),
    daily:
      mode === 'live'
        ? null
        : {
            requests: overrides.dailyRequests ?? defaultDailyCap.requests,
            paymentCreations: overrides.dailyPaymentCreations ?? defaultDailyCap.payment_creations,
          },
  };
}
