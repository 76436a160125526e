import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createResolver } from '../../src/http-client/resolver.ts';
import { addressRecords, nameError, startDnsServer } from '../http-client/dns-server.ts';
import { attempts, authority, makeAttempts, withReceiver } from './attempt-harness.ts';
import type { Respond } from './receiver.ts';

const dns = await startDnsServer((question) => {
  switch (question.name) {
    case 'receiver.example':
      return addressRecords(question, ['127.0.0.1']);
    case 'several.example':
      return addressRecords(question, ['127.0.0.3', '127.0.0.2', '127.0.0.1']);
    case 'moving.example':
      return addressRecords(question, [question.asked === 0 ? '127.0.0.1' : '127.0.0.2']);
    case 'silent.example':
      return 'silence';
    default:
      return { responseCode: nameError };
  }
});
after(() => dns.close());

const shortMs = 300;
const servers = [dns.address];
const timeoutMs = 1000;
/** Attempts that ask the name server above: with private answers let through, and as in production. */
const named = { resolve: createResolver({ servers, timeoutMs, allowPrivate: true }) };
const publicOnly = { resolve: createResolver({ servers, timeoutMs }), allowPrivate: false };

test('no connection is made to what is not public', () =>
  withReceiver({}, async (receiver) => {
    const attempt = attempts(publicOnly);
    const refusals: [string, string][] = [
      ['receiver.example', 'address not public: receiver.example'],
      ['127.0.0.1', 'address refused: host is not public'],
      ['2130706433', 'address refused: host is not public'],
      ['[::ffff:127.0.0.1]', 'address refused: host is not public'],
      ['localhost', 'address refused: host is not public'],
      ['user@receiver.example', 'address refused: contains a user name or password'],
      ['unknown.example', 'host not found'],
    ];
    for (const [host, failure] of refusals) {
      const result = await attempt(`http://${host}:${receiver.port}/`);
      assert.deepEqual([result.status, result.failure, result.answer], [null, failure, ''], host);
    }
    assert.equal(receiver.connectionCount, 0);
  }));

test('plain http is refused unless allowed', () =>
  withReceiver({}, async (receiver) => {
    const result = await attempts({ allowHttp: false })(receiver.origin);
    assert.equal(result.failure, 'address refused: must use https');
    assert.equal(receiver.connectionCount, 0);
  }));

test('nothing is sent to a private address even if the resolver lets it through', () =>
  withReceiver({}, async (receiver) => {
    const attempt = attempts({ allowPrivate: false, resolve: async () => ['127.0.0.1'] });
    const result = await attempt(`http://receiver.example:${receiver.port}/`);
    assert.equal(result.failure, 'address not public: receiver.example');
    assert.equal(receiver.requests.length, 0);
  }));

test('a name that moves between check and connection: the checked address is the one connected to', () =>
  withReceiver({}, (first) =>
    withReceiver({ host: '127.0.0.2', port: first.port }, async (second) => {
      const attempt = attempts(named);
      const asked = () => dns.questions.filter(({ name }) => name === 'moving.example').length;
      assert.equal((await attempt(`http://moving.example:${first.port}/`)).failure, null);
      assert.equal(asked(), 2, 'one question for each family');
      assert.deepEqual([first.connectionCount, second.connectionCount], [1, 0]);
      // And the next attempt asks again.
      assert.equal((await attempt(`http://moving.example:${first.port}/`)).failure, null);
      assert.equal(asked(), 4);
      assert.deepEqual([first.connectionCount, second.connectionCount], [1, 1]);
    }),
  ));

test('an address that refuses gives way to the next one, over http and https', async () => {
  const several = authority.issue({ hosts: ['several.example'] });
  for (const options of [{}, { identity: several }]) {
    await withReceiver(options, async ({ origin, port }) => {
      const scheme = new URL(origin).protocol;
      assert.equal((await attempts(named)(`${scheme}//several.example:${port}/`)).failure, null);
    });
  }
});

test('a name server that does not answer ends at the deadline of the attempt', async () => {
  const result = await attempts({ ...named, timeoutMs: shortMs })('https://silent.example/');
  assert.equal(result.failure, `timed out after ${shortMs} ms`);
  assert.ok(result.duration_ms < shortMs + 1000);
});

test('the deadline is one for the name and the receiver together', () =>
  withReceiver({ respond: () => {} }, async ({ port }) => {
    const slowMs = shortMs - 50;
    const slowly = () => new Promise<string[]>((resolve) => setTimeout(() => resolve(['127.0.0.1']), slowMs));
    const result = await attempts({ timeoutMs: shortMs, resolve: slowly })(`http://slow.example:${port}/`);
    assert.equal(result.failure, `timed out after ${shortMs} ms`);
    assert.ok(
      result.duration_ms >= shortMs - 5 && result.duration_ms < shortMs + slowMs - 20,
      `${result.duration_ms} ms`,
    );
  }));

test('a name that is resolved after the deadline is not connected to', () =>
  withReceiver({}, async (receiver) => {
    const { promise: late, resolve } = Promise.withResolvers<string[]>();
    const attempt = attempts({ timeoutMs: 50, resolve: () => late });
    assert.equal((await attempt(`http://slow.example:${receiver.port}/`)).failure, 'timed out after 50 ms');
    resolve(['127.0.0.1']);
    await new Promise(setImmediate);
    assert.equal(receiver.connectionCount, 0);
  }));

test('a bug in the resolver is not taken for a failed delivery', () => {
  const attempt = attempts({ resolve: () => Promise.reject(new TypeError('a bug')) });
  return assert.rejects(attempt('https://receiver.example/'), TypeError);
});

test('many attempts wait at the same time; the slow one holds up nobody', async () => {
  const held: (() => void)[] = [];
  const identity = authority.issue({ hosts: ['receiver.example'] });
  const respond: Respond = (response, { url }) =>
    url === '/slow' ? held.push(() => response.end()) : response.end(url);
  await withReceiver({ identity, respond }, async (receiver) => {
    const made = makeAttempts(named);
    const run = (path: string) => {
      const url = `https://receiver.example:${receiver.port}${path}`;
      const nowSeconds = 1_800_000_000.25;
      return made.make({
        org: 'org_1',
        endpoint: 'we_1',
        url,
        body: '{}',
        secrets: ['svc_whsec_a'],
        nowSeconds,
      });
    };
    const slow = run('/slow');
    const quick = await Promise.all(Array.from({ length: 50 }, (_, i) => run(`/${i}`)));
    assert.deepEqual(
      quick.map(({ status, failure, answer, at_ms }) => ({ status, failure, answer, at_ms })),
      quick.map((_, i) => ({ status: 200, failure: null, answer: `/${i}`, at_ms: 1_800_000_000_250 })),
    );
    assert.equal(held.length, 1);
    for (const release of held) release();
    assert.equal((await slow).failure, null);
  });
});
