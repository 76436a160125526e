// The checks of `payments doctor` on the running service: its shards, the disk, the machine's
// clock, and the folder. They read the metrics of the threads. The checks of the machine are in
// machine-checks.ts, those of a stopped service in examine-stopped.ts.

import type { ServiceIdentity } from '../cluster/node.ts';
import type { Config } from '../config/config-schema.ts';
import { databasesOf } from '../config/postgresql.ts';
import { elementAt } from '../core/assert.ts';
import { type DataFolder, folderIdOf, type Paused } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { freeBytesIn, freeBytesMin } from '../data-folder/disk-space.ts';
import { serviceOf } from '../data-folder/remote-stores.ts';
import type { Check } from '../operator/use-cases/services.ts';
import { examinePostgres, nameOfDatabase } from '../postgresql/examine.ts';
import { refusalsOfStart } from '../postgresql/service-table.ts';
import { type Samples, samplesOf } from '../telemetry/samples.ts';
import { certificateChecks } from './certificate-checks.ts';
import { checked, examineMachine } from './machine-checks.ts';

/** Below this an operator should make room. Below a tenth of it, writes are refused. */
const roomBytesMin = 10 * freeBytesMin;

/** Runs all checks. `parts` are the metrics of all threads, as `getMetricsAsJSON` returned them. */
export async function examine(
  parts: readonly object[],
  folder: DataFolder,
  paused: Paused | null,
  config: Config,
): Promise<readonly Check[]> {
  const { path } = folder;
  return [
    ...diagnose(await samplesOf(parts), freeBytesIn(path)),
    folderCheck(folder),
    pauseCheck(paused),
    ...certificateChecks(config),
    ...(await postgresqlChecks(config, serviceOf(folder))),
    ...(await examineMachine(path, config.connections.max)),
  ];
}

/** The checks on a node that stands by, whose shards other nodes run. */
export async function examineStandby(
  node: string,
  folder: DataFolder,
  config: Config,
): Promise<readonly Check[]> {
  return [
    checked('service', null, `node ${node} stands by`),
    diskCheck(freeBytesIn(folder.path), []),
    folderCheck(folder),
    ...certificateChecks(config),
    ...(await postgresqlChecks(config, serviceOf(folder))),
    ...(await examineMachine(folder.path, config.connections.max)),
  ];
}

/** The findings from the samples of the metrics, by name, and the free bytes on the disk. */
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
    checked(
      'shards',
      down.length === 0 ? null : `not serving: ${down.join(', ')} of ${shardCount}; the log says why`,
      `${shardCount} of ${shardCount} serve`,
    ),
    diskCheck(freeBytes, readOnly),
    clockCheck(samples),
    scrubCheck(samples),
  ];
}

/** Whether the disk has room. `readOnly`: the shards that refuse writes because it is full. */
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
  const fault =
    `the machine's clock stepped and is ${Math.round(Math.abs(off))} s ${where}; ${before}; ` +
    'check how this machine keeps its time';
  return checked('clock', off === 0 ? null : fault, before);
}

/** Whether the folder waits for an operator after a restore. */
function pauseCheck(paused: Paused | null): Check {
  const fault =
    paused &&
    `paused since ${paused.since}, ${paused.reason}: deal with what lies after it, then run "payments resume"`;
  return checked('pause', fault, 'none');
}

/** Whether the scrubber has found damage. */
function scrubCheck(samples: Samples): Check {
  const damaged = samples('payments_scrub_damaged').filter(({ value }) => value > 0);
  const places = damaged.map(
    ({ labels, value }) => `shard ${labels.shard} in ${value} ${value === 1 ? 'place' : 'places'}`,
  );
  const fault = `damaged: ${places.join(', ')}; the log says where ("the scrubber has found damage") and what to do`;
  return checked('stored data', damaged.length === 0 ? null : fault, 'the scrubber has found no damage');
}

/** Whether the folder is still the one that the service was started with. */
function folderCheck(folder: DataFolder): Check {
  const is = describeFolder(folder);
  try {
    const id = folderIdOf(folder.path);
    const now = id === null ? 'is no data folder any more' : `is another one now (${id})`;
    const fault = `${folder.path} ${now}; the service runs on ${is}: stop it and put that folder back`;
    return checked('folder', id === folder.id ? null : fault, is);
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    return checked('folder', error.message, is);
  }
}

export function describeFolder({ id, generation, shards }: DataFolder): string {
  return `${id}, generation ${generation}, ${shards === 1 ? '1 shard' : `${shards} shards`}`;
}

/**
 * The checks of the databases that hold the log, too: none where the data folder alone does.
 * `service`: that of the data folder; null: there is none yet.
 */
export async function postgresqlChecks(config: Config, service: ServiceIdentity | null): Promise<Check[]> {
  const databases = databasesOf(config);
  const refusals = await refusalsOfStart(databases, service);
  return Promise.all(
    databases.map(async (database, i) => {
      const { ok, detail } = await examinePostgres(database, config.journal.single);
      return checked(nameOfDatabase(database), ok ? elementAt(refusals, i) : detail, detail);
    }),
  );
}
