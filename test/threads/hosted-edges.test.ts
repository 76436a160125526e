// A real edge thread that a node runs for another one: when the link to that one is lost, who waits for an answer is refused
// and may try again.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { loadConfig } from '../../src/config/config.ts';
import { sizedFor } from '../../src/config/sizing.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';
import { HostedEdges } from '../../src/threads/hosted-edges.ts';
import { WaitingThreads } from '../../src/threads/thread-kinds.ts';
import { freePort } from '../free-port.ts';
import { assertUnavailable, send } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const configDir = join(import.meta.dirname, '../../config');
const key = `svc_sk_test_${'a'.repeat(32)}`;
const own = { org: 'org_1', livemode: false, secret: true, id: 'key_1', revoked: false, expiresAtMs: null };
const known = {
  organization: { id: 'org_1', active: true, liveActivated: false, limits: {} },
  keys: [{ ...own, digest: createHash('sha256').update(key).digest('hex') }],
};

test('whose request waits for a partition when the link is lost is answered with 503', async (context) => {
  const env = { NODE_ENV: 'test', PAYMENTS_SHARDS: '1', PAYMENTS_DATA_DIR: temporaryFolder(context) };
  const config = { ...sizedFor(loadConfig(env, configDir), 1), logLevel: 'silent' as const };
  const port = await freePort();
  const listening: boolean[] = [];
  const begun = Promise.withResolvers<void>();
  const threads = new WaitingThreads();
  const edges = new HostedEdges({
    config: () => config,
    port,
    trust: OwnershipBoard.memory(1),
    threads,
    logger: { info() {}, warn() {}, error() {} } as never,
    onListening(isListening) {
      listening.push(isListening);
      begun.resolve();
    },
  });
  const [link, shard] = [new MessageChannel(), new MessageChannel()];
  const edge = { number: 0, shards: 1, edges: 1, baseUrl: 'http://localhost', listenKey: '' };
  edges.take({ ...edge, keys: [known] as never }, 0, link.port1);
  await begun.promise;
  link.port2.postMessage({ type: 'connect', number: 0, count: 1, port: shard.port1 }, [shard.port1]);
  // The link ends when the request is on its way.
  shard.port2.once('message', () => link.port2.close());
  const url = `http://127.0.0.1:${port}`;
  const body = { amount: 5_000, currency: 'mad' };
  assertUnavailable(await send(url, '/v1/payment_intents', { key, body, idempotencyKey: 'one' }));
  await edges.ended(0);
  assert.deepEqual(listening, [true, false]);
  shard.port2.close();
  await edges.stop();
  // The next edge was prepared when this one had ended.
  await threads.stop();
});
