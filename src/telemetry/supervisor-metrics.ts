// The metrics of the main thread, and those of all threads together.

import type { Registry } from 'prom-client';
import AggregatorRegistry from 'prom-client/lib/cluster.js';
import collectDefaultMetrics from 'prom-client/lib/defaultMetrics.js';
import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config-schema.ts';
import { freeBytesIn } from '../data-folder/disk-space.ts';
import type { Pause } from '../data-folder/pause.ts';
import { countLostEntries } from './metrics.ts';
import { metricsIn } from './metrics-in.ts';

export type SupervisorMetrics = ReturnType<typeof createSupervisorMetrics>;

/** The metrics of the main thread: restarts, and what the process uses. */
export function createSupervisorMetrics(
  registry: Registry,
  { dataDir, logArchive }: Pick<Config, 'dataDir' | 'logArchive'>,
  pause: Pause,
) {
  const { gauge, counter } = metricsIn(registry);
  gauge('payments_build_info', '1; the labels say which version of the service and of Node it is', [
    'version',
    'node',
  ])
    .labels(manifest.version, process.versions.node)
    .set(1);
  gauge('payments_disk_free_bytes', 'Room on the disk of the data folder', [], () => freeBytesIn(dataDir));
  gauge(
    'payments_paused',
    '1 while the restored data folder is paused: no writes, no webhooks, no network calls',
    [],
    () => (pause.paused === null ? 0 : 1),
  );
  gauge('payments_start_time_seconds', 'When the process was started, in Unix seconds').set(
    Math.round(performance.timeOrigin / 1000),
  );
  // Not by the archive's process: an alert must notice that this tells nothing.
  if (logArchive.dir !== null)
    gauge('payments_archive_age_max_seconds', 'The age at which changes are archived').set(
      logArchive.maxAgeSeconds,
    );
  const up = gauge('payments_shard_up', '1 while the shard serves', ['shard']);
  const restarts = counter(
    'payments_shard_restarts_total',
    'Times that the shard failed and was started again',
    ['shard'],
  );
  const directoryFailures = counter(
    'payments_directory_failures_total',
    'Changes of organizations and keys that could not be written',
  );
  // By default the library samples the event loop so often that it is most of an idle service.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  return {
    countLostEntries: countLostEntries(registry),
    directoryFailed: () => directoryFailures.inc(),
    up(shard: number, isUp: boolean) {
      up.labels(String(shard)).set(isUp ? 1 : 0);
      restarts.labels(String(shard)).inc(0);
    },
    restarted: (shard: number) => restarts.labels(String(shard)).inc(),
  };
}

/** The metrics of several registries, as `getMetricsAsJSON` returned them, as one registry. */
export function mergeMetrics(parts: readonly object[]): Registry {
  return AggregatorRegistry.aggregate([...parts]);
}
