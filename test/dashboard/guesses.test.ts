// Guesses at credentials: what they leave in memory, and whose they count as.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Incoming } from '../../src/dashboard/layout/row.ts';
import { People, type PeopleOptions, untried } from '../../src/dashboard/people/people.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function newPeople(): People {
  return new People({
    secure: false,
    hashCost: 10,
    monotonic: () => 0,
    randomBytes: (size) => Buffer.alloc(size),
    onRefusedSignIn: () => {},
  } as Partial<PeopleOptions> as PeopleOptions);
}

const from = (network: string, site = network) =>
  ({ client: network, visitor: { network, site } }) as Incoming;

test('a guess leaves as little in memory whatever was typed as the account', async () => {
  const people = newPeople();
  const guess = (i: number) => {
    const typed = Buffer.alloc(100_000, 'a').toString('latin1') + i;
    return people.tryGuess(from(`visitor ${i}`), `password ${typed}`, async () => null);
  };
  const before = heapUsed();
  for (let i = 0; i < 500; i++) assert.equal(await guess(i), null);
  const kept = heapUsed() - before;
  assert.ok(kept < 5_000_000, `${kept} bytes are kept of 50 MB`);
  // What was typed counts whole: one with the same beginning is another account.
  assert.equal(await guess(500), null);
});

test('the networks of an IPv6 site count together, too, for four times as many', async () => {
  const people = newPeople();
  const guess = (site: string, i: number) =>
    people.tryGuess(from(`${site}:${i}::/64`, `${site}::/48`), `password ${site} ${i}`, async () => null);
  let tried = 0;
  for (let i = 0; i < 200; i++) if ((await guess('2001:db8:7', i)) === null) tried++;
  // Eighty in a quarter of an hour, and a sixth of it on top.
  assert.equal(tried, 93);
  assert.equal(await guess('2001:db8:8', 0), null);
});

test('a guess that did not get its turn counts for who made it, and not for the account', async () => {
  const people = newPeople();
  for (let i = 0; i < 23; i++) {
    const refused = await people.tryGuess(from('192.0.2.1'), 'password a', async () => untried);
    assert.deepEqual(refused, { waitSeconds: 5 });
  }
  const next = await people.tryGuess(from('192.0.2.1'), 'password b', async () => null);
  assert.deepEqual(next, { waitSeconds: 45 });
  assert.equal(await people.tryGuess(from('192.0.2.2'), 'password a', async () => null), null);
});
