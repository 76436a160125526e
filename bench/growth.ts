// What the service does when much is stored, beside an empty one: how long it takes to start and how much memory it
// then has, creates a second, and pages of the list, the newest and those of any time. Folders are filled before the
// service starts on them; the services then take turns in short rounds, so that what else the machine does falls on all
// of them alike.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Load, Measured } from './load.ts';
import { aligned, median } from './report.ts';
import { creation, intentsPath, reading } from './scenarios.ts';
import { startService, temporaryFolder } from './targets.ts';
import { counted, cycled } from './varying.ts';

export interface FilledFolder {
  readonly stored: number;
  /** For how many days they were created. */
  readonly days: number;
  readonly dataDir: string;
  readonly key: string;
}

export interface Growth {
  readonly stored: number;
  /** From the start of the process until it is ready: after a stop, and after a kill under load. */
  readonly startSeconds: number;
  readonly startAfterKillSeconds: number;
  /** Resident memory of the process that has just started. */
  readonly memoryMib: number;
  /** Requests a second. */
  readonly creates: number;
  readonly newestPages: number;
  readonly pagesOfAnyTime: number;
}

export type Drive = (load: Load, connections: number, seconds: number) => Promise<Measured>;

/** A folder that a service has made and that then got so many payment intents. */
export async function fillFolder(
  stored: number,
  days: number,
  dataDir = temporaryFolder(),
): Promise<FilledFolder> {
  const service = await startService({}, dataDir);
  await service.stop();
  if (stored > 0) {
    const script = fileURLToPath(new URL('fill.ts', import.meta.url));
    const child = spawn(process.execPath, [script, dataDir, String(stored), String(days)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`filling ${dataDir} ended with code ${code}`);
  }
  return { stored, days, dataDir, key: service.key };
}

export async function measureGrowth(
  folders: readonly FilledFolder[],
  drive: Drive,
  { connections, rounds, seconds }: { connections: number; rounds: number; seconds: number },
): Promise<Growth[]> {
  const started = [];
  for (const folder of folders) started.push({ folder, ...(await startTwice(folder, drive, connections)) });
  const loads = started.map(({ folder, service }) => loadsOf(folder, service.url));
  const found = started.map(() => ({ creates: [], newestPages: [], pagesOfAnyTime: [] }) as Rates);
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const name of rateNames) {
      for (const [i, load] of loads.entries()) {
        const { requestsPerSecond } = await drive(load[name], connections, seconds);
        if (round > 0) found[i]![name].push(requestsPerSecond);
      }
    }
  }
  await Promise.all(started.map(({ service }) => service.stop()));
  return started.map(({ folder, service: _, ...start }, i) => ({
    stored: folder.stored,
    ...start,
    creates: median(found[i]!.creates),
    newestPages: median(found[i]!.newestPages),
    pagesOfAnyTime: median(found[i]!.pagesOfAnyTime),
  }));
}

const rateNames = ['creates', 'newestPages', 'pagesOfAnyTime'] as const;
type Rates = Record<(typeof rateNames)[number], number[]>;

/** Starts on a folder, ends that without warning under load, and starts again. */
async function startTwice({ dataDir, key }: FilledFolder, drive: Drive, connections: number) {
  const first = await startService({}, dataDir);
  const memoryMib = residentMib(first.pid);
  await drive({ url: first.url, requests: [creation(key, counted('kill'))] }, connections, 3);
  await first.kill();
  const service = await startService({}, dataDir);
  const { startSeconds } = first;
  return { service, startSeconds, startAfterKillSeconds: service.startSeconds, memoryMib };
}

function residentMib(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return (pages * 4096) / 2 ** 20;
}

const times = 1_000;

function loadsOf({ key, days }: FilledFolder, url: string): Record<(typeof rateNames)[number], Load> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const moments = Array.from({ length: times }, (_, i) =>
    String(nowSeconds - Math.floor((i / times) * days * 86_400)),
  );
  // Not in order: what one page reads is of no use to the next.
  const scattered = moments.map((_, i) => moments[(i * 617) % times]!);
  const load = (request: Load['requests'][number]): Load => ({ url, requests: [request] });
  return {
    creates: load(creation(key, counted('load'))),
    newestPages: load(reading(key, intentsPath)),
    pagesOfAnyTime: load(reading(key, `${intentsPath}?created[lte]=${scattered[0]}`, cycled(scattered))),
  };
}

export function growthTable(grown: readonly Growth[]): string {
  const [first] = grown as [Growth];
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const titles = ['payment intents stored', 'start s', 'after a kill s', 'MiB'];
  const rates = ['creates/s', '÷ first', 'newest pages/s', 'pages of any time/s'];
  const lines = grown.map((growth) => [
    count(growth.stored),
    growth.startSeconds.toFixed(2),
    growth.startAfterKillSeconds.toFixed(2),
    growth.memoryMib.toFixed(0),
    count(growth.creates),
    (growth.creates / first.creates).toFixed(2),
    count(growth.newestPages),
    count(growth.pagesOfAnyTime),
  ]);
  return aligned([[...titles, ...rates], ...lines]);
}
