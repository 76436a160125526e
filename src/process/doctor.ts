// What `payments doctor` looks at: the shards, the disk, the machine's clock. It asks nobody but reads what the threads
// count, so what it says agrees with the metrics.

import { statfsSync } from 'node:fs';
import { AggregatorRegistry } from 'prom-client';
import type { Check } from '../operator/server/services.ts';
import { freeBytesMin } from './disk-space.ts';

/** Below this an operator should make room: writes are refused from a tenth of it on. */
const roomBytesMin = 10 * freeBytesMin;

type Sample = { readonly labels: { readonly shard?: string | number }; readonly value: number };

/** Looks at everything. `parts` are the registries of all threads, as `getMetricsAsJSON` gave them. */
export async function examine(parts: readonly unknown[], dataDir: string): Promise<readonly Check[]> {
  const metrics = await AggregatorRegistry.aggregate(parts as object[]).getMetricsAsJSON();
  const samples = (name: string): readonly Sample[] =>
    (metrics.find((metric) => metric.name === name)?.values ?? []) as readonly Sample[];
  const { bavail, bsize } = statfsSync(dataDir);
  return diagnose(samples, bavail * bsize);
}

/** What the samples of the metrics, by name, and the free bytes on the disk say. */
export function diagnose(samples: (name: string) => readonly Sample[], freeBytes: number): readonly Check[] {
  const shardsWhere = (name: string, isWrong: (value: number) => boolean) =>
    samples(name)
      .filter(({ value }) => isWrong(value))
      .map(({ labels }) => labels.shard)
      .sort();
  const shardCount = samples('payments_shard_up').length;
  const down = shardsWhere('payments_shard_up', (value) => value === 0);
  const readOnly = shardsWhere('payments_read_only', (value) => value === 1);
  const megabytes = `${Math.floor(freeBytes / 1024 / 1024)} MiB free`;
  const isTight = freeBytes < roomBytesMin || readOnly.length > 0;
  return [
    {
      name: 'shards',
      ok: down.length === 0,
      detail:
        down.length === 0
          ? `${shardCount} of ${shardCount} serve`
          : `not serving: ${down.join(', ')} of ${shardCount}; the log says why`,
    },
    {
      name: 'disk',
      ok: !isTight,
      detail: [
        megabytes,
        ...(readOnly.length > 0 ? [`shards that refuse writes: ${readOnly.join(', ')}`] : []),
        ...(isTight ? ['make room'] : []),
      ].join('; '),
    },
    clockCheck(samples),
  ];
}

function clockCheck(samples: (name: string) => readonly Sample[]): Check {
  const most = (name: string) =>
    samples(name).reduce((far, { value }) => (Math.abs(value) > Math.abs(far) ? value : far), 0);
  const off = most('payments_clock_offset_seconds');
  const jumps = most('payments_clock_jumps_total');
  const before = jumps === 0 ? 'has not stepped since the start' : `steps since the start: ${jumps}`;
  const where = off > 0 ? 'ahead' : 'behind';
  return {
    name: 'clock',
    ok: off === 0,
    detail:
      off === 0
        ? before
        : `the machine's clock stepped and is ${Math.round(Math.abs(off))} s ${where}; ${before}; ` +
          'check how this machine keeps its time',
  };
}
