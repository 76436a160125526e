// The metrics of an edge's requests, as a scrape shows them, are those of the library's own histogram.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import type { Answered } from '../../src/edge/api/api.ts';
import { RequestCounts } from '../../src/telemetry/request-counts.ts';

const buckets = [0.001, 0.01, 1];
const answered = (fields: Partial<Answered>) =>
  ({ route: 'GET /v1/account', status: 200, code: null, durationMs: 0, ...fields }) as Answered;

test('requests are counted by route and status, refusals by code, also when they are read again', async () => {
  const registry = new Registry();
  const counts = new RequestCounts(registry, buckets);
  counts.add(answered({}));
  counts.add(answered({}));
  counts.add(answered({ status: 429, code: 'rate_limit_exceeded' }));
  counts.add(answered({ route: null, status: 404, code: 'unrecognized_request_url' }));
  await registry.metrics();
  const text = await registry.metrics();
  for (const line of [
    'payments_requests_total{route="GET /v1/account",status="200"} 2',
    'payments_requests_total{route="GET /v1/account",status="429"} 1',
    'payments_requests_total{route="none",status="404"} 1',
    'payments_refused_requests_total{code="rate_limit_exceeded"} 1',
    'payments_refused_requests_total{code="unrecognized_request_url"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});

test('durations come out as the library counts them, bounds included', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const counts = new RequestCounts(ours, buckets);
  const histogram = new Histogram({
    name: 'payments_request_duration_seconds',
    help: 'From the head of a request to its answer',
    labelNames: ['route'],
    buckets,
    registers: [theirs],
  });
  for (const route of ['GET /v1/account', 'GET /v1/events']) {
    for (const durationMs of [0, 1, 2, 10, 11, 999, 1000, 1001, 60_000]) {
      counts.add(answered({ route, durationMs }));
      histogram.observe({ route }, durationMs / 1000);
    }
  }
  const name = 'payments_request_duration_seconds';
  assert.equal(await ours.getSingleMetricAsString(name), await theirs.getSingleMetricAsString(name));
});
