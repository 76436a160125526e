// `payments status`: the rates between two readings of the metrics, and the figures of a running service.

import assert from 'node:assert/strict';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bytesBelow } from '../../src/data-folder/disk-space.ts';
import type { Status } from '../../src/operator/use-cases/services.ts';
import type { Samples } from '../../src/telemetry/samples.ts';
import { archiveStatus, countedStatus } from '../../src/telemetry/status.ts';
import { newOrganization, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { eventually, webhookEnv } from '../webhooks/service-webhooks.ts';

type Row = readonly [labels: Readonly<Record<string, string>>, value: number];

const samplesIn =
  (rows: Readonly<Record<string, readonly Row[]>>): Samples =>
  (name) =>
    (rows[name] ?? []).map(([labels, value]) => ({ labels, value }));

test('an archive is as far behind as its part that is most, and that is not known when it tells nothing', () => {
  const lags = [
    [{ part: 'shard-0' }, 3],
    [{ part: 'directory' }, 40],
  ] as const;
  const failures = [[{}, 2]] as const;
  const told = samplesIn({ payments_archive_lag_seconds: lags, payments_archive_failures_total: failures });
  assert.deepEqual(archiveStatus('/archive', told), { path: '/archive', lag_seconds: 40, failures: 2 });
  const silent = { path: '/archive', lag_seconds: null, failures: 0 };
  assert.deepEqual(archiveStatus('/archive', samplesIn({})), silent);
});

test('rates are what grew between the two moments; a shard that is down or was started anew has none', () => {
  const before = samplesIn({
    payments_shard_up: [[{ shard: '0' }, 1]],
    payments_log_sequence: [
      [{ shard: '0' }, 100],
      [{ shard: '2' }, 50],
    ],
    payments_commit_duration_seconds_count: [[{ shard: '0' }, 10]],
    payments_commit_duration_seconds_sum: [[{ shard: '0' }, 1]],
    payments_request_duration_seconds_count: [[{ route: 'a' }, 5]],
    payments_request_duration_seconds_sum: [[{ route: 'a' }, 1]],
    payments_thread_cpu_seconds_total: [[{ thread: 'edge-0' }, 4]],
  });
  const after = samplesIn({
    payments_shard_up: [
      [{ shard: '1' }, 0],
      [{ shard: '0' }, 1],
      [{ shard: '2' }, 1],
    ],
    payments_read_only: [[{ shard: '2' }, 1]],
    payments_shard_restarts_total: [[{ shard: '2' }, 3]],
    payments_log_sequence: [
      [{ shard: '0' }, 120],
      [{ shard: '2' }, 40],
    ],
    payments_checkpoint_sequence: [[{ shard: '0' }, 90]],
    payments_commit_duration_seconds_count: [[{ shard: '0' }, 14]],
    payments_commit_duration_seconds_sum: [[{ shard: '0' }, 1.02]],
    payments_request_duration_seconds_count: [
      [{ route: 'a' }, 7],
      [{ route: 'b' }, 8],
    ],
    payments_request_duration_seconds_sum: [
      [{ route: 'a' }, 1.05],
      [{ route: 'b' }, 0.05],
    ],
    payments_requests_total: [
      [{ route: 'a', status: '200' }, 7],
      [{ route: 'b', status: '503' }, 8],
    ],
    payments_webhook_oldest_delivery_seconds: [
      [{ shard: '0' }, 3],
      [{ shard: '2' }, 7],
    ],
    payments_thread_cpu_seconds_total: [
      [{ thread: 'edge-0' }, 4.5],
      [{ thread: 'shard-2' }, 9],
    ],
  });
  const sizes = { log_bytes: 1, checkpoint_bytes: 2 };
  const { shards, requests, webhooks, threads } = countedStatus(before, after, 2, () => sizes);
  assert.deepEqual(
    shards.map(({ shard, serves, read_only, restarts, writes_per_second }) => [
      shard,
      serves,
      read_only,
      restarts,
      writes_per_second,
    ]),
    [
      [0, true, false, 0, 10],
      [1, false, false, 0, 0],
      [2, true, true, 3, 0],
    ],
  );
  assert.deepEqual(
    [shards[0]!.log_sequence, shards[0]!.checkpoint_sequence, shards[0]!.log_bytes],
    [120, 90, 1],
  );
  assert.ok(Math.abs(shards[0]!.commit_mean_ms! - 5) < 1e-9);
  assert.deepEqual([shards[1]!.log_sequence, shards[1]!.commit_mean_ms], [null, null]);
  assert.deepEqual([requests.total, requests.failed_total, requests.per_second], [15, 8, 5]);
  assert.ok(Math.abs(requests.mean_ms! - 10) < 1e-9);
  assert.deepEqual([webhooks.waiting, webhooks.oldest_seconds], [0, 7]);
  assert.deepEqual(threads, [
    { thread: 'edge-0', cpu: 0.25 },
    { thread: 'shard-2', cpu: 0 },
  ]);
});

test('the size of a folder is what it takes on the disk, and that of none is 0', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'below'));
  const file = join(folder, 'below', 'file');
  writeFileSync(file, Buffer.alloc(64 * 1024, 1), { flush: true });
  const filled = bytesBelow(folder);
  assert.ok(filled >= 64 * 1024, String(filled));
  truncateSync(file, 2 ** 30);
  assert.ok(bytesBelow(folder) < 2 ** 29, 'holes take nothing');
  assert.equal(bytesBelow(join(folder, 'none')), 0);
});

test('the status of a service that runs', async () => {
  const service = await startService({ env: { PAYMENTS_SHARDS: '2' } });
  try {
    const { key } = await newOrganization(service);
    const before = await service.operate<Status>('status', {});
    for (let number = 0; number < 5; number++) {
      const body = { amount: 12_000, currency: 'mad' };
      await service.call('/v1/payment_intents', { key, body, idempotencyKey: `create-${number}` });
    }
    const status = await service.operate<Status>('status', {});
    assert.equal(status.pid, service.process.pid);
    assert.equal(status.url, service.url);
    assert.equal(status.folder.path, service.dataDir);
    assert.match(status.folder.id, /^[0-9a-f]{32}$/);
    assert.ok(status.uptime_seconds >= before.uptime_seconds && status.started <= new Date().toISOString());
    assert.deepEqual(
      status.shards.map(({ shard, serves }) => [shard, serves]),
      [
        [0, true],
        [1, true],
      ],
    );
    const sequences = ({ shards }: Status) =>
      shards.reduce((total, { log_sequence: sequence }) => total + sequence!, 0);
    assert.ok(sequences(status) >= sequences(before) + 5);
    for (const shard of status.shards) {
      assert.ok(shard.checkpoint_sequence! <= shard.log_sequence!);
      assert.ok(shard.checkpoint_bytes > 0);
      assert.ok(shard.resident_bytes_max! > 0 && shard.resident_bytes! <= shard.resident_bytes_max!);
    }
    assert.ok(status.shards.some((shard) => shard.log_bytes > 0));
    assert.equal(status.requests.total, before.requests.total + 5);
    assert.ok(status.edges.count >= 1 && status.edges.connections_max > 0);
    assert.ok(status.memory.resident_bytes > 0);
  } finally {
    await service.stop();
  }
});

test('the endpoints that fail, of all shards, are ten at most, with the figures of "webhooks list"', async () => {
  const receiver = await startReceiver({
    respond: (response) => {
      response.statusCode = 503;
      response.end();
    },
  });
  const service = await startService({
    env: { ...webhookEnv, PAYMENTS_SHARDS: '2', PAYMENTS_WEBHOOKS_RETRY_SECONDS: '3600' },
  });
  try {
    const shops = [await newOrganization(service), await newOrganization(service)];
    const endpoints: string[] = [];
    for (const { key } of shops) {
      for (let number = 0; number < 6; number++) {
        const body = { url: `${receiver.origin}/${number}`, enabled_events: ['payment_intent.created'] };
        endpoints.push((await service.call('/v1/webhook_endpoints', { key, body })).json.id);
      }
      const body = { amount: 12_000, currency: 'mad' };
      await service.call('/v1/payment_intents', { key, body, idempotencyKey: 'pay' });
    }
    let { webhooks } = await service.operate<Status>('status', {});
    await eventually(async () => {
      ({ webhooks } = await service.operate<Status>('status', {}));
      return webhooks.endpoints_failing === 12;
    });
    const { failing } = webhooks;
    assert.equal(failing.length, 10);
    const since = failing.map(({ failing_since }) => failing_since);
    assert.deepEqual(since, [...since].sort(), 'those that have failed for longest come first');
    for (const { id: org } of shops) {
      const listed = await service.operate<typeof failing>('webhooks.list', { org });
      const named = failing.filter(({ organization }) => organization === org);
      assert.ok(named.length > 0);
      for (const each of named) {
        const other = listed.find(({ id }) => id === each.id)!;
        // The time of day follows from that of the service, which was looked at a moment apart.
        assert.ok(Math.abs(Date.parse(each.next_attempt!) - Date.parse(other.next_attempt!)) < 1_000);
        assert.deepEqual(each, { ...other, next_attempt: each.next_attempt });
        assert.deepEqual([each.last_status, each.attempts_24h, each.failed_24h], [503, 1, 1]);
        assert.ok(each.failing_since !== null);
      }
    }
    const [{ key }] = shops as [(typeof shops)[0]];
    const disabled = { key, body: { disabled: true } };
    await service.call(`/v1/webhook_endpoints/${endpoints[0]}`, disabled);
    ({ webhooks } = await service.operate<Status>('status', {}));
    assert.equal(webhooks.endpoints_failing, 11);
    assert.ok(
      webhooks.failing.every(({ id }) => id !== endpoints[0]),
      'a disabled endpoint needs nobody',
    );
  } finally {
    await service.stop();
    await receiver.close();
  }
});
