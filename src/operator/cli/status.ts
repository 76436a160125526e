// `payments status` shows the running service on one screen. It can be a container's health check.
// `payments doctor` finds what is wrong with the service, its machine or its data folder.

import type { Command } from 'commander';
import { ifNoServer } from '../socket/operator-client.ts';
import { CommandFailure } from '../use-cases/failures.ts';
import type { PresentedEndpoint } from '../use-cases/present.ts';
import type { Check, ShardStatus, Status } from '../use-cases/services.ts';
import { addCommand, type CliContext } from './context.ts';
import { counted, formatFields, formatTime, tableOf } from './table.ts';
import { deliveryColumns } from './webhooks.ts';

export function addStatusCommands(program: Command, context: CliContext): void {
  const { call, print } = context;
  addCommand(
    program,
    'status',
    'show the service on one screen; exits with 1 when a shard does not serve',
  ).action(async () => {
    const status = await call('status', {});
    print(status, screen);
    const down = status.shards.filter(({ serves }) => !serves).map(({ shard }) => shard);
    if (down.length > 0) throw new CommandFailure(`not serving: shard ${down.join(', ')}`);
  });
  addCommand(
    program,
    'doctor',
    'check service, machine and data folder; exits with 1 when something is wrong',
  )
    .option('--stopped', 'the service is stopped on purpose, so that is not reported as wrong')
    .action(async ({ stopped = false }) => {
      const checks = await checksOf(context, stopped);
      print(checks, checkTable);
      const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
      if (wrong.length > 0) throw new CommandFailure(`something is wrong: ${wrong.join(', ')}`);
    });
}

/** A running service checks itself; otherwise this process checks what a start would find. */
async function checksOf({ call, host, options }: CliContext, stopped: boolean): Promise<readonly Check[]> {
  const { dataDir } = options();
  if (stopped) return host.examine(dataDir);
  return call('doctor', {}).catch(
    ifNoServer(async ({ message }) => [
      { name: 'service', ok: false, detail: message },
      ...(await host.examine(dataDir)),
    ]),
  );
}

const checkTable = tableOf<Check>([
  ['check', 'name'],
  ['state', ({ ok }) => (ok ? 'ok' : 'WRONG')],
  'detail',
]);

function lagText(seconds: number | null): string {
  if (seconds === null) return 'it is not known what is in it';
  return `the oldest change that is not in it is ${durationText(seconds)} old`;
}

function screen(status: Status): string {
  const { folder, paused, archive, edges, requests, webhooks, postgresql, mails, threads } = status;
  const fields = {
    service: `${status.version} on Node ${status.node}, process ${status.pid}, ${status.url}`,
    up: `${durationText(status.uptime_seconds)}, since ${formatTime(status.started)}`,
    folder: `${folder.path}, ${folder.id}, generation ${folder.generation}, ${inBytes(folder.free_bytes)} free`,
    ...(archive !== null && {
      archive: `${archive.path}, ${lagText(archive.lag_seconds)}; failures: ${archive.failures}`,
    }),
    ...(paused !== null && {
      paused: `since ${formatTime(paused.since)}, ${paused.reason}: no writes, no webhooks, no network calls until "payments resume"`,
    }),
    memory: `${inBytes(status.memory.resident_bytes)} resident`,
    edges: `${edges.count}, with ${edges.connections} of ${edges.connections_max} connections`,
    requests: `${inNumber(requests.per_second)} a second, ${inMs(requests.mean_ms)} each; ${requests.total} in all, ${requests.failed_total} of them 5xx`,
    webhooks:
      `${webhooks.waiting} waiting, the oldest due for ${durationText(webhooks.oldest_seconds)}; ${webhooks.in_flight} in flight, ` +
      `${inNumber(webhooks.attempts_per_second)} a second; endpoints that fail: ${webhooks.endpoints_failing}`,
    ...(postgresql !== null && {
      postgresql: `${postgresql.ok ? '' : 'WRONG: '}${postgresql.detail}`,
    }),
    ...(mails !== null && {
      mails: `${mails.waiting} waiting, the oldest for ${durationText(mails.oldest_seconds)}; given up since the start: ${mails.failed_total}`,
    }),
    processor: threads.map(({ thread, cpu }) => `${thread} ${Math.round(cpu * 100)} %`).join(', ') || '-',
  };
  return `${formatFields(fields)}\n\n${shardTable(status.shards)}${failingText(webhooks)}`;
}

/** The endpoints that fail, below the shards; nothing when there are none. */
function failingText({ failing, endpoints_failing: all }: Status['webhooks']): string {
  if (failing.length === 0) return '';
  const more = all - failing.length;
  return `\n\n${failingTable(failing)}${more > 0 ? `\n\nand ${more} more` : ''}`;
}

const failingTable = tableOf<PresentedEndpoint>([
  ['failing endpoint', 'id'],
  'organization',
  'mode',
  ['since', 'failing_since'],
  ...deliveryColumns,
  'url',
]);

const shardTable = tableOf<ShardStatus>([
  'shard',
  ['state', stateText],
  ['log', 'log_sequence'],
  ['checkpoint', 'checkpoint_sequence'],
  [
    'behind',
    ({ log_sequence: log, checkpoint_sequence: checkpoint }) =>
      log === null || checkpoint === null ? null : log - checkpoint,
  ],
  ['log on disk', ({ log_bytes }) => inBytes(log_bytes)],
  ['checkpoint on disk', ({ checkpoint_bytes }) => inBytes(checkpoint_bytes)],
  [
    'memory',
    ({ resident_bytes: bytes, resident_bytes_max: max }) =>
      bytes === null ? null : `${inBytes(bytes)} of ${inBytes(max ?? 0)}`,
  ],
  'queued',
  ['writes/s', ({ writes_per_second }) => inNumber(writes_per_second)],
  ['commit', ({ commit_mean_ms }) => inMs(commit_mean_ms)],
  'restarts',
  ['scrubbed', scrubText],
]);

/** Commits take milliseconds: one that takes longer than this waits for a disk that has stopped. */
const stalledSeconds = 1;

function stateText({ serves, read_only, oldest_commit_seconds: seconds }: ShardStatus): string {
  if (!serves) return 'DOWN';
  if (seconds !== null && seconds > stalledSeconds) return `STALLED for ${durationText(seconds)}`;
  return read_only ? 'READ-ONLY' : 'serves';
}

/** How far the scrubber has come: `12 %, last 2026-11-22`, and what it found. */
function scrubText({ scrubbed, scrub_completed: completed, damaged }: ShardStatus): string {
  if (scrubbed === null) return '-';
  const found = damaged ? `DAMAGED in ${counted(damaged, 'place')}, ` : '';
  return `${found}${Math.floor(scrubbed * 100)} %${completed === null ? '' : `, last ${completed.slice(0, 10)}`}`;
}

function inNumber(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : String(Math.round(value));
}

function inMs(ms: number | null): string {
  return ms === null ? '-' : `${ms.toFixed(1)} ms`;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function inBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** The two largest units of a time: `3 d 4 h`. */
function durationText(seconds: number): string {
  let left = Math.floor(seconds);
  const parts: string[] = [];
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    if (left >= size && parts.length < 2) parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return parts.join(' ') || '0 s';
}
