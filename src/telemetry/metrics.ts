// Metrics: each thread has a prom-client registry of its own; the main thread asks all of them and
// adds them up.

import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { AttemptResult } from '../domain/record.ts';
import type { Answered } from '../edge/api/api.ts';
import type { ConnectionRefusal } from '../edge/http/connections.ts';
import type { Metric, OperatorServices } from '../operator/use-cases/services.ts';
import type { ShardClient } from '../shard/client.ts';
import { noRoomReasons } from '../shard/fair-queue.ts';
import { type DeliveryOutcome, deliveryOutcomes, type ShardObserver } from '../shard/shard-options.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import { Durations } from './durations.ts';
import { metricsIn } from './metrics-in.ts';
import { RequestCounts } from './request-counts.ts';

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** The metrics of an edge. */
export function createEdgeMetrics(registry: Registry) {
  const { gauge, counter } = metricsIn(registry);
  const counts = new RequestCounts(registry, seconds);
  const connections = gauge('payments_connections', 'Open connections');
  const connectionsRefused = counter(
    'payments_connections_refused_total',
    'Connections that were closed at once, because there were too many in all or from one address',
    ['reason'],
  );
  for (const reason of ['all', 'address']) connectionsRefused.labels(reason).inc(0);
  return {
    connections,
    connectionRefused: (reason: ConnectionRefusal) => connectionsRefused.labels(reason).inc(),
    answered: (answered: Answered) => counts.add(answered),
  };
}

/** Counts entries that the request logs don't have, at an edge or where they are written. */
export function countLostEntries(registry: Registry): (entries: number) => void {
  const lost = metricsIn(registry).counter(
    'payments_request_log_lost_total',
    'Entries of the request logs that were not kept, because too many came at once or the disk took none',
  );
  lost.inc(0);
  return (entries) => lost.inc(entries);
}

/** What waits for each shard at an edge, and what was refused or withdrawn there before it ran. */
export function countAdmission(registry: Registry, shards: readonly ShardClient[]): void {
  const { gauge, counter } = metricsIn(registry);
  const ofEach = (of: (client: ShardClient) => number) => () =>
    shards.map((client, shard) => [{ shard }, of(client)] as const);
  gauge(
    'payments_waiting_requests',
    'Requests without an answer yet',
    ['shard'],
    ofEach(({ waitingCount }) => waitingCount),
  );
  gauge(
    'payments_waiting_bytes',
    'About what these take',
    ['shard'],
    ofEach(({ waitingBytes }) => waitingBytes),
  );
  counter(
    'payments_overload_refusals_total',
    'Requests that were refused because too many waited: in all, or of the organization, or to make room for others',
    ['shard', 'reason'],
    () =>
      shards.flatMap(({ refused }, shard) =>
        noRoomReasons.map((reason) => [{ shard, reason }, refused[reason]] as const),
      ),
  );
  counter(
    'payments_abandoned_requests_total',
    'Requests that were not run, because their client had gone or their time was up',
    ['shard'],
    ofEach(({ abandoned }) => abandoned),
  );
}

/** Makes metrics whose samples carry the number of a shard. */
function shardMetricsOf(registry: Registry, shard: string) {
  const { gauge, counter, histogram } = metricsIn(registry);
  const labelNames = ['shard'];
  return {
    histogram: (name: string, help: string, buckets: number[]) =>
      histogram(name, help, buckets, labelNames).labels(shard),
    gauge: (name: string, help: string) => gauge(name, help, labelNames).labels(shard),
    counter(name: string, help: string) {
      const counted = counter(name, help, labelNames).labels(shard);
      // Start at 0, so that rate() sees the first increment.
      counted.inc(0);
      return counted;
    },
  };
}

/** Counts the outcomes of webhook deliveries, each from 0 on, as other counters do. */
function countDeliveries(registry: Registry, shard: string): (outcome: DeliveryOutcome) => void {
  const counts = new Map(deliveryOutcomes.map((outcome) => [outcome, 0]));
  metricsIn(registry).counter(
    'payments_webhook_deliveries_total',
    'Webhook deliveries by what became of them with an attempt',
    ['shard', 'outcome'],
    () => [...counts].map(([outcome, count]) => [{ shard, outcome }, count] as const),
  );
  return (outcome) => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
}

function createScrubMetrics(gauge: ReturnType<typeof shardMetricsOf>['gauge']) {
  const metrics = {
    progress: gauge(
      'payments_scrub_progress',
      'How much of what is stored the scrubber has read in this pass',
    ),
    completed: gauge(
      'payments_scrub_last_completed_timestamp_seconds',
      'When the scrubber last had read all that is stored; 0: never yet',
    ),
    damaged: gauge(
      'payments_scrub_damaged',
      'Places that the scrubber found damaged, in this pass or in the one before',
    ),
  };
  for (const metric of Object.values(metrics)) metric.set(0);
  return metrics;
}

function memoryGauges(gauge: ReturnType<typeof shardMetricsOf>['gauge']) {
  return {
    resident: gauge('payments_resident_records', 'Records in memory'),
    residentBytes: gauge('payments_resident_bytes', 'About what the records in memory take'),
    residentBytesMax: gauge(
      'payments_resident_bytes_max',
      'What the records in memory may take: half of the heap that the shard may have',
    ),
  };
}

function journalGauges(gauge: ReturnType<typeof shardMetricsOf>['gauge']) {
  return {
    recovery: gauge('payments_recovery_duration_seconds', 'Replaying the journal at the last start'),
    logBytes: gauge('payments_log_bytes', 'What the write-ahead log takes on the disk'),
    logSequence: gauge('payments_log_sequence', 'The last sequence of the write-ahead log'),
    checkpointBytes: gauge('payments_checkpoint_bytes', 'What the checkpoint takes on the disk'),
    checkpointSequence: gauge(
      'payments_checkpoint_sequence',
      'The last sequence of the log that the checkpoint reflects',
    ),
    oldestCommit: gauge(
      'payments_oldest_commit_seconds',
      'For how long the oldest commit under way has waited for the disk',
    ),
    readOnly: gauge('payments_read_only', '1 while the disk is too full for writes'),
    single: gauge('payments_journal_single', '1 where one PostgreSQL without standbys holds the log'),
  };
}

/** What a shard tells while it works. */
function shardObserver(registry: Registry, shard: string): Omit<ShardObserver, 'stalled'> {
  const { histogram, gauge } = shardMetricsOf(registry, shard);
  const batchSize = histogram('payments_turn_requests', 'Requests of one commit batch', sizes);
  const commit = histogram(
    'payments_commit_duration_seconds',
    'From the end of a commit batch to when it is on disk',
    seconds,
  );
  const checkpoint = histogram('payments_checkpoint_duration_seconds', 'Writing one checkpoint', [
    ...seconds,
    30,
    60,
  ]);
  const checkpointRecords = gauge('payments_checkpoint_records', 'Records in the last checkpoint');
  const queued = gauge('payments_queue_depth', 'Requests waiting in the mailbox');
  return {
    attempted: countDeliveries(registry, shard),
    batchEnded(requests, queuedNow) {
      batchSize.observe(requests);
      queued.set(queuedNow);
    },
    committed: (duration) => commit.observe(duration),
    checkpointed(records, duration) {
      checkpoint.observe(duration);
      checkpointRecords.set(records);
    },
  };
}

/** The metrics of a shard. */
export function createShardMetrics(registry: Registry, shard: string) {
  const { gauge, counter } = shardMetricsOf(registry, shard);
  return {
    observer: shardObserver(registry, shard),
    ...memoryGauges(gauge),
    ...journalGauges(gauge),
    clockOff: gauge(
      'payments_clock_offset_seconds',
      "How far the machine's clock is from the time that the shard goes by, while it does not believe that clock",
    ),
    clockJumps: counter(
      'payments_clock_jumps_total',
      "Times that the machine's clock stepped by more than five seconds",
    ),
    scrub: createScrubMetrics(gauge),
    deliveriesWaiting: gauge(
      'payments_webhook_deliveries_waiting',
      'Webhook deliveries that wait for an attempt',
    ),
    oldestDelivery: gauge(
      'payments_webhook_oldest_delivery_seconds',
      'For how long the oldest webhook delivery to an enabled endpoint has been due',
    ),
  };
}

/** The metrics of a registry for programs. */
export async function metricsOf(registry: Registry): Promise<Metric[]> {
  const metrics: readonly MetricObjectWithValues<MetricValue<string>>[] = await registry.getMetricsAsJSON();
  return metrics.map(({ name, type, help, values }) => ({
    name,
    type: String(type),
    help,
    samples: values.map((value) => ({
      name: 'metricName' in value ? String(value.metricName) : name,
      labels: value.labels,
      value: value.value,
    })),
  }));
}

/** What `payments metrics` is told. */
export async function toldMetrics(registry: Registry): ReturnType<OperatorServices['metrics']> {
  return { text: await registry.metrics(), metrics: await metricsOf(registry) };
}

const attemptSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** The metrics of a webhook thread. */
export function createWebhookMetrics(registry: Registry) {
  const { gauge } = metricsIn(registry);
  const durations = new Durations(
    registry,
    'payments_webhook_attempt_duration_seconds',
    'From the look-up of the address to the end of the connection',
    'outcome',
    attemptSeconds,
  );
  const inFlight = gauge('payments_webhook_attempts_in_flight', 'Webhook attempts in flight');
  const queued = gauge('payments_webhook_deliveries_in_memory', 'Webhook deliveries next in line');
  const failing = gauge(
    'payments_webhook_endpoints_failing',
    'Enabled endpoints whose last attempt since the start failed',
  );
  return {
    attempted({ duration_ms, failure }: AttemptResult): void {
      durations.add(failure === null ? 'succeeded' : 'failed', duration_ms);
    },
    show(counts: ReturnType<Dispatcher['counts']>): void {
      inFlight.set(counts.inFlight);
      queued.set(counts.queued);
      failing.set(counts.failing);
    },
  };
}
