import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LimitWish } from '../../src/directory/limit-request.ts';
import { approve, deny, withLimitRequest } from '../../src/directory/limit-requests.ts';
import { close, newOrganization, storedOrganization } from '../../src/directory/organization.ts';
import { DirectoryRefusal } from '../../src/directory/refusal.ts';
import { activeLimits } from '../../src/domain/active-limits.ts';

const nowMs = 1_793_491_200_000;
const fresh = newOrganization('org_1', 'Souk', nowMs);
const wish: LimitWish = { bucket: 'all', mode: 'both', perMinute: 5_000, untilMs: null, reason: ' Ramadan ' };

let count = 0;
const ask = (organization = fresh, changed: Partial<LimitWish> = {}) =>
  withLimitRequest(
    organization,
    { ...wish, ...changed },
    { id: `lrq_${++count}`, by: 'amina@souk.ma' },
    nowMs,
  );

const limitOf = (organization: typeof fresh, mode: 'test' | 'live') =>
  activeLimits(organization.limits[mode], mode, nowMs).buckets.all;

test('a request changes no limit until it is approved, and then in each of its modes', () => {
  const asked = ask();
  const [request] = asked.limitRequests;
  assert.deepEqual([request!.reason, request!.by, request!.decision], ['Ramadan', 'amina@souk.ma', null]);
  assert.equal(limitOf(asked, 'live').perMinute, 1_200);
  const approved = approve(asked, request!.id, {}, 'Good luck', nowMs + 1);
  for (const mode of ['test', 'live'] as const) {
    const { perMinute, source } = limitOf(approved, mode);
    assert.deepEqual([perMinute, source], [5_000, 'custom']);
  }
  const granted = { perMinute: 5_000, untilMs: null };
  assert.deepEqual(approved.limitRequests[0]!.decision, { atMs: nowMs + 1, granted, note: 'Good luck' });
});

test('what was decided is decided once, and how is told', () => {
  const asked = ask();
  const { id } = asked.limitRequests[0]!;
  const again = (decided: typeof fresh) => () => approve(decided, id, {}, '', nowMs);
  assert.throws(again(approve(asked, id, {}, '', nowMs)), { message: `request ${id} was approved already` });
  assert.throws(again(deny(asked, id, 'No', nowMs)), { message: `request ${id} was denied already` });
});

test('as much may be asked for as any limit can be', () => {
  const perMinute = 1_000_000_000;
  const asked = ask(fresh, { perMinute });
  const approved = approve(asked, asked.limitRequests[0]!.id, {}, '', nowMs);
  assert.equal(limitOf(approved, 'live').perMinute, perMinute);
});

test('an operator can grant another value and end than was asked for', () => {
  const asked = ask(fresh, { mode: 'live' });
  const untilMs = nowMs + 86_400_000;
  const approved = approve(asked, asked.limitRequests[0]!.id, { perMinute: 2_000, untilMs }, '', nowMs);
  assert.deepEqual(
    [limitOf(approved, 'live').perMinute, limitOf(approved, 'live').untilMs],
    [2_000, untilMs],
  );
  assert.equal(limitOf(approved, 'test').source, 'default');
});

test('a denied request leaves the limits, and another one may follow', () => {
  const asked = ask();
  const denied = deny(asked, asked.limitRequests[0]!.id, 'Not now', nowMs);
  assert.deepEqual(denied.limits, fresh.limits);
  assert.equal(ask(denied).limitRequests.length, 2);
});

describe('refused', () => {
  const asked = ask();
  const { id } = asked.limitRequests[0]!;
  const rows: [what: string, () => unknown, code: string | null][] = [
    ['a second one for the same bucket and modes', () => ask(asked), 'request_open'],
    ['one for a mode that an open one covers', () => ask(asked, { mode: 'test' }), 'request_open'],
    ['one for both when one of them is open', () => ask(ask(fresh, { mode: 'live' })), 'request_open'],
    ['the limit in force', () => ask(fresh, { mode: 'live', perMinute: 1_200 }), 'limit_not_higher'],
    ['more for one mode, less for the other', () => ask(fresh, { perMinute: 1_000 }), 'limit_not_higher'],
    ['more than any limit', () => ask(fresh, { perMinute: 1_000_000_001 }), 'limit_not_higher'],
    ['an end that has passed', () => ask(fresh, { untilMs: nowMs }), 'end_passed'],
    ['no reason', () => ask(fresh, { reason: ' \n' }), 'reason_missing'],
    ['a long reason', () => ask(fresh, { reason: 'x'.repeat(1_001) }), 'text_invalid'],
    ['a card number', () => ask(fresh, { reason: '4242 4242 4242 4242' }), 'text_invalid'],
    ['a control character', () => ask(fresh, { reason: 'a\u0007' }), 'text_invalid'],
    ['of a closed organization', () => ask(close(fresh)), null],
    ['an approval of what does not exist', () => approve(asked, 'lrq_x', {}, '', nowMs), null],
    ['a decision on what was decided', () => deny(deny(asked, id, 'No', nowMs), id, 'No', nowMs), null],
    ['an approval after the end', () => approve(asked, id, { untilMs: nowMs }, '', nowMs), 'end_passed'],
  ];
  for (const [what, act, code] of rows) {
    test(what, () => {
      assert.throws(act, (error) => error instanceof DirectoryRefusal && error.code === code);
    });
  }
});

test('a reason has lines, and nothing that is not seen', () => {
  assert.equal(ask(fresh, { reason: 'one\ntwo' }).limitRequests[0]!.reason, 'one\ntwo');
  for (const reason of ['a\u202eb', 'a\u0007', '\u2066a'])
    assert.throws(() => ask(fresh, { reason }), { code: 'text_invalid' });
});

test('another bucket, or the other mode, may be asked for meanwhile', () => {
  const two = ask(ask(fresh, { mode: 'live' }), { mode: 'test' });
  assert.equal(ask(two, { bucket: 'writes' }).limitRequests.length, 3);
});

test('open requests are kept, and the newest twenty of the others', () => {
  let organization = ask(fresh, { bucket: 'search' });
  for (let i = 0; i < 25; i++) {
    organization = ask(organization);
    organization = deny(organization, organization.limitRequests[0]!.id, 'No', nowMs);
  }
  assert.equal(ask(organization).limitRequests.length, 22);
});

test('an organization that was stored before there were requests has none', () => {
  const { limitRequests: _, ...stored } = fresh;
  assert.deepEqual(storedOrganization(stored), fresh);
});
