// A thread as the main thread sees it, with small threads of its own.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { Thread, ThreadFailure } from '../../src/threads/thread.ts';

const thread = (source: string) =>
  Thread.worker({ name: 'a test', entry: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });

/** Tells what it began with, by its failure. */
const telling = `
  import { startOfThread } from '${new URL('../../src/threads/thread-side.ts', import.meta.url).href}';
  const { data, tell } = await startOfThread();
  tell({ type: 'failed', message: String(data), fatal: true });
  setTimeout(() => process.exit(1));
`;

test('a thread begins when it is told to, however long it has waited', async () => {
  const waiting = thread(telling);
  assert.equal(
    await Promise.race([waiting.ended, new Promise((resolve) => setImmediate(resolve))]),
    undefined,
  );
  assert.deepEqual(await waiting.begin('data').ended, new ThreadFailure('data', true));
});

test('a thread that is not needed ends without having begun', async () => {
  // Also while it loads its files.
  for (const ms of [0, 300]) {
    const waiting = thread(telling);
    await wait(ms);
    await waiting.stop();
    await assert.rejects(waiting.ready, { name: 'ThreadFailure' });
  }
});

test('one that failed while it waited says so to whoever has it begin', async () => {
  const waiting = thread("throw new Error('no such file')");
  await waiting.ended;
  assert.match((await waiting.begin('data').ended)!.message, /no such file/);
  await assert.rejects(waiting.ready, /no such file/);
});

test('one that failed while it waited is over for the node that it is given to', async () => {
  const waiting = thread("throw new Error('no such file')");
  await waiting.ended;
  const { port1, port2 } = new MessageChannel();
  const elsewhere = Thread.elsewhere(port2, { process: 'pb', name: 'node b', giveUp() {} });
  waiting.begin('data').giveAway(port1);
  assert.deepEqual(await elsewhere.ended, new ThreadFailure('the thread ended with code 1', false));
});

test('what is damaged on another node is wrong with that one alone, and what other machines have lost is not', async (context) => {
  for (const isRemote of [false, true]) {
    const { port1, port2 } = new MessageChannel();
    context.after(() => port1.close());
    const elsewhere = Thread.elsewhere(port2, { process: 'pb', name: 'node b', giveUp() {} });
    port1.postMessage({ type: 'failed', message: 'damaged', fatal: true, isRemote });
    port1.postMessage({ type: 'exit', code: 1 });
    const failure = await elsewhere.ended;
    assert.deepEqual(failure, new ThreadFailure('damaged', true, isRemote));
    assert.equal(failure?.isOfNode, !isRemote);
  }
});

test('one that has ended answers nothing, and is stopped', async () => {
  const ended = thread(telling).begin('data');
  await ended.ended;
  await assert.rejects(ended.ask('metrics', {}), { message: 'data' });
  await ended.stop();
});

test('a thread of another node that is not ready in time is stopped, and one that is goes on', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const told: string[] = [];
  const begun = (name: string) => {
    const { port1, port2 } = new MessageChannel();
    const giveUp = () => {
      told.push(`${name} is given up`);
      port2.close();
    };
    const elsewhere = Thread.elsewhere(port1, { process: 'pb', name: 'node b', giveUp });
    elsewhere.startWithin(
      60_000,
      () => false,
      () => told.push(`${name} is late`),
    );
    return { elsewhere, port: port2 };
  };
  const [quick, slow] = [begun('the first'), begun('the second')];
  quick.port.postMessage({ type: 'ready' });
  await quick.elsewhere.ready;
  context.mock.timers.tick(59_999);
  assert.deepEqual(told, []);
  const asked = once(slow.port, 'message');
  context.mock.timers.tick(1);
  assert.deepEqual(told, ['the second is late']);
  assert.equal((await asked)[0].type, 'stop');
  context.mock.timers.tick(5_000);
  assert.match(String(await slow.elsewhere.ended), /the link to node b is lost/);
  context.mock.timers.tick(600_000);
  assert.deepEqual(told, ['the second is late', 'the second is given up']);
  quick.port.close();
  await quick.elsewhere.ended;
});

test('a thread of another node that does not answer in time is given up, and one that does is not', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { port1, port2 } = new MessageChannel();
  const given: string[] = [];
  const giveUp = () => {
    given.push('up');
    // The link's end comes out here.
    port2.close();
  };
  const elsewhere = Thread.elsewhere(port1, { process: 'pb', name: 'node b', giveUp });
  port2.postMessage({ type: 'ready' });
  await elsewhere.ready;
  const change = { organization: { id: 'org_1', active: true, liveActivated: false }, keys: [] };
  const answer = once(port2, 'message').then(([{ question }]) =>
    port2.postMessage({ type: 'answer', question, value: undefined }),
  );
  await elsewhere.askSoon('keys', { change });
  await answer;
  context.mock.timers.tick(60_000);
  assert.deepEqual(given, []);
  const unanswered = elsewhere.askSoon('keys', { change });
  context.mock.timers.tick(4_999);
  assert.deepEqual(given, []);
  context.mock.timers.tick(1);
  assert.deepEqual(given, ['up']);
  await assert.rejects(unanswered, /the link to node b is lost/);
});

test('a thread of another node that still starts may take as long as a start until it answers or stops', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { port1, port2 } = new MessageChannel();
  const given: string[] = [];
  const giveUp = () => given.push('up');
  const elsewhere = Thread.elsewhere(port1, { process: 'pb', name: 'node b', giveUp });
  const change = { organization: { id: 'org_1', active: true, liveActivated: false }, keys: [] };
  const changed = elsewhere.askSoon('keys', { change });
  context.mock.timers.tick(59_999);
  const [{ question }] = await once(port2, 'message');
  port2.postMessage({ type: 'answer', question, value: undefined });
  await changed;
  const stopped = elsewhere.stop();
  context.mock.timers.tick(59_999);
  assert.deepEqual(given, []);
  context.mock.timers.tick(1);
  assert.deepEqual(given, ['up']);
  port2.close();
  await stopped;
});
