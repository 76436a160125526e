// An edge that holds too many answers for the slow clients of one organization refuses that organization's reads before they
// reach a shard. It does not refuse its writes, nor anybody else's requests.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { routeTable } from '../../src/contract/routes/table.ts';
import { HeldBytes } from '../../src/edge/http/held-bytes.ts';
import { listen, type Server } from '../../src/edge/http/server.ts';
import { type Port, ShardClient } from '../../src/shard/client.ts';
import { AnswerWriter } from '../../src/shard/frames.ts';
import type { FromShard, ToShard } from '../../src/shard/protocol.ts';
import { readRequests } from '../shard/read-requests.ts';
import { RawConnection, requestText } from './raw.ts';
import { trustingApi } from './trusting-api.ts';
import { unlimited } from './unlimited.ts';

const mib = 1024 * 1024;
/** More than the buffers of a connection take. */
const large = Buffer.alloc(24 * mib, 'x');
const held = new HeldBytes(160 * mib);
/** `GET /v1/events …`, as the shard hears of it. */
const heard: string[] = [];
let server: Server;

/** A shard that answers lists with a large body and everything else with a small one. */
class Answering implements Port {
  #onMessage: (message: FromShard) => void = () => {};

  postMessage(batch: ToShard): void {
    const writer = new AnswerWriter();
    readRequests(batch as ArrayBuffer, ({ correlation, route, org }) => {
      const { method, path } = routeTable[route]!;
      heard.push(`${method} ${path} ${org}`);
      const limits = { limit: 1, remaining: 1, resetSeconds: 1 };
      const fields = { status: 200, flags: 0, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
      writer.put(correlation, limits, fields, path === '/v1/events' ? large : '{}');
    });
    this.#onMessage(writer.take());
  }

  on(event: 'message' | 'close', listener: ((message: FromShard) => void) | (() => void)): void {
    if (event === 'message') this.#onMessage = listener;
  }

  close(): void {}
}

before(async () => {
  const shard = new ShardClient();
  shard.connect(new Answering());
  const api = trustingApi(shard);
  server = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    clock: Date.now,
    newRequestId: () => 'req_test',
    requestTimeoutMs: 30_000,
    slowClientMs: 30_000,
    httpsOnly: false,
    held,
    bodies: new HeldBytes(1 << 30),
    connections: unlimited,
    onApi: (exchange, head) => api.handle(exchange, head),
    onSite: (exchange) => exchange.cut(),
    onFailed: (error) => assert.fail(error as Error),
  });
});
after(() => server.stop(0));

const call = (path: string, org: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers: { Authorization: org } });

test('reads of an organization whose clients are slow are refused for a moment, and nothing else', async () => {
  const slow = Array.from({ length: 2 }, () => new RawConnection(`http://127.0.0.1:${server.port}`));
  for (const { socket } of slow) {
    socket.pause();
    socket.write(requestText('GET /v1/events', [['Authorization', 'org_1']]));
  }
  while (heard.length < slow.length) await new Promise((resolve) => setImmediate(resolve));
  heard.length = 0;
  const refused = await call('/v1/events', 'org_1');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'api_error');
  assert.deepEqual(heard, [], 'before its shard had any work');
  assert.equal((await call('/v1/customers', 'org_1', { method: 'POST' })).status, 200);
  assert.equal((await (await call('/v1/events', 'org_2')).arrayBuffer()).byteLength, large.length);
  for (const connection of slow) connection.end();
  while (server.exchanges.open.size > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await call('/v1/events', 'org_1')).status, 200);
});
