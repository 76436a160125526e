// What `payments doctor` says of the running service: its shards, the disk, the steps of the machine's clock, the folder.
// It asks nobody but reads what the threads count, so what it says agrees with the metrics. What it says of the machine is
// in machine-checks.ts, and what it looks at while the service is stopped in examine-stopped.ts.

import type { Check } from '../operator/server/services.ts';
import { type DataFolder, DataFolderError, folderIdOf } from './data-folder.ts';
import { freeBytesIn, freeBytesMin } from './disk-space.ts';
import { examineMachine } from './machine-checks.ts';
import { type Samples, samplesOf } from './samples.ts';

/** Below this an operator should make room: writes are refused from a tenth of it on. */
const roomBytesMin = 10 * freeBytesMin;

/** Looks at everything. `parts` are the registries of all threads, as `getMetricsAsJSON` gave them. */
export async function examine(
  parts: readonly unknown[],
  folder: DataFolder,
  connectionsMax: number,
): Promise<readonly Check[]> {
  const { path } = folder;
  return [
    ...diagnose(await samplesOf(parts), freeBytesIn(path)),
    folderCheck(folder),
    ...(await examineMachine(path, connectionsMax)),
  ];
}

/** What the samples of the metrics, by name, and the free bytes on the disk say. */
export function diagnose(samples: Samples, freeBytes: number): readonly Check[] {
  const shardsWhere = (name: string, isWrong: (value: number) => boolean) =>
    samples(name)
      .filter(({ value }) => isWrong(value))
      .map(({ labels }) => labels.shard)
      .sort();
  const shardCount = samples('payments_shard_up').length;
  const down = shardsWhere('payments_shard_up', (value) => value === 0);
  const readOnly = shardsWhere('payments_read_only', (value) => value === 1);
  return [
    {
      name: 'shards',
      ok: down.length === 0,
      detail:
        down.length === 0
          ? `${shardCount} of ${shardCount} serve`
          : `not serving: ${down.join(', ')} of ${shardCount}; the log says why`,
    },
    diskCheck(freeBytes, readOnly),
    clockCheck(samples),
  ];
}

/** Whether the disk has room. `readOnly`: the shards that refuse writes because it has none. */
export function diskCheck(freeBytes: number, readOnly: readonly unknown[]): Check {
  const isTight = freeBytes < roomBytesMin || readOnly.length > 0;
  return {
    name: 'disk',
    ok: !isTight,
    detail: [
      `${Math.floor(freeBytes / 1024 / 1024)} MiB free`,
      ...(readOnly.length > 0 ? [`shards that refuse writes: ${readOnly.join(', ')}`] : []),
      ...(isTight ? ['make room'] : []),
    ].join('; '),
  };
}

function clockCheck(samples: Samples): Check {
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

/** Whether the folder is still the one that the service was started on; its parts were checked then. */
function folderCheck(folder: DataFolder): Check {
  const is = describeFolder(folder);
  try {
    const id = folderIdOf(folder.path);
    if (id === folder.id) return { name: 'folder', ok: true, detail: is };
    const now = id === null ? 'is no data folder any more' : `is another one now (${id})`;
    return {
      name: 'folder',
      ok: false,
      detail: `${folder.path} ${now}; the service runs on ${is}: stop it and put that folder back`,
    };
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    return { name: 'folder', ok: false, detail: error.message };
  }
}

export function describeFolder({ id, generation, shards }: DataFolder): string {
  return `${id}, generation ${generation}, ${shards === 1 ? '1 shard' : `${shards} shards`}`;
}
