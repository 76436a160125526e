// What becomes of a service that does not stop in time.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { closeAll } from '../../src/lifecycle/close-all.ts';
import { Closers } from '../../src/lifecycle/closers.ts';
import { CommandFailure, ServiceCrash } from '../../src/operator/use-cases/failures.ts';

function closersOf(...all: readonly (() => Promise<unknown>)[]): Closers {
  const closers = new Closers();
  for (const close of all) closers.push(close);
  return closers;
}

/** A process, and what it did in the end. */
function endedProcess() {
  const did: string[] = [];
  let timeOut = () => {};
  return {
    did,
    timeOut: () => timeOut(),
    timers: {
      after(_ms: number, run: () => void) {
        timeOut = run;
        return () => void did.push('in time');
      },
    },
    writeError: (text: string) => void did.push(text.trimEnd()),
    tellStopping: () => void did.push('told the launcher'),
    kill: () => void did.push('killed'),
  };
}

const late = 'payments: it has not stopped within 4500 ms and is ended as it is';

for (const [name, failure, did] of [
  ['that was told to stop', null, [late, 'killed']],
  [
    'whose start was refused is not started again',
    new CommandFailure('no such folder'),
    ['payments: no such folder', 'told the launcher', late, 'killed'],
  ],
  [
    'that has crashed is started again',
    new ServiceCrash('the lease moves to node b'),
    ['payments: the lease moves to node b', late, 'killed'],
  ],
  ['with a bug is started again', new Error('a bug'), ['payments: a bug', late, 'killed']],
] as const)
  test(`a service that hangs ${name}`, async () => {
    const process = endedProcess();
    const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
    const closed = closeAll(
      closersOf(() => hangs),
      failure,
      process,
    );
    process.timeOut();
    assert.deepEqual(process.did, did);
    end();
    await closed;
  });

test('a service that hangs is ended also where nothing else keeps it running', () => {
  const module = (name: string) =>
    JSON.stringify(new URL(`../../src/lifecycle/${name}`, import.meta.url).href);
  const program = `
    import { closeAll } from ${module('close-all.ts')};
    import { Closers } from ${module('closers.ts')};
    const closers = new Closers();
    closers.push(() => new Promise(() => {}));
    const after = (_, run) => {
      const timer = setTimeout(run, 10).unref();
      return () => clearTimeout(timer);
    };
    const kill = () => process.exit(7);
    const ended = { timers: { after }, writeError: () => {}, tellStopping: () => {}, kill };
    await closeAll(closers, null, ended);
  `;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  assert.equal(status, 7);
});

test('everything is closed in the opposite order, whatever fails, and the first failure is told', async () => {
  const process = endedProcess();
  const closed: string[] = [];
  const closing = (name: string, fails: boolean) => async () => {
    closed.push(name);
    if (fails) throw new Error(name);
  };
  const closers = closersOf(closing('a', true), closing('b', true), closing('c', false));
  const all = closeAll(closers, null, process);
  await assert.rejects(all, new Error('b'));
  assert.deepEqual(closed, ['c', 'b', 'a']);
  assert.deepEqual(process.did, ['in time']);
});

test('what is opened while the rest is being closed, or later, is closed at once', async () => {
  const closed: string[] = [];
  const closers = closersOf(async () => {
    closers.push(async () => {
      closed.push('meanwhile');
      throw new Error('it can not be closed');
    });
    closed.push('before');
  });
  await closeAll(closers, null, endedProcess());
  closers.push(async () => void closed.push('after'));
  assert.deepEqual(closed, ['meanwhile', 'before', 'after']);
});
