// How the service does with several shards and edges: creates and retrieves of many organizations, which spread over the
// shards, from services that stand beside each other and take turns.

import type { Drive, Load, Measured, Template } from './load.ts';
import { aligned, median } from './report.ts';
import { creation, headersOf, intentsPath } from './scenarios.ts';
import { type ServiceTarget, startService, unlimitedKey } from './targets.ts';
import { counted } from './varying.ts';

/** How many threads of each kind a service has. */
export interface Layout {
  readonly edges: number;
  readonly shards: number;
}

export interface Scaled extends Layout {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly cpuMicroseconds: number;
}

interface Candidate extends Layout {
  readonly service: ServiceTarget;
  readonly loads: Readonly<Record<string, Load>>;
}

const organizations = 16;
const warmUpSeconds = 1;

export async function measureScale(
  layouts: readonly Layout[],
  drive: Drive,
  { connections, rounds, seconds }: { connections: number; rounds: number; seconds: number },
): Promise<Scaled[]> {
  const candidates: Candidate[] = [];
  try {
    for (const layout of layouts) candidates.push(await start(layout));
    const rows = candidates.flatMap((candidate) =>
      Object.entries(candidate.loads).map(([name, load]) => ({
        candidate,
        name,
        load,
        rounds: [] as Round[],
      })),
    );
    for (const { load } of rows) await drive(load, connections, warmUpSeconds);
    for (let round = 0; round < rounds; round++) {
      for (const row of rows) {
        const { service } = row.candidate;
        row.rounds.push(await measure(service, () => drive(row.load, connections, seconds)));
      }
    }
    return rows.map(({ candidate: { edges, shards }, name, rounds: measured }) => ({
      name,
      edges,
      shards,
      requestsPerSecond: median(measured.map(({ requestsPerSecond }) => requestsPerSecond)),
      p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
      cpuMicroseconds: median(measured.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    }));
  } finally {
    await Promise.all(candidates.map(({ service }) => service.stop()));
  }
}

interface Round extends Measured {
  readonly cpuMicroseconds: number;
}

async function measure(service: ServiceTarget, run: () => Promise<Measured>): Promise<Round> {
  const before = service.cpuSeconds() ?? Number.NaN;
  const measured = await run();
  const seconds = (service.cpuSeconds() ?? Number.NaN) - before;
  return { ...measured, cpuMicroseconds: (seconds * 1e6) / measured.requests };
}

async function start({ edges, shards }: Layout): Promise<Candidate> {
  const service = await startService({ PAYMENTS_EDGES: String(edges), PAYMENTS_SHARDS: String(shards) });
  const creates: Template[] = [];
  const retrieves: Template[] = [];
  for (let i = 0; i < organizations; i++) {
    const key = await unlimitedKey(service.dataDir);
    const create = creation(key, counted('load'));
    creates.push(create);
    const request = {
      method: 'GET',
      path: `${intentsPath}/${await idOf(service, create)}`,
      headers: headersOf(key),
    };
    retrieves.push({ request: request as Template['request'], varying: null });
  }
  const loadOf = (requests: readonly Template[]): Load => ({ url: service.url, requests });
  return { edges, shards, service, loads: { create: loadOf(creates), retrieve: loadOf(retrieves) } };
}

/** The id of an intent that is created. */
async function idOf({ url }: ServiceTarget, { request }: Template): Promise<string> {
  const { method, headers, body } = request as {
    method: string;
    headers: Record<string, string>;
    body: string;
  };
  const response = await fetch(url + intentsPath, { method, headers, body });
  const { id } = (await response.json()) as { id?: string };
  if (id === undefined) throw new Error(`an intent was refused with ${response.status}`);
  return id;
}

export function scaleTable(scaled: readonly Scaled[]): string {
  return aligned([
    ['edges × shards', 'requests/s', 'p99 ms', 'CPU µs'],
    ...scaled.map(({ name, edges, shards, requestsPerSecond, p99Ms, cpuMicroseconds }) => [
      `${name}, ${edges} × ${shards}`,
      Math.round(requestsPerSecond).toLocaleString('en'),
      p99Ms.toFixed(2),
      cpuMicroseconds.toFixed(1),
    ]),
  ]);
}
