import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { overlapSecondsMax } from '../../src/contract/limits.ts';
import { modes } from '../../src/contract/vocabulary.ts';
import { createRandomText } from '../../src/core/ids.ts';
import {
  type ApiKey,
  digestOf,
  keyKinds,
  keyPrefix,
  keyStatus,
  newKey,
  revoked,
  rolled,
} from '../../src/directory/api-key.ts';
import { DirectoryRefusal } from '../../src/directory/refusal.ts';

const nowMs = 1_793_491_200_000;
const randomText = createRandomText(randomFillSync);
const { key } = newKey(
  { org: 'org_1', mode: 'test', kind: 'secret', madeBy: 'operator', name: null },
  nowMs,
  randomText,
);

test('the text of a key names its kind and mode, and is not kept', () => {
  for (const mode of modes) {
    for (const kind of keyKinds) {
      const made = newKey({ org: 'org_1', mode, kind, madeBy: 'operator', name: null }, nowMs, randomText);
      assert.match(made.text, new RegExp(`^${keyPrefix(mode, kind)}[0-9A-Za-z]{40}$`));
      assert.match(made.key.id, /^key_[0-9A-Za-z]{24}$/);
      assert.equal(made.key.digest, digestOf(made.text));
      assert.equal(made.key.hint, made.text.slice(-4));
      assert.ok(!JSON.stringify(made.key).includes(made.text.slice(12, -4)));
    }
  }
  assert.equal(keyPrefix('live', 'publishable'), 'svc_pk_live_');
  assert.equal(digestOf('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

describe('status', () => {
  const rows: [given: string, key: ApiKey, atMs: number, status: string][] = [
    ['new', key, nowMs, 'active'],
    ['rolled, in the overlap', rolled(key, 'key_2', 60, nowMs), nowMs + 59_999, 'active'],
    ['rolled, after the overlap', rolled(key, 'key_2', 60, nowMs), nowMs + 60_000, 'expired'],
    ['rolled without overlap', rolled(key, 'key_2', 0, nowMs), nowMs, 'expired'],
    ['revoked', revoked(key, nowMs), nowMs, 'revoked'],
    ['revoked in the overlap', revoked(rolled(key, 'key_2', 60, nowMs), nowMs), nowMs, 'revoked'],
  ];
  for (const [given, row, atMs, status] of rows) {
    test(given, () => assert.equal(keyStatus(row, atMs), status));
  }
});

describe('rolling is refused', () => {
  const rows: [given: string, key: ApiKey, overlapSeconds: number][] = [
    ['a revoked key', revoked(key, nowMs), 0],
    ['a rolled key', rolled(key, 'key_2', 60, nowMs), 0],
    ['a negative overlap', key, -1],
    ['a fraction of a second', key, 0.5],
    ['an endless overlap', key, overlapSecondsMax + 1],
  ];
  for (const [given, row, seconds] of rows) {
    test(given, () => assert.throws(() => rolled(row, 'key_3', seconds, nowMs), DirectoryRefusal));
  }
});

test('revoking twice keeps the first time', () => {
  assert.equal(revoked(revoked(key, nowMs), nowMs + 1).revokedAtMs, nowMs);
});
