// A running operators' socket for tests: the real server and the real directory in a temporary folder, a shard that has only
// reviews, and made-up metrics and configuration.

import { join } from 'node:path';
import { scrub } from '../../../src/core/secret-text.ts';
import { Directory } from '../../../src/directory/directory.ts';
import { createDirectory } from '../../../src/directory/directory-store.ts';
import { indexNameOf, indexRowsOf } from '../../../src/domain/indexes.ts';
import type { ReviewRecord } from '../../../src/domain/record.ts';
import type { NotSettled } from '../../../src/networks/runner.ts';
import { Audit } from '../../../src/operator/audit/audit.ts';
import { openOperatorServer } from '../../../src/operator/socket/server.ts';
import type { OperatorCommand } from '../../../src/operator/use-cases/command.ts';
import { OperatorFailure } from '../../../src/operator/use-cases/failures.ts';
import type { Check, OperatorServices, Status } from '../../../src/operator/use-cases/services.ts';
import type { OpenCall } from '../../../src/shard/protocol.ts';
import { createManualClock } from '../../manual-clock.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

export const upMetric = {
  name: 'up',
  type: 'gauge',
  help: 'Up',
  samples: [{ name: 'up', labels: {}, value: 1 }],
};

export const startMs = Date.UTC(2026, 10, 1, 10);

export interface Fixture {
  readonly dataDir: string;
  readonly directory: Directory;
  readonly reviews: Map<string, ReviewRecord>;
  /** The calls to payment networks that wait. */
  readonly openCalls: OpenCall[];
  /** Why the next calls that are to be settled are not. */
  readonly notSettled: NotSettled[];
  /** Faults of the server's that it reported. */
  readonly failures: { command: string; error: unknown }[];
  close(): Promise<void>;
}

/** What `doctor` finds; a test may put something else here. */
export const fixtureChecks: Check[] = [{ name: 'shards', ok: true, detail: '1 of 1 serve' }];

/** What `status` tells; a test may change it. */
export const fixtureStatus: { -readonly [Key in keyof Status]: Status[Key] } = {
  version: '1.2.3',
  node: '22.1.0',
  pid: 4321,
  url: 'http://127.0.0.1:8080',
  started: '2026-11-01T10:00:00.123Z',
  uptime_seconds: 93_784,
  paused: null,
  archive: null,
  postgresql: null,
  folder: { path: '/d', id: '0'.repeat(32), generation: 0, free_bytes: 5 * 2 ** 30 },
  shards: [
    {
      shard: 0,
      serves: true,
      read_only: false,
      restarts: 0,
      scrubbed: 0.421,
      scrub_completed: '2026-10-30T00:00:00.000Z',
      damaged: 0,
      log_sequence: 1_200,
      checkpoint_sequence: 1_000,
      log_bytes: 3 * 2 ** 20,
      checkpoint_bytes: 700,
      resident_bytes: 2_048,
      resident_bytes_max: 2 ** 27,
      queued: 0,
      oldest_commit_seconds: 0,
      writes_per_second: 12.34,
      commit_mean_ms: 1.26,
    },
  ],
  edges: { count: 1, connections: 3, connections_max: 7_000 },
  requests: { total: 1_300, failed_total: 2, per_second: 40.4, mean_ms: 3.21 },
  webhooks: {
    waiting: 4,
    oldest_seconds: 61,
    in_flight: 2,
    endpoints_failing: 0,
    failing: [],
    attempts_per_second: 0,
  },
  mails: { waiting: 3, oldest_seconds: 75, failed_total: 2 },
  memory: { resident_bytes: 300 * 2 ** 20 },
  threads: [
    { thread: 'edge-0', cpu: 0.126 },
    { thread: 'shard-0', cpu: 0.5 },
  ],
};

export async function openFixture(commands?: Readonly<Record<string, OperatorCommand>>): Promise<Fixture> {
  const dataDir = temporaryFolder();
  const clock = createManualClock(startMs);
  const folder = join(dataDir, 'directory');
  const part = { folder: '0'.repeat(32), generation: 0, part: 'directory' };
  await createDirectory(folder, part);
  const directory = new Directory({ folder, part, now: clock.now });
  const reviews = new Map<string, ReviewRecord>();
  const openCalls: OpenCall[] = [];
  const notSettled: NotSettled[] = [];
  const failures: Fixture['failures'] = [];
  const services: Omit<OperatorServices, 'author' | 'language'> = {
    baseUrl: 'https://pay.example.ma',
    now: clock.now,
    directory,
    mail: null,
    secrets: { open: (sealed) => sealed, seal: (secret) => `sealed ${secret}` },
    networkAddressFault: (url) => (url.startsWith('https:') ? null : 'must use https'),
    checkNetwork: async () => {},
    openNetworkCalls: async () => openCalls,
    settleNetworkCall: async (id) => {
      if (notSettled.length > 0) return notSettled.shift()!;
      openCalls.splice(
        openCalls.findIndex(({ record }) => record.id === id),
        1,
      );
      return null;
    },
    requestLogs: async () => null,
    listenSecret: async () => 'svc_whsec_fixture',
    metrics: async () => ({ text: '# TYPE up gauge\nup 1\n', metrics: [upMetric] }),
    checks: async () => fixtureChecks,
    status: async () => fixtureStatus,
    resume: async () => ({ paused: null }),
    config: () => [{ key: 'port', variable: 'PAYMENTS_PORT', value: 1234, description: 'port' }],
    askShard: async (_, request) => {
      if (request.kind === 'records') {
        const listed = [...reviews.values()]
          .reverse()
          .filter((review) => indexRowsOf(review).some((row) => indexNameOf(row) === request.index));
        return { body: JSON.stringify(listed.slice(0, request.limit)) };
      }
      const open = openCalls.find(({ record }) => 'id' in request && record.id === request.id);
      if (open !== undefined) return { body: JSON.stringify(open.record) };
      const review = 'id' in request ? reviews.get(request.id) : undefined;
      if (review === undefined) throw new OperatorFailure('refused', 'there is nothing with this id');
      if (request.kind !== 'command') return { body: JSON.stringify(review) };
      if (!review.open) throw new OperatorFailure('refused', 'the review is closed');
      const { as } = request.params as { as: 'approved' | 'refunded' };
      reviews.set(review.id, { ...review, open: false, closed_reason: as });
      return { body: '{}' };
    },
    compact: async function* () {},
    holdCheckpoint: async function* () {},
    callApi: async () => ({ ok: true, body: null }),
  };
  const onFailure = (command: string, error: unknown) => failures.push({ command, error });
  const audit = await Audit.open({
    dataDir,
    now: clock.now,
    keptMs: Number.POSITIVE_INFINITY,
    scrub,
    onRow: () => {},
    onFailure: (error) => failures.push({ command: 'audit', error }),
  });
  const server = await openOperatorServer({
    dataDir,
    audit,
    services,
    onFailure,
    ...(commands && { commands }),
  });
  return {
    dataDir,
    directory,
    reviews,
    openCalls,
    notSettled,
    failures,
    async close() {
      await server.close();
      await audit.close();
      await directory.closeStore();
    },
  };
}

export function reviewOf(org: string, id: string): ReviewRecord {
  return {
    kind: 'review',
    id,
    org,
    livemode: false,
    created: startMs / 1000,
    payment_intent: 'pi_1',
    charge: 'ch_1',
    open: true,
    reason: 'amount_mismatch',
    amount_expected: 10_000,
    amount_received: 9_950,
    currency_received: 'mad',
    closed_reason: null,
  };
}
