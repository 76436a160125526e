// `node bench/cold-start.ts`: how long the service takes to start on a folder that holds many payment intents, and how
// much memory it then has, after a stop and after a kill. The folder is filled over HTTP by the service itself.

import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { drive } from './load.ts';
import { bench, positive } from './options.ts';
import { type ServiceTarget, startService } from './targets.ts';
import { counted } from './varying.ts';

const { intents, json } = bench('bench:cold-start', 'seconds and memory of a start on many payment intents')
  .option('--intents <n>', 'payment intents to fill the folder with', positive, 1_000_000)
  .option('--json', 'print JSON', false)
  .parse()
  .opts<{ intents: number; json: boolean }>();
const fillSeconds = 5;

/** Resident memory of a process, in MiB. */
function memoryMib(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return Math.round((pages * 4096) / 2 ** 20);
}

async function fill(service: ServiceTarget): Promise<number> {
  const varying = counted('fill');
  const headers = {
    authorization: `Bearer ${service.key}`,
    'content-type': 'application/json',
    'idempotency-key': varying.first,
  };
  const body = JSON.stringify({ amount: 12_000, currency: 'mad', metadata: { order_id: 'order-1042' } });
  const request = { method: 'POST' as const, path: '/v1/payment_intents', headers, body };
  const load = { url: service.url, requests: [{ request, varying }] };
  let created = 0;
  while (created < intents) {
    const measured = await drive(load, 100, fillSeconds);
    created += measured.requests;
    process.stderr.write(`\r${created} of ${intents} intents`);
  }
  process.stderr.write('\n');
  return created;
}

interface Start {
  readonly after: string;
  readonly seconds: number;
  readonly memoryMib: number;
}

/** Starts the service on the folder, and ends it again as `end` says. */
async function measure(after: string, dataDir: string, end: (service: ServiceTarget) => Promise<unknown>) {
  const startedAt = performance.now();
  const service = await startService({}, dataDir);
  const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(2));
  const start: Start = { after, seconds, memoryMib: memoryMib(service.pid) };
  await end(service);
  return start;
}

const stop = (service: ServiceTarget) => service.stop();
async function kill(service: ServiceTarget): Promise<void> {
  process.kill(service.pid, 'SIGKILL');
  await wait(200);
}

const service = await startService();
const created = await fill(service);
const filledMib = memoryMib(service.pid);
await kill(service);
const starts = [
  await measure('a kill under load', service.dataDir, stop),
  await measure('a stop', service.dataDir, kill),
  await measure('a kill at rest', service.dataDir, stop),
];
if (json) console.log(JSON.stringify({ intents: created, filledMib, starts }));
else {
  console.log(`${created} payment intents; ${filledMib} MiB at the end of the load`);
  console.table(starts);
}
process.exit(0);
