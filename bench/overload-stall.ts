// A disk that stops for some seconds and heals, as the machine of test/machine has it. Meanwhile clients go on creating
// payment intents and reading old ones at a fixed rate, and none waits for longer than two seconds. What counts is that reads
// are answered, that no write runs for which nobody waits any longer, that memory does not grow with the time, and that
// latency is soon what it was.

import { setTimeout as wait } from 'node:timers/promises';
import { FaultyMachine } from '../test/machine/faulty-machine.ts';
import { countOf, creates, Flood, retrieves } from './flood.ts';
import { type FloodResult, fates, type Quantiles } from './flood-clients.ts';
import { memoryMib } from './memory.ts';
import { type Noticed, OrdinaryClient } from './ordinary-client.ts';
import { aligned } from './report.ts';
import { headersOf, intentsPath } from './scenarios.ts';
import { type ServiceTarget, startService, unlimitedKey } from './targets.ts';
import { timeNow } from './time.ts';

interface Stall {
  readonly seconds: number;
  readonly perSecond: number;
  readonly writes: {
    readonly answered: number;
    readonly refused: number;
    readonly abandoned: number;
    readonly failed: number;
    /** Abandoned while the disk stood still, and run afterwards. */
    readonly abandonedAndRun: number;
    /** Abandoned, but the shard had begun with them before it noticed the stall. */
    readonly begunBefore: number;
    /** They ran when the disk was well again, and their clients left meanwhile. */
    readonly begunAfter: number;
    /** Answered with success, and not there. */
    readonly lost: number;
    readonly odd: string | null;
  };
  /** Those that were sent while the disk stood still. */
  readonly reads: Tally & { readonly answeredWithin: Quantiles | null };
  readonly mib: { readonly before: number; readonly healed: number; readonly after: number };
  readonly ordinary: { readonly before: Noticed; readonly backAfterMs: number | null };
}

interface Tally {
  readonly answered: number;
  readonly refused: number;
  readonly abandoned: number;
  readonly failed: number;
}

const patienceMs = 2_000;
const connectionsOf = (perSecond: number) => Math.ceil((perSecond * patienceMs) / 1_000) + 512;
const usualMs = 3_000;
const afterMs = 6_000;
const readIntents = 100;
/** The shard notices a stall within this time of its beginning. */
const noticedMs = 200;
/** From the end of a client's patience until the service knows. */
const goneMs = 60;

/** Payment intents to be read, which are on the disk. */
async function idsToRead({ url, key }: ServiceTarget): Promise<string[]> {
  const create = async (_: unknown, i: number) => {
    const headers = { ...headersOf(key), 'Idempotency-Key': `read-${i}` };
    const body = JSON.stringify({ amount: 12_000, currency: 'mad' });
    const response = await fetch(url + intentsPath, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`an intent was refused: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  };
  return Promise.all(Array.from({ length: readIntents }, create));
}

/** The numbers of the creates that have run, by a list of all that is stored. */
async function numbersThatRan({ url, key }: ServiceTarget, prefix: string): Promise<Set<number>> {
  const numbers = new Set<number>();
  for (let after = ''; ; ) {
    const response = await fetch(`${url}${intentsPath}?limit=100${after}`, { headers: headersOf(key) });
    if (!response.ok) throw new Error(`a list was refused: ${await response.text()}`);
    const page = (await response.json()) as {
      has_more: boolean;
      data: { id: string; metadata: Record<string, string> }[];
    };
    for (const { metadata } of page.data) {
      const [, number] = new RegExp(`^${prefix}-(\\d+)$`).exec(metadata.order_id ?? '') ?? [];
      if (number !== undefined) numbers.add(Number(number));
    }
    if (!page.has_more) return numbers;
    after = `&starting_after=${page.data.at(-1)!.id}`;
  }
}

function tallyOf(result: FloodResult): Tally {
  const [answered, refused, abandoned, failed] = (
    ['answered', 'refused', 'abandoned', 'failed'] as const
  ).map((fate) => countOf(result, fate)) as [number, number, number, number];
  return { answered, refused, abandoned, failed };
}

interface Times {
  readonly stalledAt: number;
  readonly healedAt: number;
}

/** What became of the writes that nobody waited for any longer, and of those that were acknowledged. */
function afterwards(result: FloodResult, ran: ReadonlySet<number>, perSecond: number, times: Times) {
  let [abandonedAndRun, begunBefore, begunAfter, lost] = [0, 0, 0, 0];
  for (const [number, fate] of [...result.fates].entries()) {
    const sentAt = result.startedAt + (number * 1_000) / perSecond;
    if (fate === fates.answered && !ran.has(number)) lost++;
    if (fate !== fates.abandoned || !ran.has(number)) continue;
    if (sentAt < times.stalledAt + noticedMs) begunBefore++;
    else if (sentAt + patienceMs + goneMs > times.healedAt) begunAfter++;
    else abandonedAndRun++;
  }
  return { abandonedAndRun, begunBefore, begunAfter, lost };
}

/** Has the disk stop for some seconds, while so many creates, and so many retrieves, become due each second. */
export async function stall(
  env: Readonly<Record<string, string>>,
  seconds: number,
  perSecond: number,
): Promise<Stall> {
  const machine = FaultyMachine.make();
  if (machine === null) throw new Error('A disk that stops needs Linux and a C compiler (cc).');
  // No power is cut, so nothing need be recorded.
  const faulty = { ...machine.environment, FAULTS_RECORD: '/dev/null' };
  const service = await startService({ ...env, ...faulty }, machine.dataDir);
  try {
    return await measure(service, machine, seconds, perSecond);
  } finally {
    machine.heal();
    await service.stop();
  }
}

async function measure(
  service: ServiceTarget,
  machine: FaultyMachine,
  seconds: number,
  perSecond: number,
): Promise<Stall> {
  const ids = await idsToRead(service);
  const { url, key } = service;
  const asked = { connections: connectionsOf(perSecond), perSecond, patienceMs };
  const writing = { ...asked, seconds: (usualMs + afterMs) / 1_000 + seconds };
  const writers = await Flood.connect(creates(url, [key], 'stall', writing));
  const readers = await Flood.connect(retrieves(url, key, ids, { ...asked, seconds }));
  const client = new OrdinaryClient(url, await unlimitedKey(service.dataDir));
  const written = writers.run();
  await wait(usualMs);
  const mib = { before: memoryMib(service.pid, 'Anonymous'), healed: 0, after: 0 };
  const stalledAt = timeNow();
  machine.faults({ on: 'sync', place: '/', action: 'wait', argument: seconds * 1_000 + 60_000 });
  const read = readers.run();
  await wait(seconds * 1_000);
  mib.healed = memoryMib(service.pid, 'Anonymous');
  machine.heal();
  const healedAt = timeNow();
  const [result, reads] = await Promise.all([written, read]);
  client.leave();
  mib.after = memoryMib(service.pid, 'Anonymous');
  const ran = await numbersThatRan(service, 'stall');
  const before = client.noticed(stalledAt - usualMs, stalledAt - 100);
  return {
    seconds,
    perSecond,
    writes: {
      ...tallyOf(result),
      ...afterwards(result, ran, perSecond, { stalledAt, healedAt }),
      odd: result.odd,
    },
    reads: { ...tallyOf(reads), answeredWithin: reads.answered },
    mib,
    ordinary: { before, backAfterMs: client.backAfterMs(healedAt, before) },
  };
}

export function stallTable({ seconds, perSecond, writes, reads, mib, ordinary }: Stall): string {
  const row = (name: string, { answered, refused, abandoned, failed }: Tally) => [
    name,
    ...[answered, refused, abandoned, failed].map((count) => count.toLocaleString('en')),
  ];
  const back = ordinary.backAfterMs === null ? 'not yet' : `${ordinary.backAfterMs.toFixed(0)} ms`;
  const within = reads.answeredWithin;
  return [
    `a disk that stops for ${seconds} s; ${perSecond} creates and as many retrieves a second`,
    aligned([
      ['', 'answered', 'refused', 'abandoned', 'failed'],
      row('creates, before, during and after', writes),
      row('retrieves during', reads),
    ]),
    `retrieves were answered within: p50 ${within?.p50Ms.toFixed(1)} ms, p99 ${within?.p99Ms.toFixed(1)} ms`,
    `abandoned creates that ran afterwards: ${writes.abandonedAndRun} (the shard had begun with ${writes.begunBefore} before it noticed the stall, and ${writes.begunAfter} were abandoned as they ran)`,
    `answered creates that are lost: ${writes.lost}`,
    `latency is back after the disk was well again: ${back} (usual p50 ${ordinary.before.p50Ms.toFixed(1)} ms)`,
    `memory of the service that no file backs, MiB: before ${mib.before.toFixed(0)}, when it healed ${mib.healed.toFixed(0)}, after ${mib.after.toFixed(0)}`,
    ...(writes.odd === null ? [] : [`a create failed: ${writes.odd}`]),
    '',
  ].join('\n');
}
