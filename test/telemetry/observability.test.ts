// The log and the metrics of a running service: a line for each request, the metrics of each part, and no secret in either.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, newOrganization, sampleIn, startService } from '../service.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

const body = { amount: 12_000, currency: 'mad' };
const card = '4242424242424242';

interface Line {
  readonly msg: string;
  readonly requestId: string;
  readonly org: string | null;
  readonly route: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly durationMs: number;
  readonly replayed: boolean;
}

test('each request has one line in the log, and no line holds a secret', async () => {
  const env = {
    PAYMENTS_LOG_LEVEL: 'trace',
    ...webhookEnv,
  };
  const service = await startService({ env });
  const { id: org, key } = await newOrganization(service);
  const basic = { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
  const create = '/v1/payment_intents';
  const endpoint = { url: 'http://127.0.0.1:9/hook', enabled_events: ['*'] };
  const typed = { ...body, metadata: { card } };
  const wanted: [path: string, call: Parameters<typeof service.call>[1], line: Partial<Line>][] = [
    [
      create,
      { key, body, idempotencyKey: 'a' },
      { org, route: `POST ${create}`, status: 200, replayed: false },
    ],
    [
      create,
      { key, body, idempotencyKey: 'a' },
      { org, route: `POST ${create}`, status: 200, replayed: true },
    ],
    [create, { key, body: typed, idempotencyKey: 'b' }, { org, status: 400, code: 'parameter_invalid' }],
    [
      `${create}?email=${key}`,
      { headers: basic, key: null },
      { org, status: 400, code: 'parameter_unknown' },
    ],
    ['/v1/webhook_endpoints', { key, body: endpoint }, { org, status: 200 }],
    [`/v1/${key}`, { key }, { org, route: null, status: 404, code: 'unrecognized_request_url' }],
    ['/v1/account', { key: null }, { org: null, status: 401, code: 'api_key_missing' }],
    ['/v1/account', { key: `${key}x` }, { org: null, status: 401, code: 'api_key_invalid' }],
    ['/v1/exports/payment_intents', { key }, { org, route: 'GET /v1/exports/payment_intents', status: 200 }],
  ];
  const answers: Answer[] = [];
  for (const [path, call] of wanted) answers.push(await service.call(path, call));
  const secret: string = answers[4]!.json.secret;
  assert.match(secret, /^svc_whsec_/);
  assert.equal(await service.stop(), 0);

  const lines: Line[] = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  for (const [i, [, , expected]] of wanted.entries()) {
    const id: string | null = answers[i]!.headers.get('request-id');
    const found: Line[] = lines.filter(({ msg, requestId }) => msg === 'request' && requestId === id);
    assert.equal(found.length, 1, `one line for ${id}`);
    const { durationMs, ...line } = found[0]!;
    assert(durationMs >= 0 && durationMs < 60_000);
    assert.deepEqual({ ...line, ...expected }, line);
  }
  // What the first start prints for the person at the terminal is no log.
  const log = service.output().slice(service.output().indexOf('{"level"'));
  for (const text of [key, key.slice(12), card, secret, basic.Authorization.slice(6)]) {
    assert(!log.includes(text), `the log holds ${text}`);
  }
});

test('the metrics are served on a port of their own, if one is set', async () => {
  const service = await startService({
    env: { PAYMENTS_METRICS_PORT: '0', PAYMENTS_LOG_LEVEL: 'info' },
  });
  const url = await service.until(
    () => /metrics on (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(service.output())?.[1],
  );
  await service.call('/v1/account');
  const [metrics, again] = await Promise.all([fetch(url), fetch(url)]);
  assert.equal(metrics.status, 200);
  assert.match(metrics.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/);
  const text = await metrics.text();
  assert.match(text, /^payments_requests_total\{route="GET \/v1\/account",status="200"\} 1$/m);
  assert.match(text, /^payments_shard_up\{shard="0"\} 1$/m);
  assert.equal(again.status, 200);
  const others = [await fetch(new URL('/v1/account', url)), await fetch(url, { method: 'POST' })];
  assert.deepEqual(
    others.map(({ status }) => status),
    [404, 405],
  );
  assert.equal((await service.call('/metrics')).status, 404, 'not on the port that merchants reach');

  const taken = startService({ env: { PAYMENTS_METRICS_PORT: new URL(url).port } });
  await assert.rejects(taken, /payments: the metrics' port \d+ on 127\.0\.0\.1 is in use: choose another/);
  assert.equal(await service.stop(), 0);
});

test('the metrics tell what an operator asks', async () => {
  const service = await startService();
  const { key } = await newOrganization(service);
  for (let number = 0; number < 5; number++) {
    await service.call('/v1/payment_intents', { key, body, idempotencyKey: `create-${number}` });
  }
  await service.call('/v1/payment_intents', {
    key,
    body: { amount: 1, currency: 'mad' },
    idempotencyKey: 'small',
  });
  await service.call('/v1/account', { key: null });
  const text = await service.metrics();
  const value = (name: string) => sampleIn(text, name);
  const route = 'route="POST /v1/payment_intents"';
  assert.equal(value(`payments_requests_total{${route},status="200"}`), 5);
  assert.equal(value(`payments_requests_total{${route},status="400"}`), 1);
  assert.equal(value('payments_refused_requests_total{code="amount_too_small"}'), 1);
  assert.equal(value('payments_refused_requests_total{code="api_key_missing"}'), 1);
  assert.equal(value(`payments_request_duration_seconds_count{${route}}`), 6);
  assert(value('payments_turn_requests_count{shard="0"}') > 0);
  assert(value('payments_commit_duration_seconds_count{shard="0"}') >= 6);
  assert.equal(value('payments_queue_depth{shard="0"}'), 0);
  assert(value('payments_recovery_duration_seconds{shard="0"}') > 0);
  assert.equal(value('payments_shard_up{shard="0"}'), 1);
  assert.equal(value('payments_read_only{shard="0"}'), 0);
  for (const thread of process.platform === 'linux' ? ['main', 'edge-0', 'shard-0', 'webhooks-0'] : []) {
    assert(value(`payments_thread_cpu_seconds_total{thread="${thread}"}`) > 0, thread);
    assert(value(`payments_thread_gc_seconds_total{thread="${thread}"}`) >= 0, thread);
  }
  assert(value('process_resident_memory_bytes') > 0);
  assert(!text.includes(key));
  assert.equal(await service.stop(), 0);
});
