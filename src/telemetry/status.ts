// The status that `payments status` shows: the metrics of all threads, read twice with a second
// between, and the sizes of the folders. Rates are the differences between the two readings, so
// nothing is sampled while nobody asks.

import { setTimeout as wait } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config-schema.ts';
import { databasesOf } from '../config/postgresql.ts';
import { errorText } from '../core/errors.ts';
import { within } from '../core/scheduler.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { bytesBelow, freeBytesIn } from '../data-folder/disk-space.ts';
import type { Pause } from '../data-folder/pause.ts';
import { foldersOfJournal } from '../journal/open-journal.ts';
import type { PresentedEndpoint } from '../operator/use-cases/present.ts';
import type { ShardStatus, Status } from '../operator/use-cases/services.ts';
import type { Database } from '../postgresql/database.ts';
import { examinePostgres, nameOfDatabase } from '../postgresql/examine.ts';
import { type Samples, samplesOf, sum } from './samples.ts';

/** The values that do not change while the service runs. */
export interface StatusOptions {
  readonly folder: DataFolder;
  readonly pause: Pause;
  readonly url: string;
  readonly config: Config;
  /** The metrics of all threads, as `getMetricsAsJSON` gave them. */
  readonly metrics: () => Promise<readonly object[]>;
  /** The failing endpoints, at most `limit`, of the shards that answer within this time. */
  readonly failing: (limit: number, withinMs: number) => Promise<Failing>;
}

export interface Failing {
  readonly count: number;
  readonly listed: readonly PresentedEndpoint[];
}

const betweenMs = 1_000;
const failingListed = 10;

export async function readStatus(options: StatusOptions): Promise<Status> {
  const { folder, pause, url, config, metrics, failing } = options;
  const startMs = performance.now();
  const before = await samplesOf(await metrics());
  const [endpoints, postgresql] = await Promise.all([
    failing(failingListed, betweenMs),
    postgresqlStatus(config),
    wait(betweenMs),
  ]);
  const after = await samplesOf(await metrics());
  const seconds = (performance.now() - startMs) / 1000;
  const { path, id, generation } = folder;
  const counts = countedStatus(before, after, seconds, (shard) => {
    const { log, checkpoint } = foldersOfJournal(folder.shardDir(shard));
    return { log_bytes: bytesBelow(log), checkpoint_bytes: bytesBelow(checkpoint) };
  });
  return {
    version: manifest.version,
    node: process.versions.node,
    pid: process.pid,
    url,
    started: new Date(Date.now() - process.uptime() * 1000).toISOString(),
    uptime_seconds: Math.floor(process.uptime()),
    paused: pause.paused,
    folder: { path, id, generation, free_bytes: freeBytesIn(path) },
    ...counts,
    webhooks: { ...counts.webhooks, endpoints_failing: endpoints.count, failing: endpoints.listed },
    edges: {
      count: config.edges,
      connections: sum(after('payments_connections')),
      connections_max: config.connections.max,
    },
    archive: config.logArchive.dir === null ? null : archiveStatus(config.logArchive.dir, after),
    postgresql,
    mails:
      config.mail.url === null
        ? null
        : {
            waiting: sum(after('payments_mails_waiting')),
            oldest_seconds: sum(after('payments_mails_oldest_seconds')),
            failed_total: sum(after('payments_mails_failed_total')),
          },
    memory: { resident_bytes: process.memoryUsage.rss() },
  };
}

/** Bounded, and without a failure of its own: a container's health may go by the status. */
async function postgresqlStatus(config: Config): Promise<Status['postgresql']> {
  const { url, single } = config.journal;
  if (url === null) return null;
  try {
    const found = await Promise.all(databasesOf(config).map((database) => stateOf(database, single)));
    const isAll = found.every(({ partitions }) => partitions === null);
    const details = found.map(({ detail, ...database }) =>
      isAll ? detail : `${nameOfDatabase(database)}: ${detail}`,
    );
    return { ok: found.every(({ ok }) => ok), detail: details.join('; ') };
  } catch (error) {
    // Such as a file with the password that is gone.
    return { ok: false, detail: errorText(error) };
  }
}

async function stateOf(database: Database, isSingle: boolean) {
  const asked = examinePostgres(database, isSingle);
  const failed = (error: unknown) => ({ ok: false, detail: errorText(error) });
  const unanswered = { ok: false, detail: 'no server has answered within a second' };
  const state = (await within(betweenMs, asked.catch(failed))) ?? unanswered;
  return { ...state, partitions: database.partitions };
}

/** What the archive's process tells; without any lag it has not begun, or has ended. */
export function archiveStatus(path: string, samples: Samples): NonNullable<Status['archive']> {
  const lags = samples('payments_archive_lag_seconds').map(({ value }) => value);
  return {
    path,
    lag_seconds: lags.length === 0 ? null : Math.max(...lags),
    failures: sum(samples('payments_archive_failures_total')),
  };
}

type Counted = Pick<Status, 'shards' | 'requests' | 'threads'> & {
  readonly webhooks: Omit<Status['webhooks'], 'endpoints_failing' | 'failing'>;
};
type Sizes = Pick<ShardStatus, 'log_bytes' | 'checkpoint_bytes'>;

/** The part of the status that comes from the metrics at two moments, which are `seconds` apart. */
export function countedStatus(
  before: Samples,
  after: Samples,
  seconds: number,
  sizesOf: (shard: number) => Sizes,
): Counted {
  const grown = (name: string) => sum(after(name)) - sum(before(name));
  const requests = grown('payments_request_duration_seconds_count');
  const oldest = after('payments_webhook_oldest_delivery_seconds').map(({ value }) => value);
  const isFailed = ({ labels }: { labels: { status?: unknown } }) => Number(labels.status) >= 500;
  const cpuBefore = new Map(
    before('payments_thread_cpu_seconds_total').map(({ labels, value }) => [labels.thread, value]),
  );
  return {
    shards: after('payments_shard_up')
      .map(({ labels }) => Number(labels.shard))
      .sort((a, b) => a - b)
      .map((shard) => ({ ...shardStatus(shard, before, after, seconds), ...sizesOf(shard) })),
    requests: {
      total: sum(after('payments_requests_total')),
      failed_total: sum(after('payments_requests_total').filter(isFailed)),
      per_second: requests / seconds,
      mean_ms: requests > 0 ? (grown('payments_request_duration_seconds_sum') / requests) * 1000 : null,
    },
    webhooks: {
      waiting: sum(after('payments_webhook_deliveries_waiting')),
      oldest_seconds: Math.max(0, ...oldest),
      in_flight: sum(after('payments_webhook_attempts_in_flight')),
      attempts_per_second: grown('payments_webhook_attempt_duration_seconds_count') / seconds,
    },
    threads: after('payments_thread_cpu_seconds_total').map(({ labels, value }) => ({
      thread: String(labels.thread),
      cpu: Math.max(0, value - (cpuBefore.get(labels.thread) ?? value)) / seconds,
    })),
  };
}

function shardStatus(
  shard: number,
  before: Samples,
  after: Samples,
  seconds: number,
): Omit<ShardStatus, keyof Sizes> {
  const found = (samples: Samples, name: string) =>
    samples(name).find(({ labels }) => Number(labels.shard) === shard)?.value ?? null;
  const now = (name: string) => found(after, name);
  /** A shard that was started again counts from 0, so a difference may be negative. */
  const grown = (name: string) => Math.max(0, (now(name) ?? 0) - (found(before, name) ?? now(name) ?? 0));
  const commits = grown('payments_commit_duration_seconds_count');
  return {
    shard,
    serves: now('payments_shard_up') === 1,
    read_only: now('payments_read_only') === 1,
    restarts: now('payments_shard_restarts_total') ?? 0,
    scrubbed: now('payments_scrub_progress'),
    scrub_completed: isoOf(now('payments_scrub_last_completed_timestamp_seconds')),
    damaged: now('payments_scrub_damaged'),
    log_sequence: now('payments_log_sequence'),
    checkpoint_sequence: now('payments_checkpoint_sequence'),
    resident_bytes: now('payments_resident_bytes'),
    resident_bytes_max: now('payments_resident_bytes_max'),
    queued: now('payments_waiting_requests'),
    oldest_commit_seconds: now('payments_oldest_commit_seconds'),
    writes_per_second: grown('payments_log_sequence') / seconds,
    commit_mean_ms: commits > 0 ? (grown('payments_commit_duration_seconds_sum') / commits) * 1000 : null,
  };
}

/** A time in Unix seconds, of which 0 stands for never. */
function isoOf(seconds: number | null): string | null {
  return seconds ? new Date(seconds * 1000).toISOString() : null;
}
