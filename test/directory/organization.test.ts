import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  activate,
  close,
  newOrganization,
  type Organization,
  reinstate,
  suspend,
  withDailyCap,
  withLimit,
  withMethods,
  withoutLimits,
  withReceipts,
} from '../../src/directory/organization.ts';
import { DirectoryRefusal } from '../../src/directory/refusal.ts';
import { activeLimits } from '../../src/domain/active-limits.ts';

const nowMs = 1_793_491_200_500;
const fresh = newOrganization('org_1', ' Souk ', nowMs);

test('a new organization works in test mode only', () => {
  assert.equal(fresh.name, 'Souk');
  assert.equal(fresh.created, 1_793_491_200);
  assert.equal(fresh.status, 'active');
  assert.equal(fresh.liveActivated, false);
  assert.equal(fresh.apiVersion, '2026-11-01');
  assert.deepEqual(fresh.methods, { test: { card: true, cash: true }, live: { card: false, cash: false } });
});

describe('names', () => {
  const names: [name: string, accepted: boolean][] = [
    ['x', true],
    ['ا'.repeat(255), true],
    ['😀'.repeat(255), true],
    ['x'.repeat(256), false],
    ['  ', false],
    ['', false],
    ['a\nb', false],
    ['سوق الحرفيين', true],
    ['Souk\u202egnp', false],
    ['\u2066Souk\u2069', false],
    ['Souk\u200f', false],
    ['So\u200buk', false],
  ];
  for (const [name, accepted] of names) {
    test(`${JSON.stringify(name.slice(0, 12))} (${name.length})`, () => {
      if (accepted) newOrganization('org_1', name, nowMs);
      else assert.throws(() => newOrganization('org_1', name, nowMs), DirectoryRefusal);
    });
  }
});

describe('states', () => {
  const rows: [from: Organization['status'], rule: (o: Organization) => Organization, to: string][] = [
    ['active', activate, 'active'],
    ['active', suspend, 'suspended'],
    ['active', reinstate, 'active'],
    ['active', close, 'closed'],
    ['suspended', activate, 'suspended'],
    ['suspended', suspend, 'suspended'],
    ['suspended', reinstate, 'active'],
    ['suspended', close, 'closed'],
    ['closed', activate, 'refused'],
    ['closed', suspend, 'refused'],
    ['closed', reinstate, 'refused'],
    ['closed', close, 'closed'],
    ['closed', (o) => withMethods(o, 'test', { card: false }), 'refused'],
    ['closed', (o) => withoutLimits(o, 'test'), 'refused'],
    ['closed', (o) => withReceipts(o, 'fr'), 'refused'],
  ];
  for (const [from, rule, to] of rows) {
    test(`${from}, ${rule.name || 'a setting'}: ${to}`, () => {
      const given: Organization = { ...fresh, status: from };
      if (to === 'refused') assert.throws(() => rule(given), DirectoryRefusal);
      else assert.equal(rule(given).status, to);
      assert.equal(given.status, from, 'the given value is untouched');
    });
  }

  test('activation and suspension are independent', () => {
    assert.equal(suspend(activate(fresh)).liveActivated, true);
    assert.equal(activate(fresh).liveActivated, true);
  });
});

test('receipts are sent in a language, or none are', () => {
  const withFrench = withReceipts(fresh, 'fr');
  assert.deepEqual(withFrench, { ...fresh, receipts: 'fr' });
  assert.deepEqual(withReceipts(withFrench, null), { ...fresh, receipts: null });
});

test('withMethods changes what is named', () => {
  const changed = withMethods(fresh, 'live', { card: true });
  assert.deepEqual(changed.methods, { test: { card: true, cash: true }, live: { card: true, cash: false } });
});

describe('limits', () => {
  const until = nowMs + 1000;
  const limited = withLimit(
    fresh,
    'live',
    'writes',
    { perMinute: 900, source: 'plan', untilMs: until },
    nowMs,
  );

  test('defaults', () => {
    const { buckets, daily } = activeLimits(fresh.limits.test, 'test', nowMs);
    assert.deepEqual(buckets.all, { perMinute: 600, burst: 100, source: 'default', untilMs: null });
    assert.deepEqual(buckets.search, { perMinute: 30, burst: 5, source: 'default', untilMs: null });
    assert.deepEqual(daily, { requests: 10_000, paymentCreations: 1_000 });
    assert.equal(activeLimits(fresh.limits.live, 'live', nowMs).buckets.all.perMinute, 1200);
    assert.equal(activeLimits(fresh.limits.live, 'live', nowMs).daily, null);
  });

  test("a limit of the organization's own holds in its mode and bucket until its end", () => {
    assert.deepEqual(activeLimits(limited.limits.live, 'live', until - 1).buckets.writes, {
      perMinute: 900,
      burst: 150,
      source: 'plan',
      untilMs: until,
    });
    assert.equal(activeLimits(limited.limits.live, 'live', until).buckets.writes.source, 'default');
    assert.equal(activeLimits(limited.limits.live, 'live', nowMs).buckets.all.source, 'default');
    assert.equal(activeLimits(limited.limits.test, 'test', nowMs).buckets.writes.source, 'default');
  });

  test('an end in the past is refused', () => {
    const limit = { perMinute: 1, source: 'custom', untilMs: nowMs } as const;
    assert.throws(() => withLimit(fresh, 'test', 'all', limit, nowMs), DirectoryRefusal);
  });

  test('the daily cap is set by halves, in test mode only', () => {
    const capped = withDailyCap(withDailyCap(fresh, 'test', { requests: 5 }), 'test', {
      paymentCreations: 2,
    });
    assert.deepEqual(activeLimits(capped.limits.test, 'test', nowMs).daily, {
      requests: 5,
      paymentCreations: 2,
    });
    assert.throws(() => withDailyCap(fresh, 'live', { requests: 5 }), DirectoryRefusal);
    assert.deepEqual(withoutLimits(capped, 'test'), fresh);
  });

  test('withoutLimits resets one mode', () => {
    assert.deepEqual(withoutLimits(limited, 'test'), limited);
    assert.deepEqual(withoutLimits(limited, 'live'), fresh);
  });
});
