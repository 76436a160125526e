// The report: medians over the rounds, as tables for people or as JSON for machines. What counts are the ratios, each
// taken within a round: what disturbs a round disturbs both sides of it.

import type { ThreadSeconds } from './processor-time.ts';
import type { Run, Server } from './scenarios.ts';

export interface Round extends Run {
  /** Processor time of the measured server for one request, in microseconds. */
  readonly cpuMicroseconds: number | null;
  /** The same by thread or process; not the bare server. */
  readonly threads: ThreadSeconds | null;
  /** What the disk took for a sync when the round began. */
  readonly syncMs: number;
}

interface Row {
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
  /** Of the service with a replicated log, as a share of the service without. */
  readonly ofService: number | null;
  /** Processor time as a multiple of the bare server's. */
  readonly cpuOverBare: number | null;
  /** That of a payment as a multiple of a create's by the same server. */
  readonly cpuOverCreate: number | null;
  readonly syncMs: number;
  /** What else was counted, by name. */
  readonly figures: Readonly<Record<string, number>>;
}

/** The request of the bare server that another one is compared with. */
const bareOf = (name: string) => (name === 'replay' ? 'create' : name);
const cpuOf = ({ cpuMicroseconds }: Round) => cpuMicroseconds ?? Number.NaN;

export function summarize(rows: readonly Row[]): Summary[] {
  const find = (name: string, server: Server) =>
    rows.find((row) => row.name === name && row.server === server)?.rounds;
  return rows.map(({ name, server, rounds }) => {
    const bare = server === 'bare' ? undefined : find(bareOf(name), 'bare');
    const isOurs = server === 'service' || server === 'replicated';
    const postgres = isOurs ? find(name, 'postgres') : undefined;
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
      threads: rounds.some(({ threads }) => threads === null)
        ? null
        : medians(rounds.map(({ threads }) => threads!)),
      ofBare: ratio(rounds, bare, rate),
      overPostgres: ratio(rounds, postgres, rate),
      ofService: ratio(rounds, server === 'replicated' ? find(name, 'service') : undefined, rate),
      cpuOverBare: ratio(rounds, bare, cpuOf),
      cpuOverCreate: ratio(rounds, name.startsWith('payment') ? find('create', server) : undefined, cpuOf),
      syncMs: median(rounds.map((round) => round.syncMs)),
      figures: medians(rounds.map(({ figures }) => figures ?? {})),
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

function medians(rounds: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = Object.keys(rounds[0]!);
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name] ?? 0))]));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const fixed = (digits: number) => (value: number | null) => value?.toFixed(digits) ?? '';
const titles: Readonly<Record<Server, string>> = {
  service: 'this service',
  replicated: 'this service, replicated',
  bare: 'bare uWebSockets.js',
  postgres: 'Fastify + PostgreSQL',
};

const columns: readonly [title: string, cell: (summary: Summary) => string][] = [
  ['', ({ name, server }) => `${titles[server]}: ${name}`],
  ['a second', ({ requestsPerSecond }) => Math.round(requestsPerSecond).toLocaleString('en')],
  ['p50 ms', ({ p50Ms }) => fixed(2)(p50Ms)],
  ['p99 ms', ({ p99Ms }) => fixed(2)(p99Ms)],
  ['p99.9 ms', ({ p999Ms }) => fixed(2)(p999Ms)],
  ['CPU µs', ({ cpuMicroseconds }) => fixed(1)(cpuMicroseconds)],
  ['÷ bare', ({ ofBare }) => fixed(2)(ofBare)],
  ['CPU ÷ bare', ({ cpuOverBare }) => fixed(1)(cpuOverBare)],
  ['CPU ÷ create', ({ cpuOverCreate }) => fixed(1)(cpuOverCreate)],
  ['÷ embedded', ({ ofService }) => fixed(2)(ofService)],
  ['÷ PostgreSQL', ({ overPostgres }) => fixed(1)(overPostgres)],
  ['sync ms', ({ overPostgres, syncMs }) => (overPostgres === null ? '' : fixed(2)(syncMs))],
];

/** The summaries as a table with the columns that hold something. */
export function table(summaries: readonly Summary[]): string {
  const names = [...new Set(summaries.flatMap(({ figures }) => Object.keys(figures)))];
  const cells = [
    ...columns,
    ...names.map((name) => [name, ({ figures }: Summary) => counted(figures[name])] as const),
  ].filter(([, cell]) => summaries.some((summary) => cell(summary) !== ''));
  return aligned([
    cells.map(([title]) => title),
    ...summaries.map((summary) => cells.map(([, cell]) => cell(summary))),
  ]);
}

function counted(value: number | undefined): string {
  return value?.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 }) ?? '';
}

/** Processor time each by thread or process, in µs; in parentheses for how long the garbage collector stopped it. */
export function threadTable(summaries: readonly Summary[], server: Server): string {
  const measured = summaries.filter((each) => each.threads !== null && each.server === server);
  const names = [...new Set(measured.flatMap(({ threads }) => Object.keys(threads!)))].filter(
    (name) => !name.endsWith(' gc'),
  );
  if (names.length === 0) return '';
  const cell = (threads: Readonly<Record<string, number>>, name: string) => {
    const collected = threads[`${name} gc`];
    return `${fixed(1)(threads[name] ?? 0)}${collected === undefined ? '' : ` (${fixed(1)(collected)})`}`;
  };
  return aligned([
    [`${titles[server]}: CPU µs each (gc)`, ...names],
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
