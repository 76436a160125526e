// The report: medians over the rounds, as tables for people or as JSON for machines. What counts are the ratios, each
// taken within a round: what disturbs a round disturbs both sides of it.

import type { Measured } from './load.ts';
import type { ThreadSeconds } from './processor-time.ts';
import type { Server } from './scenarios.ts';

export interface Round extends Measured {
  /** Processor time of the measured server for one request, in microseconds. */
  readonly cpuMicroseconds: number | null;
  /** The same by thread; the service only. */
  readonly threads: ThreadSeconds | null;
}

export interface Row {
  readonly name: string;
  readonly server: Server;
  readonly rounds: readonly Round[];
}

export interface Summary {
  readonly name: string;
  readonly server: Server;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly cpuMicroseconds: number | null;
  /** Microseconds a request by thread. */
  readonly threads: Readonly<Record<string, number>> | null;
  /** Requests per second as a share of the bare server's, and as a multiple of PostgreSQL's. */
  readonly ofBare: number | null;
  readonly overPostgres: number | null;
  /** Processor time as a multiple of the bare server's. */
  readonly cpuOverBare: number | null;
}

/** The request of the bare server that one of the service is compared with. */
const bareOf: Readonly<Record<string, string>> = { replay: 'create', 'create with webhooks': 'create' };

export function summarize(rows: readonly Row[]): Summary[] {
  const find = (name: string, server: Server) =>
    rows.find((row) => row.name === name && row.server === server)?.rounds;
  return rows.map(({ name, server, rounds }) => {
    const bare = server === 'bare' ? undefined : find(bareOf[name] ?? name, 'bare');
    const postgres = server === 'service' ? find(bareOf[name] ?? name, 'postgres') : undefined;
    const rate = (round: Round) => round.requestsPerSecond;
    return {
      name,
      server,
      requestsPerSecond: median(rounds.map(rate)),
      p50Ms: median(rounds.map((round) => round.p50Ms)),
      p99Ms: median(rounds.map((round) => round.p99Ms)),
      p999Ms: median(rounds.map((round) => round.p999Ms)),
      cpuMicroseconds: rounds.some((round) => round.cpuMicroseconds === null)
        ? null
        : median(rounds.map((round) => round.cpuMicroseconds!)),
      threads: medianThreads(rounds),
      ofBare: ratio(rounds, bare, rate),
      overPostgres: ratio(rounds, postgres, rate),
      cpuOverBare: ratio(rounds, bare, (round) => round.cpuMicroseconds ?? Number.NaN),
    };
  });
}

function ratio(
  rounds: readonly Round[],
  others: readonly Round[] | undefined,
  of: (round: Round) => number,
): number | null {
  if (others === undefined) return null;
  const value = median(rounds.map((round, i) => of(round) / of(others[i]!)));
  return Number.isFinite(value) ? value : null;
}

function medianThreads(rounds: readonly Round[]): Record<string, number> | null {
  const [first] = rounds;
  if (first?.threads == null) return null;
  const names = Object.keys(first.threads);
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((round) => round.threads?.[name] ?? 0))]),
  );
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const fixed = (digits: number) => (value: number | null) => value?.toFixed(digits) ?? '';
const titles: Readonly<Record<Server, string>> = {
  service: 'this service',
  bare: 'bare uWebSockets.js',
  postgres: 'Fastify + PostgreSQL',
};

const columns: readonly [title: string, cell: (summary: Summary) => string][] = [
  ['', ({ name, server }) => `${titles[server]}: ${name}`],
  ['requests/s', ({ requestsPerSecond }) => Math.round(requestsPerSecond).toLocaleString('en')],
  ['p50 ms', ({ p50Ms }) => fixed(2)(p50Ms)],
  ['p99 ms', ({ p99Ms }) => fixed(2)(p99Ms)],
  ['p99.9 ms', ({ p999Ms }) => fixed(2)(p999Ms)],
  ['CPU µs', ({ cpuMicroseconds }) => fixed(1)(cpuMicroseconds)],
  ['÷ bare', ({ ofBare }) => fixed(2)(ofBare)],
  ['CPU ÷ bare', ({ cpuOverBare }) => fixed(1)(cpuOverBare)],
  ['÷ PostgreSQL', ({ overPostgres }) => fixed(1)(overPostgres)],
];

export function table(summaries: readonly Summary[]): string {
  return aligned([
    columns.map(([title]) => title),
    ...summaries.map((summary) => columns.map(([, cell]) => cell(summary))),
  ]);
}

/** Processor time a request by thread, in microseconds; in parentheses what the garbage collector took of it. */
export function threadTable(summaries: readonly Summary[]): string {
  const measured = summaries.filter(({ threads }) => threads !== null);
  const names = [...new Set(measured.flatMap(({ threads }) => Object.keys(threads!)))].filter(
    (name) => !name.endsWith(' gc'),
  );
  if (names.length === 0) return '';
  const cell = (threads: Readonly<Record<string, number>>, name: string) => {
    const collected = threads[`${name} gc`];
    return `${fixed(1)(threads[name] ?? 0)}${collected === undefined ? '' : ` (${fixed(1)(collected)})`}`;
  };
  return aligned([
    ['CPU µs a request by thread (gc)', ...names],
    ...measured.map(({ name, threads }) => [name, ...names.map((thread) => cell(threads!, thread))]),
  ]);
}

/** Lines of cells in columns: the first aligned left, the others right. */
export function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines
    .map((line) =>
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n');
}
