// A server whose handlers are wrong: what they throw, at once or later, ends their own exchange and nothing else.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { listen, type Server } from '../../src/edge/server.ts';

const bugs: string[] = [];
let server: Server;

before(async () => {
  server = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    clock: Date.now,
    newRequestId: () => 'req_test',
    requestTimeoutMs: 500,
    onBug: (error) => bugs.push((error as Error).message),
    onApi: (exchange) => exchange.answer(200, [], 'ok'),
    onSite: (exchange, { path }) => {
      if (path === '/throws') throw new Error('at once');
      exchange.guard(async () => {
        await wait(5);
        if (path === '/rejects') throw new Error('later');
        exchange.onTimeout = () => exchange.answer(303, [['Location', '/v1']], '');
      });
    },
  });
});

after(() => server.stop(0));

const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`, { redirect: 'manual' });

for (const { path, bug } of [
  { path: '/throws', bug: 'at once' },
  { path: '/rejects', bug: 'later' },
]) {
  test(`a handler of ${path} that fails ${bug} cuts its connection; the server goes on`, async () => {
    bugs.length = 0;
    await assert.rejects(get(path));
    assert.deepEqual(bugs, [bug]);
    assert.equal((await get('/v1')).status, 200);
    assert.equal(server.exchanges.open.size, 0);
  });
}

test('an exchange that takes too long gets the answer that its handler has for that', async () => {
  const answer = await get('/waits');
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/v1']);
});
