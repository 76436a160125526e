// Which TLS sessions are resumed, and how many are kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TlsSessions } from '../../src/http-client/tls-sessions.ts';

const forMs = 1_000;
const sessionOf = (name: string, verifiedAtMs = 0) => ({ session: Buffer.from(name), verifiedAtMs });

test('a session is resumed for some time after its certificate was verified, and not when it was refused', () => {
  const sessions = new TlsSessions(forMs);
  sessions.put('https://a.example', sessionOf('a', 500));
  sessions.put('https://b.example', sessionOf('b', 500));
  assert.equal(sessions.get('https://c.example', 0), undefined);
  assert.deepEqual(sessions.get('https://a.example', 1_499), sessionOf('a', 500));
  assert.equal(sessions.get('https://a.example', 1_500), undefined);
  sessions.delete('https://b.example');
  assert.equal(sessions.get('https://b.example', 500), undefined);
});

test('of 4,096 origins sessions are kept: the one that was stored first makes room', () => {
  const sessions = new TlsSessions(forMs);
  const isKept = (origin: number) => sessions.get(String(origin), 0) !== undefined;
  for (let origin = 0; origin < 4_096; origin++) sessions.put(String(origin), sessionOf('first'));
  sessions.put('0', sessionOf('newer'));
  assert.deepEqual([0, 1, 4_095].map(isKept), [true, true, true]);
  sessions.put('4096', sessionOf('new'));
  assert.deepEqual([0, 1, 2, 4_096].map(isKept), [true, false, true, true]);
});
