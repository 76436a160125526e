// `npm run bench -- --growth N`: what the service does when much is stored, beside a folder that has little: how long it takes to
// start and how much memory it then has, creates a second, a page of each list, and a backup under load. Folders are filled
// before the service starts on them; the services then take turns in short rounds, so that what else the machine does
// falls on all of them alike. A filled folder can be kept and given again; each measurement adds to it what it creates.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { backupTable, measureBackup } from './growth-backup.ts';
import { listTable, measureLists } from './growth-lists.ts';
import type { Drive, Load } from './load.ts';
import { memoryMib } from './memory.ts';
import { aligned, median } from './report.ts';
import { creation } from './scenarios.ts';
import { costed, type ServiceTarget, startService } from './targets.ts';
import { counted } from './varying.ts';

export const growthSteps = ['start', 'creates', 'lists', 'backup'] as const;
export type GrowthStep = (typeof growthSteps)[number];

export interface FilledFolder {
  readonly stored: number;
  /** For how many days they were created. */
  readonly days: number;
  readonly dataDir: string;
  readonly key: string;
}

interface GrowthOptions {
  readonly growth: readonly number[];
  readonly days: number;
  /** Where the filled folder lies, or is kept; null: in a temporary one. */
  readonly folder: string | null;
  readonly steps: readonly GrowthStep[];
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** With so many there are whole pages everywhere, and hardly anything to keep or to search. */
const littleStored = 20_000;
const killSeconds = 3;
const backupRounds = 4;
const listConnections = 16;

/** Prints each table when it is measured; resolves with all that was found. */
export async function runGrowth(
  options: GrowthOptions,
  drive: Drive,
  say: (text: string) => void,
): Promise<object> {
  const { growth, days, folder, steps } = options;
  const little = await fillFolder(littleStored, days);
  const found = [];
  for (const stored of growth) {
    const much = folder === null ? await fillFolder(stored, days) : await keptFolder(stored, days, folder);
    const folders = [little, much];
    for (const each of folders) warm(each.dataDir);
    const starts = steps.includes('start') ? await measureStarts(folders, drive, options) : null;
    if (starts !== null) say(`${startTable(starts)}\n`);
    const costs = await withServices(folders, drive, options, say);
    found.push({ stored: much.stored, days, starts, ...costs });
  }
  return found;
}

/** A folder that a service has made and that then got so many payment intents, and of all else in proportion. */
export async function fillFolder(
  stored: number,
  days: number,
  dataDir = temporaryFolder(),
): Promise<FilledFolder> {
  const service = await startService({}, dataDir);
  await service.stop();
  const script = fileURLToPath(new URL('fill.ts', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir, String(stored), String(days)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`filling ${dataDir} ended with code ${code}`);
  return { stored, days, dataDir, key: service.key };
}

/** A folder that was filled before, or that is filled now and kept. */
async function keptFolder(stored: number, days: number, dataDir: string): Promise<FilledFolder> {
  const note = `${dataDir}.json`;
  if (existsSync(note)) {
    const kept = JSON.parse(readFileSync(note, 'utf8')) as FilledFolder;
    if (kept.stored === stored) return { ...kept, dataDir };
    throw new Error(`${dataDir} was filled with ${kept.stored} payment intents: name another folder`);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const filled = await fillFolder(stored, days, dataDir);
  writeFileSync(note, JSON.stringify(filled), { mode: 0o600 });
  return filled;
}

/** Reads the checkpoints into the page cache: what is measured is the service and not the disk. */
function warm(dataDir: string): void {
  const bytes = Buffer.allocUnsafeSlow(4 << 20);
  for (const shard of readdirSync(dataDir).filter((name) => name.startsWith('shard-'))) {
    const file = openSync(join(dataDir, shard, 'state', 'data.mdb'), 'r');
    while (readSync(file, bytes) > 0);
    closeSync(file);
  }
}

interface Started {
  readonly stored: number;
  /** From the start of the process until it is ready, and the part of it in which the shard read its journal. */
  readonly seconds: number;
  readonly recoverySeconds: number;
  /** The same after a kill under load. */
  readonly afterKillSeconds: number;
  /** Memory of the process that has just started: what it has in memory of files, and what is its own. */
  readonly residentMib: number;
  readonly ownMib: number;
}

async function measureStarts(
  folders: readonly FilledFolder[],
  drive: Drive,
  { connections, rounds }: GrowthOptions,
): Promise<Started[]> {
  const found = folders.map(() => [] as Omit<Started, 'stored' | 'afterKillSeconds'>[]);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { dataDir }] of folders.entries()) {
      const service = await startService({}, dataDir);
      found[i]!.push({
        seconds: service.startSeconds,
        recoverySeconds: await service.metric('payments_recovery_duration_seconds'),
        residentMib: memoryMib(service.pid, 'Rss'),
        ownMib: memoryMib(service.pid, 'Anonymous'),
      });
      await service.stop();
    }
  }
  const started = [];
  for (const [i, { dataDir, key, stored }] of folders.entries()) {
    const service = await startService({}, dataDir);
    await drive({ url: service.url, requests: [creation(key, counted('kill'))] }, connections, killSeconds);
    await service.kill();
    const again = await startService({}, dataDir);
    await again.stop();
    const of = (name: keyof (typeof found)[number][number]) => median(found[i]!.map((each) => each[name]));
    started.push({
      stored,
      seconds: of('seconds'),
      recoverySeconds: of('recoverySeconds'),
      afterKillSeconds: again.startSeconds,
      residentMib: of('residentMib'),
      ownMib: of('ownMib'),
    });
  }
  return started;
}

function startTable(starts: readonly Started[]): string {
  const names = ['seconds', 'recoverySeconds', 'afterKillSeconds', 'residentMib', 'ownMib'] as const;
  return aligned([
    ['stored', 'start s', 'of which recovery s', 'after a kill s', 'resident MiB', 'without files MiB'],
    ...starts.map((start) => [
      start.stored.toLocaleString('en'),
      ...names.map((name) => start[name].toFixed(name.endsWith('Mib') ? 0 : 2)),
    ]),
  ]);
}

async function withServices(
  folders: readonly FilledFolder[],
  drive: Drive,
  options: GrowthOptions,
  say: (text: string) => void,
): Promise<object> {
  const { steps, connections, rounds, seconds } = options;
  if (steps.every((step) => step === 'start')) return {};
  const services: ServiceTarget[] = [];
  try {
    for (const { dataDir } of folders) services.push(await startService({}, dataDir));
    const listed = folders.map(({ key, days }, i) => ({ service: services[i]!, key, days }));
    const stored = folders.map((folder) => folder.stored);
    const lists = steps.includes('lists')
      ? await measureLists(listed, drive, { connections: listConnections, rounds, seconds: 1 })
      : null;
    if (lists !== null) say(`${listTable(lists, stored)}\n`);
    const creates = steps.includes('creates')
      ? await measureCreates(folders, services, drive, options)
      : null;
    if (creates !== null) say(`${createTable(creates)}\n`);
    if (!steps.includes('backup')) return { lists, creates };
    const perSecond = await halfOfSaturation(folders.at(-1)!, services.at(-1)!, drive, connections);
    const backup = await measureBackup(services.at(-1)!, {
      key: folders.at(-1)!.key,
      connections,
      perSecond,
      rounds: backupRounds,
      seconds: Math.max(seconds, 4),
      isWhole: true,
    });
    say(`${backupTable(backup)}\n`);
    return { lists, creates, backup };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

interface Created {
  readonly stored: number;
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  /** Requests a second and processor time as multiples of the first folder's, round by round. */
  readonly ratio: number;
  readonly cpuRatio: number;
  /** What the process has when it is over, and what its records take of what they may take. */
  readonly residentMib: number;
  readonly ownMib: number;
  readonly recordMib: number;
  readonly recordMibMax: number;
}

async function measureCreates(
  folders: readonly FilledFolder[],
  services: readonly ServiceTarget[],
  drive: Drive,
  { connections, rounds, seconds }: GrowthOptions,
): Promise<Created[]> {
  const loads = folders.map(({ key }, i): Load => {
    return { url: services[i]!.url, requests: [creation(key, counted('load'))] };
  });
  const found = folders.map(() => ({ rate: [] as number[], cpu: [] as number[] }));
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, service] of services.entries()) {
      const run = await costed(service, () => drive(loads[i]!, connections, seconds));
      if (round === 0) continue;
      found[i]!.rate.push(run.requestsPerSecond);
      found[i]!.cpu.push(run.cpuMicroseconds);
    }
  }
  const [first] = found as [(typeof found)[number]];
  const ratio = (of: readonly number[], over: readonly number[]) =>
    median(of.map((value, round) => value / over[round]!));
  return Promise.all(
    folders.map(async ({ stored }, i) => ({
      stored,
      perSecond: median(found[i]!.rate),
      cpuMicroseconds: median(found[i]!.cpu),
      ratio: ratio(found[i]!.rate, first.rate),
      cpuRatio: ratio(found[i]!.cpu, first.cpu),
      residentMib: memoryMib(services[i]!.pid, 'Rss'),
      ownMib: memoryMib(services[i]!.pid, 'Anonymous'),
      recordMib: (await services[i]!.metric('payments_resident_bytes')) / 2 ** 20,
      recordMibMax: (await services[i]!.metric('payments_resident_bytes_max')) / 2 ** 20,
    })),
  );
}

function createTable(creates: readonly Created[]): string {
  const titles = ['stored', 'creates/s', '÷ first', 'CPU µs', '÷ first'];
  return aligned([
    [...titles, 'resident MiB', 'without files MiB', 'records MiB', 'at most MiB'],
    ...creates.map((each) => [
      each.stored.toLocaleString('en'),
      Math.round(each.perSecond).toLocaleString('en'),
      each.ratio.toFixed(2),
      each.cpuMicroseconds.toFixed(1),
      each.cpuRatio.toFixed(2),
      ...[each.residentMib, each.ownMib, each.recordMib, each.recordMibMax].map((mib) => mib.toFixed(0)),
    ]),
  ]);
}

async function halfOfSaturation(
  { key }: FilledFolder,
  service: ServiceTarget,
  drive: Drive,
  connections: number,
): Promise<number> {
  const load = { url: service.url, requests: [creation(key, counted('full'))] };
  const { requestsPerSecond } = await drive(load, connections, killSeconds);
  return Math.round(requestsPerSecond / 2);
}
