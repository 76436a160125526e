// When a process that was told to stop does so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ending } from '../../src/lifecycle/ending.ts';

/** An ending with a notice of so long; `did`: what has happened. */
function ending(noticeMs: number) {
  const did: string[] = [];
  let pass = () => {};
  const timers = {
    after(ms: number, run: () => void) {
      did.push(`waits ${ms} ms`);
      pass = run;
      return () => {};
    },
  };
  const ending = new Ending(noticeMs, timers);
  ending.promise.then(
    () => did.push('stops'),
    (error: Error) => did.push(error.message),
  );
  const serve = (what: string) => ending.onNotice(() => did.push(`${what} is not ready`));
  return { ending, did, serve, pass: () => pass(), settled: () => new Promise(setImmediate) };
}

test('whatever serves is told first, and serves on for a while', async () => {
  const { ending: told, did, serve, pass, settled } = ending(2_000);
  serve('the relay');
  serve('the edge');
  told.stop();
  told.stop();
  serve('an edge that has just started');
  await settled();
  const first = ['the relay is not ready', 'the edge is not ready', 'waits 2000 ms'];
  assert.deepEqual(did, [...first, 'an edge that has just started is not ready']);
  pass();
  await settled();
  assert.equal(did.at(-1), 'stops');
});

for (const [why, noticeMs, serves] of [
  ['nothing serves', 2_000, false],
  ['nobody has to be told', 0, true],
] as const)
  test(`where ${why} it stops at once`, async () => {
    const { ending: told, did, serve, settled } = ending(noticeMs);
    if (serves) serve('the edge');
    told.stop();
    await settled();
    assert.deepEqual(did, ['stops']);
  });

test("what can't go on does not serve on", async () => {
  const { ending: told, did, serve, settled } = ending(2_000);
  serve('the edge');
  told.stop();
  told.reject(new Error('the lease is lost'));
  await settled();
  assert.equal(did.at(-1), 'the lease is lost');
});
