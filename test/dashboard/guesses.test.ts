// What guesses at credentials leave in memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Incoming } from '../../src/dashboard/incoming.ts';
import { People, type PeopleOptions } from '../../src/dashboard/people.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('a guess leaves as little in memory whatever was typed as the account', async () => {
  const people = new People({
    secure: false,
    monotonic: () => 0,
    randomBytes: (size) => Buffer.alloc(size),
    onRefusedSignIn: () => {},
  } as Partial<PeopleOptions> as PeopleOptions);
  const guess = (i: number) => {
    const incoming = { client: `visitor ${i}`, visitor: `visitor ${i}` } as Incoming;
    const typed = Buffer.alloc(100_000, 'a').toString('latin1') + i;
    return people.tryGuess(incoming, `password ${typed}`, async () => null);
  };
  const before = heapUsed();
  for (let i = 0; i < 500; i++) assert.equal(await guess(i), null);
  const kept = heapUsed() - before;
  assert.ok(kept < 5_000_000, `${kept} bytes are kept of 50 MB`);
  // What was typed counts whole: one with the same beginning is another account.
  assert.equal(await guess(500), null);
});
