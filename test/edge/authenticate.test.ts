// Authentication: the two forms in which a key is sent, and when a key stops working.

import assert from 'node:assert/strict';
import crypto, { hash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { KeyRing, type KeyRingChange, type KnownKey } from '../../src/edge/api/authenticate.ts';
import { UsedKeys } from '../../src/edge/api/used-keys.ts';
import { createManualClock } from '../manual-clock.ts';

const nowMs = Date.UTC(2026, 10, 2, 12);
const org = 'org_1';
const texts = ['svc_sk_test_abc', 'svc_pk_test_abc', 'svc_sk_live_abc', 'svc_pk_live_abc'] as const;

function ringOf(
  organization: Partial<KeyRingChange['organization']> = {},
  key: Partial<KnownKey> = {},
): KeyRing {
  const ring = new KeyRing();
  ring.put({
    organization: { id: org, active: true, liveActivated: true, ...organization },
    keys: keysOf(key),
  });
  return ring;
}

function keysOf(key: Partial<KnownKey> = {}): KeyRingChange['keys'] {
  return texts.map((text) => ({
    id: `key_${text}`,
    digest: hash('sha256', text, 'hex'),
    org,
    livemode: text.includes('live'),
    secret: text.includes('_sk_'),
    revoked: false,
    expiresAtMs: null,
    ...key,
  }));
}

const secret = texts[0];
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The code of the refusal, or the organization of the key. */
function outcomeOf(ring: KeyRing, header: string | undefined, atMs = nowMs): string {
  const found = ring.authenticate(header, createManualClock(atMs).now);
  return 'refusal' in found ? found.refusal.code : found.org;
}

const forms: readonly (readonly [what: string, header: string | undefined, outcome: string])[] = [
  ['a bearer token', `Bearer ${secret}`, org],
  ['bearer in small letters', `bearer ${secret}`, org],
  ['BEARER in capitals', `BEARER ${secret}`, org],
  ['two spaces', `Bearer  ${secret}`, org],
  ['a space at the end', `Bearer ${secret} `, org],
  ['Basic with an empty password', `Basic ${base64(`${secret}:`)}`, org],
  ['basic in small letters', `basic ${base64(`${secret}:`)}`, org],
  ['Basic without padding', `Basic ${base64(`${secret}:`).replace(/=+$/, '')}`, org],
  ['nothing', undefined, 'api_key_missing'],
  ['an empty header', '', 'authentication_required'],
  ['a scheme without a key', 'Bearer', 'authentication_required'],
  ['a scheme and a space', 'Bearer ', 'authentication_required'],
  ['a key without a scheme', secret, 'authentication_required'],
  ['another scheme', `Digest ${secret}`, 'authentication_required'],
  ['a scheme that only starts right', `Bearerx ${secret}`, 'authentication_required'],
  ['a tab instead of a space', `Bearer\t${secret}`, 'authentication_required'],
  ['Basic that is not base64', 'Basic ???', 'authentication_required'],
  ['Basic without a colon', `Basic ${base64(secret)}`, 'authentication_required'],
  ['Basic with a password', `Basic ${base64(`${secret}:x`)}`, 'api_key_invalid'],
  ['Basic with a colon as the password', `Basic ${base64(`${secret}::`)}`, 'api_key_invalid'],
  ['Basic with the key as the password', `Basic ${base64(`:${secret}`)}`, 'api_key_invalid'],
  ['Basic with nothing', `Basic ${base64(':')}`, 'api_key_invalid'],
  ['a key that does not exist', 'Bearer svc_sk_test_abd', 'api_key_invalid'],
  ['the beginning of a key', `Bearer ${secret.slice(0, -1)}`, 'api_key_invalid'],
  ['a key and more', `Bearer ${secret}x`, 'api_key_invalid'],
  ['a key in capitals', `Bearer ${secret.toUpperCase()}`, 'api_key_invalid'],
  ['a key with a word behind it', `Bearer ${secret} x`, 'api_key_invalid'],
  ['the digest of a key', `Bearer ${hash('sha256', secret, 'hex')}`, 'api_key_invalid'],
  ['a name that every object has', 'Bearer constructor', 'api_key_invalid'],
];
for (const [what, header, outcome] of forms) {
  test(`${what}: ${outcome}`, () => assert.equal(outcomeOf(ringOf(), header), outcome));
}

const states: readonly (readonly [
  what: string,
  organization: Partial<KeyRingChange['organization']>,
  key: Partial<KnownKey>,
  test: string,
  live: string,
])[] = [
  ['an active account', {}, {}, org, org],
  ['live mode not activated', { liveActivated: false }, {}, org, 'live_mode_not_activated'],
  ['a suspended or closed account', { active: false }, {}, 'account_inactive', 'account_inactive'],
  ['neither', { active: false, liveActivated: false }, {}, 'account_inactive', 'account_inactive'],
  ['a revoked key', {}, { revoked: true }, 'api_key_revoked', 'api_key_revoked'],
  [
    'a revoked key of a closed account',
    { active: false },
    { revoked: true },
    'api_key_revoked',
    'api_key_revoked',
  ],
  ['a rolled key within its overlap', {}, { expiresAtMs: nowMs + 1 }, org, org],
  [
    'a rolled key at the end of its overlap',
    {},
    { expiresAtMs: nowMs },
    'api_key_expired',
    'api_key_expired',
  ],
  [
    'a rolled key that was revoked',
    {},
    { expiresAtMs: 0, revoked: true },
    'api_key_revoked',
    'api_key_revoked',
  ],
  [
    'an expired key of a closed account',
    { active: false },
    { expiresAtMs: 0 },
    'api_key_expired',
    'api_key_expired',
  ],
];
for (const [what, organization, key, inTest, inLive] of states) {
  for (const text of texts) {
    const outcome = text.includes('test') ? inTest : inLive;
    test(`${what}, ${text}: ${outcome}`, () => {
      assert.equal(outcomeOf(ringOf(organization, key), `Bearer ${text}`), outcome);
    });
  }
}

test('a key expires as time passes, and a change is in force at once', () => {
  const ring = ringOf({}, { expiresAtMs: nowMs + 60_000 });
  const header = `Bearer ${secret}`;
  assert.equal(outcomeOf(ring, header, nowMs + 59_999), org);
  assert.equal(outcomeOf(ring, header, nowMs + 60_000), 'api_key_expired');
  ring.put({ organization: { id: org, active: false, liveActivated: true }, keys: [] });
  assert.equal(outcomeOf(ring, header), 'account_inactive');
  ring.put({ organization: { id: org, active: true, liveActivated: true }, keys: [] });
  assert.equal(outcomeOf(ring, header), org);
});

test('a key that was used before is refused from the moment that it is revoked', () => {
  const ring = ringOf();
  const header = `Bearer ${secret}`;
  const { now } = createManualClock(nowMs);
  const key = ring.authenticate(header, now);
  assert.ok('org' in key);
  const digest = hash('sha256', secret, 'hex');
  const organization = { id: org, active: true, liveActivated: true };
  ring.put({ organization, keys: [{ ...key, digest, revoked: true }] });
  assert.equal(outcomeOf(ring, header), 'api_key_revoked');
});

test('a use of a key is told once a minute, also when the keys are put again meanwhile', () => {
  const ring = ringOf();
  const used = new UsedKeys();
  const use = (monotonicMs: number) => {
    const key = ring.authenticate(`Bearer ${secret}`, () => nowMs);
    assert.ok('tellAtMs' in key);
    used.note(key, monotonicMs, nowMs + monotonicMs);
    return used.take().map(({ key, atMs }) => [key, atMs - nowMs]);
  };
  const { id } = keysOf().find(({ digest }) => digest === hash('sha256', secret, 'hex'))!;
  assert.deepEqual(use(5), [[id, 5]]);
  assert.deepEqual(use(6), []);
  ring.put({ organization: { id: org, active: true, liveActivated: true }, keys: keysOf() });
  assert.deepEqual(use(60_004), []);
  assert.deepEqual(use(60_005), [[id, 60_005]]);
});

test('a refused key is told by its id, or by its public start and the start of its digest', () => {
  const { now } = createManualClock(nowMs);
  const refusedOf = (ring: KeyRing, text: string) => {
    const found = ring.authenticate(`Bearer ${text}`, now);
    assert.ok('refusal' in found);
    return [found.refusal.code, found.key?.id, found.prefix, found.digest];
  };
  assert.deepEqual(refusedOf(ringOf({}, { revoked: true }), secret), [
    'api_key_revoked',
    `key_${secret}`,
    null,
    null,
  ]);
  for (const [text, prefix] of [
    ['svc_sk_live_wrong', 'svc_sk_live_'],
    ['hunter2', null],
  ] as const) {
    const digest = hash('sha256', text, 'hex').slice(0, 8);
    assert.deepEqual(refusedOf(ringOf(), text), ['api_key_invalid', undefined, prefix, digest]);
  }
});

test('a key tells its mode and its kind', () => {
  const ring = ringOf();
  const { now } = createManualClock(nowMs);
  for (const text of texts) {
    const found = ring.authenticate(`Bearer ${text}`, now);
    assert.ok('org' in found);
    assert.deepEqual([found.livemode, found.secret], [text.includes('live'), text.includes('_sk_')]);
  }
});

test('a header that was seen is known without its digest, unless it is so long that many would take much memory', (context) => {
  const { mock } = context.mock.method(crypto, 'hash');
  syncBuiltinESMExports();
  const ring = ringOf();
  for (const [spaces, digests] of [
    [1, 1],
    [256 - 'Bearer'.length - secret.length, 1],
    [257 - 'Bearer'.length - secret.length, 2],
  ] as const) {
    mock.resetCalls();
    const header = `Bearer${' '.repeat(spaces)}${secret}`;
    for (let i = 0; i < 2; i++) assert.equal(outcomeOf(ring, header), org);
    assert.equal(mock.callCount(), digests, `${header.length} characters`);
  }
  context.mock.restoreAll();
  syncBuiltinESMExports();
});
