// The options of a shard that runs alone, in tests and in the bench: an organization that reaches
// no limit, all payment methods, no networks, and observers that do nothing.

import { randomFillSync } from 'node:crypto';
import { systemScheduler, systemTimers } from '../../src/core/scheduler.ts';
import type { Journal } from '../../src/journal/journal.ts';
import type { ShardAccount } from '../../src/shard/account.ts';
import { memoryShares, shardMibMin } from '../../src/shard/memory.ts';
import type { ShardOptions } from '../../src/shard/shard-options.ts';
import { systemClocks } from '../../src/telemetry/system-clocks.ts';

export const org = 'org_000000000000000000000001';

const on = { card: true, cash: true };

/** An organization with so many requests a minute and a day, in each bucket. */
export function accountOf(requests: number, more: Partial<ShardAccount> = {}): ShardAccount {
  const limit = { perMinute: requests, source: 'custom', untilMs: null } as const;
  const limits = {
    buckets: { all: limit, writes: limit, payment_creation: limit, search: limit },
    dailyRequests: requests,
    dailyPaymentCreations: requests,
  };
  return {
    id: org,
    name: 'Shop',
    branding: { colour: null, logoUrl: null },
    created: 0,
    apiVersion: '2026-11-01',
    methods: { test: on, live: on },
    limits: { test: limits, live: limits },
    ...more,
  };
}

/** Time runs by the system's clocks, and a failure is thrown, unless `more` says otherwise. */
export function shardOptions(journal: Journal, more: Partial<ShardOptions> = {}): ShardOptions {
  return {
    journal,
    settings: {
      baseUrl: 'https://pay.test',
      cardPageMs: 1_800_000,
      cashCodeMs: 259_200_000,
      webhookRetryMs: [5_000],
      attemptsKeptMax: 256,
      answersKeptMax: 64,
    },
    availability: () => ({ ...on, cardPage: 'own', agents: null }),
    fillRandom: (bytes) => void randomFillSync(bytes),
    secrets: { seal: (secret) => `sealed ${secret}` },
    memory: memoryShares(shardMibMin),
    webhookThreads: 1,
    clocks: systemClocks(),
    scheduler: systemScheduler,
    timers: systemTimers,
    clockObserver: { jumped() {}, followed() {} },
    checkpointIntervalMs: 10_000,
    callNetwork: () => {},
    checkAddress: () => Promise.resolve(true),
    deliveryRetentionMs: 30 * 86_400_000,
    eventRetentionMs: 30 * 86_400_000,
    observer: { batchEnded() {}, committed() {}, checkpointed() {}, attempted() {}, stalled() {} },
    onDamage: () => {},
    onVisitFailed: (error) => {
      throw error;
    },
    onFailure: (error) => {
      throw error;
    },
    ...more,
  };
}
