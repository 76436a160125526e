// What is asked right before a request is written: once the connection is up, however long that took.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { headerLines, type PostOptions, Posts } from '../../src/http-client/posts.ts';
import { type FindAddresses, ResolutionFailure } from '../../src/http-client/resolver.ts';
import { authority, postOptions, withReceiver } from '../webhooks/attempt-harness.ts';

for (const identity of [undefined, authority.issue({ hosts: ['shop.example'] })])
  test(`nothing is written once the right to is lost, ${identity ? 'https' : 'http'}`, async () => {
    await withReceiver(identity ? { identity } : {}, async (receiver) => {
      let mayWrite = true;
      const posts = new Posts({ ...postOptions, mayWrite: () => mayWrite });
      const url = `${identity ? 'https' : 'http'}://shop.example:${receiver.port}/pay`;
      const input = { endpoint: 'we_1', url, headers: '', body: '{}', answerBytesMax: 100 };
      const post = (isIdempotent: boolean) => posts.post({ ...input, isIdempotent });
      assert.equal((await post(true)).failure, null);

      // Over a connection that is kept, and over a new one.
      mayWrite = false;
      for (const isIdempotent of [true, false])
        assert.match((await post(isIdempotent)).failure!, /^not sent/, String(isIdempotent));

      // It is lost while the connection is made.
      mayWrite = true;
      const posting = post(false);
      mayWrite = false;
      assert.match((await posting).failure!, /^not sent/);
      assert.equal(receiver.requests.length, 1);
      posts.connections.close();
    });
  });

test('a fault of the service before a request is written is told, and costs its connection alone', async () => {
  await withReceiver({}, async (receiver) => {
    const faults: unknown[] = [new Error('a bug')];
    const mayWrite = () => {
      if (faults.length > 0) throw faults[0];
      return true;
    };
    const posts = new Posts({ ...postOptions, mayWrite });
    const url = `http://shop.example:${receiver.port}/pay`;
    const input = { endpoint: 'we_1', url, headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
    const told: unknown[] = [];
    const tell = (word: unknown) => void told.push(word);
    posts.send({ ...input, done: tell, broken: tell });
    while (receiver.openCount === 0 || told.length === 0) await new Promise(setImmediate);
    while (receiver.openCount > 0) await new Promise(setImmediate);
    assert.deepEqual([told, posts.connections.idleCount], [faults, 0]);
    faults.pop();
    assert.equal((await posts.post(input)).status, 200);
    while (receiver.openCount !== 1) await new Promise(setImmediate);
    posts.connections.close();
  });
});

test('a request whose time is over once its name is found is not sent', async () => {
  await withReceiver({}, async (receiver) => {
    let nowMs = 0;
    const resolve = async () => {
      nowMs += 100;
      return ['127.0.0.1'];
    };
    const posts = new Posts({ ...postOptions, resolve, timeoutMs: 100, monotonic: () => nowMs });
    const url = `http://shop.example:${receiver.port}/pay`;
    const input = { endpoint: 'we_1', url, headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
    assert.equal((await posts.post(input)).failure, 'timed out after 100 ms');
    assert.equal(receiver.requests.length, 0);
  });
});

test('a request whose name is not found is not sent, and a fault of the service in looking it up is told', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const input = { endpoint: 'we_1', headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
  const posting = (resolve: FindAddresses) =>
    new Posts({ ...postOptions, monotonic: () => 0, resolve }).post({
      ...input,
      url: 'http://shop.example/pay',
    });
  const failure = async (posted: ReturnType<typeof posting>) => (await posted).failure;
  const unknown = posting(() => Promise.reject(new ResolutionFailure('the name is unknown')));
  assert.equal(await failure(unknown), 'the name is unknown');
  const fault = new Error('a bug');
  await assert.rejects(
    posting(() => Promise.reject(fault)),
    fault,
  );
  const late = posting(() => new Promise(() => {}));
  context.mock.timers.tick(postOptions.timeoutMs - 1);
  const isOver = late.then(() => true);
  assert.equal(await Promise.race([isOver, new Promise((resolve) => setImmediate(resolve, false))]), false);
  context.mock.timers.tick(1);
  assert.equal(await failure(late), 'timed out after 10000 ms');
});

test('nothing is sent to an address that is not public, or whose URL is refused', async () => {
  await withReceiver({}, async (receiver) => {
    const input = { endpoint: 'we_1', headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
    const failure = async (url: string, options: Partial<PostOptions>) =>
      (await new Posts({ ...postOptions, ...options }).post({ ...input, url })).failure;
    const url = `http://shop.example:${receiver.port}/`;
    assert.equal(await failure(url, { allowPrivate: false }), 'address not public: shop.example');
    assert.match((await failure(url, { allowHttp: false }))!, /^address refused: /);
    assert.match((await failure('ftp://shop.example/', {}))!, /^address refused: /);
    assert.equal(receiver.requests.length, 0);
    while (receiver.openCount > 0) await new Promise(setImmediate);
  });
});

test('an answer of many pieces is read to its end, however much is kept, and its connection serves the next', async () => {
  const answer = 'a'.repeat(200_000);
  await withReceiver({ respond: (response) => response.end(answer) }, async (receiver) => {
    const posts = new Posts(postOptions);
    const url = `http://shop.example:${receiver.port}/`;
    for (const answerBytesMax of [300_000, 100]) {
      const input = { endpoint: 'we_1', url, headers: '', body: '{}', answerBytesMax, isIdempotent: true };
      const outcome = await posts.post(input);
      const kept = answer.slice(0, answerBytesMax);
      assert.deepEqual(outcome, { status: 200, failure: null, answer: kept });
      assert.deepEqual([posts.connections.idleCount, receiver.openCount], [1, 1]);
    }
    posts.connections.close();
  });
});

test('an address of either version is connected to', async () => {
  const input = { endpoint: 'we_1', headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
  for (const address of ['127.0.0.1', '::1']) {
    const posts = new Posts({ ...postOptions, resolve: async () => [address] });
    // Nobody listens there, and a machine may have no IPv6.
    const { failure } = await posts.post({ ...input, url: 'http://shop.example:1/' });
    assert.match(failure!, /^connection (refused|failed \(EADDRNOTAVAIL\))$/);
  }
});

test('a connection that fails for a reason without words of its own tells the code', async () => {
  const posts = new Posts({ ...postOptions, resolve: async () => ['nowhere'] });
  const input = { endpoint: 'we_1', headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
  const { failure } = await posts.post({ ...input, url: 'http://shop.example:1/' });
  assert.equal(failure, 'connection failed (ERR_INVALID_IP_ADDRESS)');
});

test('an address is not looked up, and a name is', async () => {
  await withReceiver({}, async (receiver) => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ['127.0.0.1'];
    };
    const posts = new Posts({ ...postOptions, resolve });
    for (const host of ['127.0.0.1', 'shop.example']) {
      const url = `http://${host}:${receiver.port}/`;
      const input = { endpoint: 'we_1', url, headers: '', body: '{}', answerBytesMax: 100 };
      assert.equal((await posts.post({ ...input, isIdempotent: true })).status, 200, host);
    }
    assert.deepEqual(asked, ['shop.example']);
    posts.connections.close();
  });
});

test('of the addresses that were posted to only some are remembered', async () => {
  const resolve = () => Promise.reject(new ResolutionFailure('the name is unknown'));
  const posts = new Posts({ ...postOptions, resolve });
  const input = { endpoint: 'we_1', headers: '', body: '{}', answerBytesMax: 100, isIdempotent: true };
  const before = queryObjects(URL, { format: 'count' });
  for (let shop = 0; shop < 3_000; shop++)
    await posts.post({ ...input, url: `http://shop-${shop}.example/` });
  const remembered = queryObjects(URL, { format: 'count' }) - before;
  assert.ok(remembered < 1_500, `${remembered} are remembered`);
  posts.connections.close();
});

test('a header is sent as it is, and one that could end its line is a bug', () => {
  assert.equal(headerLines({ 'X-A': 'a b\t~', 'X-B': '' }), 'X-A: a b\t~\r\nX-B: \r\n');
  for (const value of ['a\r\nX-Other: b', 'a\n', '\r', '\0', 'é', '\x7f'])
    assert.throws(() => headerLines({ 'X-A': value }), /the header X-A can be sent/);
});
