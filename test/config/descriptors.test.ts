// The limit of open files: how it is divided, and a flood of connections to a service that has few descriptors.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { withinOpenFiles } from '../../src/config/descriptors.ts';
import { ConfigError } from '../../src/config/settings.ts';
import { type Service, sampleIn, startService, withRequestLogs } from '../service.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

const configDir = join(import.meta.dirname, '../../config');

interface Shares {
  readonly connections: number;
  readonly perAddress: number;
  readonly attempts: number;
}

function share(openFiles: number, env: Readonly<Record<string, string>> = {}, shards = 1): Shares {
  const threads = { PAYMENTS_EDGES: '1', PAYMENTS_WEBHOOK_THREADS: '1', ...withRequestLogs };
  const config = withinOpenFiles(
    loadConfig({ NODE_ENV: 'test', ...threads, ...env }, configDir),
    shards,
    openFiles,
  );
  const { max, perAddressMax } = config.connections;
  return { connections: max, perAddress: perAddressMax, attempts: config.webhooks.concurrency };
}

describe('the limit of open files is shared out', () => {
  const few = { PAYMENTS_CONNECTIONS_MAX: '40', PAYMENTS_CONNECTIONS_PER_ADDRESS_MAX: '10' };
  const postgresql = { PAYMENTS_JOURNAL_URL: 'postgresql://payments@127.0.0.1:5432/payments' };
  const node = { ...postgresql, PAYMENTS_CLUSTER_NODE: 'a', PAYMENTS_CLUSTER_ADDRESS: '127.0.0.1:8080' };
  const twoDatabases = { ...node, PAYMENTS_JOURNAL_URL: '0-0=postgresql://a/log 1-1=postgresql://b/log' };
  const rows: readonly [what: string, seen: Shares, expected: Shares][] = [
    ['a small one', share(296), { connections: 63, perAddress: 16, attempts: 10 }],
    ['the usual one of a shell', share(1024), { connections: 609, perAddress: 64, attempts: 101 }],
    ['that of a service', share(65_536), { connections: 10_000, perAddress: 500, attempts: 2_048 }],
    ['no limit', share(Number.MAX_SAFE_INTEGER), { connections: 10_000, perAddress: 500, attempts: 2_048 }],
    ['more shards', share(1024, {}, 8), { connections: 84, perAddress: 21, attempts: 14 }],
    ['a log in PostgreSQL', share(1024, postgresql), { connections: 602, perAddress: 64, attempts: 100 }],
    ['one of several nodes', share(1024, node), { connections: 572, perAddress: 64, attempts: 95 }],
    ['two databases', share(1024, twoDatabases), { connections: 566, perAddress: 64, attempts: 94 }],
    ['as configured', share(1024, few), { connections: 40, perAddress: 10, attempts: 386 }],
  ];
  for (const [what, seen, expected] of rows) test(what, () => assert.deepEqual(seen, expected));

  test('one that is too small is refused, with the number that it takes', () => {
    const refusal = (openFiles: number, env = {}) => {
      try {
        share(openFiles, env);
      } catch (error) {
        assert(error instanceof ConfigError, String(error));
        return error.message;
      }
      throw new Error('it was not refused');
    };
    assert.match(refusal(64), /^the limit of open files is 64, and the service needs 244: .*ulimit -n 244/);
    assert.equal(share(244).connections, 16);
    const many = { PAYMENTS_CONNECTIONS_MAX: '2000' };
    assert.match(
      refusal(1024, many),
      /^PAYMENTS_CONNECTIONS_MAX is 2000, .* \(1024\) leaves 796: .*ulimit -n 2228/,
    );
    assert.equal(share(2_228, many).connections, 2_000);
  });
});

/** A connection from an address of loopback that has had an answer, or that was closed at once. */
class Visitor {
  readonly socket: Socket;
  #text = '';
  #said = Promise.withResolvers<void>();

  constructor(service: Service, localAddress = '127.0.0.1') {
    const { hostname, port } = new URL(service.url);
    this.socket = connect({ host: hostname, port: Number(port), localAddress });
    this.socket.on('error', () => {});
    this.socket.on('close', () => this.#said.resolve());
    this.socket.on('data', (chunk) => {
      this.#text += chunk;
      this.#said.resolve();
    });
  }

  /** Sends a request, and gives the status of its answer; null when the connection is closed. */
  async ask(request = 'GET /healthz HTTP/1.1\r\nHost: pay\r\n\r\n'): Promise<number | null> {
    this.#said = Promise.withResolvers();
    this.#text = '';
    if (this.socket.closed) return null;
    this.socket.write(request);
    await this.#said.promise;
    const status = /^HTTP\/1\.1 (\d+)/.exec(this.#text)?.[1];
    return status === undefined ? null : Number(status);
  }

  create(key: string, number: number): Promise<number | null> {
    const body = JSON.stringify({ amount: 12_000, currency: 'mad' });
    return this.ask(
      `POST /v1/payment_intents HTTP/1.1\r\nHost: pay\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        `Idempotency-Key: flood-${number}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }
}

/** Opens connections one by one; gives those that were let in. */
async function flood(service: Service, count: number, localAddress?: string): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  for (let i = 0; i < count; i++) {
    const visitor = new Visitor(service, localAddress);
    if ((await visitor.ask()) !== null) visitors.push(visitor);
  }
  return visitors;
}

/** Ends connections and waits until the service has seen it. */
async function leave(service: Service, visitors: readonly Visitor[], left: number): Promise<void> {
  for (const { socket } of visitors) socket.destroy();
  await service.until(async () => (await metric(service, 'payments_connections')) === left || undefined);
}

async function metric(service: Service, name: string): Promise<number> {
  return sampleIn(await service.metrics(), name);
}

const refusedOf = (reason: string) => `payments_connections_refused_total{reason="${reason}"}`;

test('with 296 descriptors, a flood of idle connections stops nothing', async (context) => {
  if (process.platform !== 'linux')
    return context.skip('connections are told apart by address on Linux only');
  const receiver = await startReceiver({ respond: (response) => response.end('ok') });
  const service = await startService({ openFiles: 296, env: { ...withRequestLogs, ...webhookEnv } });
  const key = service.keys!.secret;
  const working = new Visitor(service, '127.0.0.9');
  assert.equal(await working.ask(), 200);
  const body = { url: `${receiver.origin}/hooks`, enabled_events: ['payment_intent.created'] };
  const endpoint = await service.call('/v1/webhook_endpoints', {
    key,
    body,
    headers: { Connection: 'close' },
  });
  assert.equal(endpoint.status, 200, endpoint.text);
  await leave(service, [], 1);

  // 63 in all, of which one address has 16: two leave more than half of them to others.
  const crowds: Visitor[][] = [];
  for (const [address, admitted, refused] of [
    ['127.0.0.1', 16, { address: 104, all: 0 }],
    ['127.0.0.2', 16, { address: 208, all: 0 }],
    ['127.0.0.3', 16, { address: 312, all: 0 }],
    ['127.0.0.4', 14, { address: 312, all: 106 }],
    ['127.0.0.5', 0, { address: 312, all: 226 }],
  ] as const) {
    const crowd = await flood(service, 120, address);
    assert.equal(crowd.length, admitted, address);
    const counted = {
      address: await metric(service, refusedOf('address')),
      all: await metric(service, refusedOf('all')),
    };
    assert.deepEqual(counted, refused, address);
    crowds.push(crowd);
  }

  for (let i = 0; i < 20; i++) assert.equal(await working.create(key, i), 200);
  await service.until(() => receiver.requests.length >= 20 || undefined);
  assert.equal((await service.operate<unknown[]>('org.list', {})).length, 1);
  assert.doesNotMatch(service.output(), /shard 0 ended/);
  await service.until(
    () => /127\.0\.0\.1 has 16 connections: more are closed at once/.exec(service.output()) ?? undefined,
  );
  await service.until(
    () => /there are 63 connections: more are closed at once/.exec(service.output()) ?? undefined,
  );

  await leave(service, crowds.flat(), 1);
  assert.equal((await flood(service, 3)).length, 3);
  assert.equal(await service.stop(), 0);
  await receiver.close();
});

test('an address has what it has open, not what it once had; trusted proxies have no limit of their own', async (context) => {
  if (process.platform !== 'linux')
    return context.skip('connections are told apart by address on Linux only');
  const service = await startService({
    env: {
      PAYMENTS_CONNECTIONS_PER_ADDRESS_MAX: '100',
      PAYMENTS_PAGES_TRUSTED_PROXIES: '127.0.0.8/29',
      // An edge does not know how many of an address's connections came to another one.
      PAYMENTS_EDGES: '1',
      PAYMENTS_WEBHOOK_THREADS: '1',
    },
  });
  const proxy = await flood(service, 130, '127.0.0.9');
  assert.equal(proxy.length, 130);
  for (let round = 0; round < 40; round++) {
    const visitors = await flood(service, 5, '127.0.0.1');
    assert.equal(visitors.length, 5, `round ${round}`);
    await leave(service, visitors, 130);
  }
  // Idle ones would be ended, on a machine that has much else to do.
  const stay = async () => {
    for (const visitor of proxy) assert.equal(await visitor.ask(), 200);
  };
  await stay();
  // What has ended since the last count is subtracted from all addresses, so it may get some more;
  // never fewer.
  // An end that the edge has not counted yet may hold a place for a moment.
  const crowd = await service.until(async () => {
    const visitors = await flood(service, 100, '127.0.0.1');
    if (visitors.length === 100) return visitors;
    await leave(service, visitors, 130);
    await stay();
    return undefined;
  });
  await service.until(async () => {
    const more = await flood(service, 1, '127.0.0.1');
    crowd.push(...more);
    return more.length === 0 || undefined;
  });
  await stay();
  // Whatever ended was its own: now the numbers are exact.
  await leave(service, crowd.splice(99), 130 + 99);
  assert.equal((await flood(service, 1, '127.0.0.1')).length, 1);
  assert.equal((await flood(service, 1, '127.0.0.1')).length, 0);
  await stay();
  assert.equal(await service.stop(), 0);
});
