import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createResolver, ResolutionFailure, type ResolverOptions } from '../../src/http-client/resolver.ts';
import {
  addressRecords,
  nameError,
  type Question,
  type Reply,
  serverFailure,
  startDnsServer,
} from './dns-server.ts';

const v4 = '8.8.8.8';
const v6 = '2606:4700:4700::1111';
const many = Array.from({ length: 40 }, (_, i) => `8.8.8.${i}`);

const zone: Record<string, (question: Question) => Reply | Promise<Reply>> = {
  'both.example': (question) => addressRecords(question, [v4, v6]),
  'v4.example': (question) => addressRecords(question, [v4, '1.1.1.1']),
  'many.example': (question) => addressRecords(question, many),
  'v6.example': (question) => addressRecords(question, [v6]),
  'empty.example': () => ({ records: [] }),
  'private.example': (question) => addressRecords(question, ['10.0.0.1']),
  'metadata.example': (question) => addressRecords(question, ['169.254.169.254']),
  'mixed.example': (question) => addressRecords(question, [v4, '127.0.0.1']),
  'mixed-families.example': (question) => addressRecords(question, [v4, '::1']),
  'mapped.example': (question) => addressRecords(question, ['::ffff:8.8.8.8']),
  'rebinding.example': (question) => addressRecords(question, [question.asked === 0 ? v4 : '127.0.0.1']),
  'chain.example': (question) => ({
    records: [
      { type: 'CNAME', data: 'middle.example' },
      { type: 'CNAME', name: 'middle.example', data: 'end.example' },
      { type: question.type, name: 'end.example', data: question.type === 'A' ? v4 : v6 },
    ],
  }),
  'private-chain.example': (question) => ({
    records: [
      { type: 'CNAME', data: 'inner.example' },
      { type: question.type, name: 'inner.example', data: question.type === 'A' ? '192.168.0.1' : v6 },
    ],
  }),
  'dangling.example': () => ({ records: [{ type: 'CNAME', data: 'nowhere.example' }] }),
  'failing.example': () => ({ responseCode: serverFailure }),
  'half-failing.example': (question) =>
    question.type === 'A' ? addressRecords(question, [v4]) : { responseCode: serverFailure },
  'silent.example': () => 'silence',
  'half-silent.example': (question) => (question.type === 'A' ? addressRecords(question, [v4]) : 'silence'),
  'slow.example': (question) => wait(1_200, addressRecords(question, [v4])),
  'garbage.example': () => ({ raw: Buffer.from('not a DNS message at all') }),
  localhost: (question) => addressRecords(question, [v4]),
};

const server = await startDnsServer(
  (question) => zone[question.name]?.(question) ?? { responseCode: nameError },
);
after(() => server.close());

function resolver(options: Partial<ResolverOptions> = {}) {
  return createResolver({ servers: [server.address], timeoutMs: 5000, ...options });
}

function refuses(host: string, message: RegExp, options: Partial<ResolverOptions> = {}): Promise<void> {
  return assert.rejects(resolver(options)(host), (error) => {
    assert.ok(error instanceof ResolutionFailure);
    assert.match(error.message, message);
    assert.equal(error.notPublic, /^address not public/.test(error.message));
    return true;
  });
}

const answered: [string, string[]][] = [
  ['both.example', [v4, v6]],
  ['v4.example', [v4, '1.1.1.1']],
  ['many.example', many.slice(0, 16)],
  ['v6.example', [v6]],
  ['chain.example', [v4, v6]],
  ['half-failing.example', [v4]],
];
for (const [host, addresses] of answered) {
  test(`answers public addresses: ${host}`, async () => {
    assert.deepEqual(await resolver()(host), addresses);
  });
}

const refused: [string, RegExp][] = [
  ['unknown.example', /^host not found$/],
  ['empty.example', /^host not found$/],
  ['dangling.example', /^host not found$/],
  ['failing.example', /^host lookup failed \(ESERVFAIL\)$/],
  ['private.example', /^address not public: private\.example$/],
  ['metadata.example', /^address not public/],
  ['mixed.example', /^address not public/],
  ['mixed-families.example', /^address not public/],
  ['mapped.example', /^address not public/],
  ['private-chain.example', /^address not public/],
];
for (const [host, message] of refused) {
  test(`refuses the whole host: ${host}`, () => refuses(host, message));
}

test('a host that turns private after its first answer is refused the second time', async () => {
  const resolve = resolver();
  assert.deepEqual(await resolve('rebinding.example'), [v4]);
  await assert.rejects(resolve('rebinding.example'), /^ResolutionFailure: address not public/);
});

test('each resolution asks once for each family, and remembers nothing', async () => {
  const resolve = resolver();
  const asked = () => server.questions.filter(({ name }) => name === 'v6.example').map(({ type }) => type);
  const before = asked().length;
  await resolve('v6.example');
  assert.deepEqual(asked().slice(before).sort(), ['A', 'AAAA']);
  await resolve('v6.example');
  assert.equal(asked().length, before + 4);
});

test('a server that does not answer ends at the deadline', async () => {
  const startedAt = performance.now();
  await refuses('silent.example', /^host lookup timed out$/, { timeoutMs: 150 });
  assert.ok(performance.now() - startedAt < 4_000, 'of the 5 seconds that a resolver waits by itself');
});

test('a server that answers for one family only delays the answer, and no more', async () => {
  assert.deepEqual(await resolver({ timeoutMs: 300 })('half-silent.example'), [v4]);
});

test('a family that has answered is not asked for again while the other one is silent', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const asked = () =>
    server.questions.filter(({ name, type }) => name === 'half-silent.example' && type === 'A').length;
  const before = asked();
  const resolving = resolver({ timeoutMs: 300 })('half-silent.example');
  while (asked() === before) await new Promise(setImmediate);
  // When a later answer has come, so has this one.
  await resolver()('v4.example');
  await new Promise(setImmediate);
  context.mock.timers.tick(299);
  await resolver()('v4.example');
  context.mock.timers.tick(1);
  assert.deepEqual(await resolving, [v4]);
  assert.equal(asked(), before + 1);
});

test('garbage is no answer', () => refuses('garbage.example', /^host lookup/, { timeoutMs: 150 }));

test('a server that nobody runs is a failure', () =>
  refuses('both.example', /^host lookup/, { servers: ['127.0.0.1:1'], timeoutMs: 150 }));

test('one slow name does not delay others', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const timeoutMs = 3_000;
  const resolve = resolver({ timeoutMs });
  const slow = Array.from({ length: 100 }, () => resolve('silent.example').catch(() => 'slow'));
  const first = await Promise.race([...slow, resolve('both.example')]);
  assert.deepEqual(first, [v4, v6]);
  context.mock.timers.tick(timeoutMs);
  await Promise.all(slow);
});

test('a slow name has all of its time, however fast others are answered', async () => {
  const resolve = resolver();
  for (let round = 0; round < 20; round++) await resolve('v4.example');
  const slow = resolve('slow.example');
  while ((await Promise.race([slow, wait(20)])) === undefined) await resolve('v4.example');
  assert.deepEqual(await slow, [v4]);
});

test('one of several servers that fails, is silent, or is not there leaves the word to the others', async () => {
  const sick = await startDnsServer(({ name }) =>
    name === 'v4.example' ? { responseCode: serverFailure } : 'silence',
  );
  after(() => sick.close());
  for (const first of [sick.address, '127.0.0.1:1']) {
    const resolve = resolver({ servers: [first, server.address], timeoutMs: 1_000 });
    assert.deepEqual(await resolve('v4.example'), [v4, '1.1.1.1']);
    assert.deepEqual(await resolve('v6.example'), [v6]);
    await assert.rejects(resolve('unknown.example'), /^ResolutionFailure: host not found$/);
  }
});

test('of several servers the first one is asked, and no other while that one answers', async () => {
  const other = await startDnsServer(() => ({ responseCode: nameError }));
  after(() => other.close());
  const resolve = resolver({ servers: [server.address, other.address] });
  assert.deepEqual(await resolve('both.example'), [v4, v6]);
  assert.deepEqual(other.questions, []);
});

test('private answers and localhost are for development only', async () => {
  const development = resolver({ allowPrivate: true });
  assert.deepEqual(await development('private.example'), ['10.0.0.1']);
  assert.deepEqual(await development('localhost'), ['127.0.0.1', '::1']);
  assert.deepEqual(await development('shop.localhost'), ['127.0.0.1', '::1']);
  // Without the option the name goes to the DNS server, never to the host file.
  assert.deepEqual(await resolver()('localhost'), [v4]);
});
