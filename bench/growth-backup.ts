// What a backup costs those who create payment intents meanwhile: creates come at a fixed rate, and in every other window
// the backup's process is stopped, so that what else the machine does falls on windows of both kinds alike. Then it goes on
// under the same load to its end, which tells how long it takes and how large it is.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/temporary-folder.ts';
import type { Measured } from './load.ts';
import { driveOpen } from './open-loop.ts';
import { processSeconds } from './processor-time.ts';
import { aligned, median } from './report.ts';
import { creation } from './scenarios.ts';
import type { ServiceTarget } from './targets.ts';
import { counted } from './varying.ts';

interface BackupLoad {
  readonly key: string;
  readonly connections: number;
  /** Creates that become due each second. */
  readonly perSecond: number;
  /** Windows of each kind, and their length. */
  readonly rounds: number;
  readonly seconds: number;
  /** Whether the backup goes on to its end when the windows are over. */
  readonly isWhole: boolean;
}

interface BackupCost {
  readonly without: Measured;
  readonly during: Measured;
  /** What the whole backup took; null when it was not brought to its end. */
  readonly whole: { readonly seconds: number; readonly mib: number } | null;
  /** Processor time of its process. */
  readonly cpuSeconds: number;
}

const startMs = 2_000;

export async function measureBackup(service: ServiceTarget, load: BackupLoad): Promise<BackupCost> {
  const { key, connections, perSecond, rounds, seconds, isWhole } = load;
  const template = creation(key, counted('backup'));
  const creates = () =>
    driveOpen({ url: service.url, requests: [template] }, connections, perSecond, seconds);
  await creates();
  const backup = startBackup(service.dataDir);
  await new Promise((resolve) => setTimeout(resolve, startMs));
  const found: Record<'without' | 'during', Measured[]> = { without: [], during: [] };
  let stoppedMs = 0;
  for (let round = 0; round < rounds && backup.process.exitCode === null; round++) {
    const at = performance.now();
    backup.process.kill('SIGSTOP');
    found.without.push(await creates());
    backup.process.kill('SIGCONT');
    stoppedMs += performance.now() - at;
    found.during.push(await creates());
  }
  const cpuSeconds = processSeconds(backup.process.pid!) ?? Number.NaN;
  if (!isWhole) backup.process.kill('SIGKILL');
  while (backup.process.exitCode === null && isWhole) found.during.push(await creates());
  const whole = isWhole ? await backup.ended : null;
  return {
    without: medianOf(found.without),
    during: medianOf(found.during),
    whole: whole && { mib: whole.bytes / 2 ** 20, seconds: whole.seconds - stoppedMs / 1_000 },
    cpuSeconds,
  };
}

interface RunningBackup {
  readonly process: ChildProcess;
  readonly ended: Promise<{ bytes: number; seconds: number }>;
}

function startBackup(dataDir: string): RunningBackup {
  const entry = fileURLToPath(new URL('../src/main/payments.ts', import.meta.url));
  const args = ['backup', '--data-dir', dataDir, '--to', join(temporaryFolder(), 'backup'), '--json'];
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const ended = once(child, 'close').then(() => JSON.parse(out || '{}'));
  return { process: child, ended };
}

function medianOf(measured: readonly Measured[]): Measured {
  const of = (name: keyof Measured) => median(measured.map((each) => each[name]));
  return {
    requests: measured.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    p999Ms: of('p999Ms'),
  };
}

export function backupTable({ without, during, whole, cpuSeconds }: BackupCost): string {
  const row = (name: string, { requestsPerSecond, p50Ms, p99Ms, p999Ms }: Measured) => [
    name,
    Math.round(requestsPerSecond).toLocaleString('en'),
    ...[p50Ms, p99Ms, p999Ms].map((ms) => ms.toFixed(2)),
  ];
  const table = aligned([
    ['creates at a fixed rate', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms'],
    row('without a backup', without),
    row('during a backup', during),
    ['÷', '', ...(['p50Ms', 'p99Ms', 'p999Ms'] as const).map((ms) => (during[ms] / without[ms]).toFixed(2))],
  ]);
  const took = whole && `${whole.mib.toFixed(0)} MiB in ${whole.seconds.toFixed(0)} s`;
  return `${table}\nthe backup: ${took ?? 'not finished'}, ${cpuSeconds.toFixed(1)} s of processor time in the windows`;
}
