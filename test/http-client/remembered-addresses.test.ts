import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResolutionFailure, rememberAddresses } from '../../src/http-client/resolver.ts';
import { createManualClock } from '../manual-clock.ts';

const forMs = 5_000;

/** A resolver whose answers are given by hand, and the names that it was asked for. */
function bench() {
  const clock = createManualClock(0);
  const asked: { host: string; answer: PromiseWithResolvers<string[]> }[] = [];
  const slow = (host: string) => {
    const answer = Promise.withResolvers<string[]>();
    asked.push({ host, answer });
    return answer.promise;
  };
  const find = rememberAddresses(slow, forMs, clock.monotonic);
  return { clock, asked, find, resolve: async (host: string) => find(host) };
}

test('addresses that are known are there at once', async () => {
  const { asked, find } = bench();
  const first = find('a.example');
  asked[0]!.answer.resolve(['1.1.1.1']);
  await first;
  assert.deepEqual(find('a.example'), ['1.1.1.1']);
});

test('a name is resolved once for all who ask within the time, and again after it', async () => {
  const { clock, asked, resolve } = bench();
  const both = [resolve('a.example'), resolve('a.example')];
  asked[0]!.answer.resolve(['1.1.1.1']);
  assert.deepEqual(await Promise.all(both), [['1.1.1.1'], ['1.1.1.1']]);
  clock.advance(forMs - 1);
  assert.deepEqual(await resolve('a.example'), ['1.1.1.1']);
  assert.equal(asked.length, 1);
  clock.advance(1);
  const moved = resolve('a.example');
  asked[1]!.answer.resolve(['8.8.8.8']);
  assert.deepEqual(await moved, ['8.8.8.8']);
});

test('each name has its own addresses', async () => {
  const { asked, resolve } = bench();
  const [a, b] = [resolve('a.example'), resolve('b.example')];
  asked[1]!.answer.resolve(['2.2.2.2']);
  asked[0]!.answer.resolve(['1.1.1.1']);
  assert.deepEqual([await a, await b], [['1.1.1.1'], ['2.2.2.2']]);
  assert.deepEqual(
    asked.map(({ host }) => host),
    ['a.example', 'b.example'],
  );
});

test('a failure is told to those who wait, and the next one asks again', async () => {
  const { asked, resolve } = bench();
  const both = [resolve('a.example'), resolve('a.example')];
  asked[0]!.answer.reject(new ResolutionFailure('host not found'));
  for (const each of both) await assert.rejects(each, /host not found/);
  const again = resolve('a.example');
  asked[1]!.answer.resolve(['1.1.1.1']);
  assert.deepEqual(await again, ['1.1.1.1']);
});

test('a late failure does not forget what was asked after it', async () => {
  const { clock, asked, resolve } = bench();
  const late = resolve('a.example');
  clock.advance(forMs);
  const next = resolve('a.example');
  asked[1]!.answer.resolve(['1.1.1.1']);
  await next;
  asked[0]!.answer.reject(new ResolutionFailure('host lookup timed out'));
  await assert.rejects(late);
  await resolve('a.example');
  assert.equal(asked.length, 2);
});

test('of 4,096 names the addresses are remembered, and all are asked for anew beyond that', async () => {
  const { asked, find } = bench();
  for (let name = 0; name < 4_096; name++) find(`${name}.example`);
  find('0.example');
  assert.equal(asked.length, 4_096);
  find('another.example');
  find('0.example');
  assert.equal(asked.length, 4_098);
});
