// The report: medians over the rounds, as a table or as JSON.

import type { Measured } from './load.ts';

export interface Round extends Measured {
  /** Processor time of the measured process for one request, in microseconds. */
  readonly cpuMicroseconds: number | null;
}

export interface Row {
  readonly name: string;
  /** The row of the bare server that this one is compared with; null: it is the bare server. */
  readonly comparedWith: string | null;
  readonly rounds: readonly Round[];
}

export interface Summary {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicroseconds: number | null;
  /** Requests per second, as a share of the bare server's. */
  readonly ratio: number | null;
}

export function summarize(rows: readonly Row[]): Summary[] {
  return rows.map(({ name, comparedWith, rounds }) => ({
    name,
    requestsPerSecond: medianOf(rounds, 'requestsPerSecond')!,
    p50Ms: medianOf(rounds, 'p50Ms')!,
    p99Ms: medianOf(rounds, 'p99Ms')!,
    cpuMicroseconds: medianOf(rounds, 'cpuMicroseconds'),
    ratio: ratioOf(rounds, rows.find((row) => row.name === comparedWith)?.rounds),
  }));
}

/** The median of the ratios within each round: what disturbs a round disturbs both sides of its ratio. */
function ratioOf(rounds: readonly Round[], bare: readonly Round[] | undefined): number | null {
  if (bare === undefined) return null;
  return median(rounds.map((round, i) => round.requestsPerSecond / bare[i]!.requestsPerSecond));
}

function medianOf(rounds: readonly Round[], field: Exclude<keyof Round, 'requests'>): number | null {
  const values = rounds.map((round) => round[field]);
  return values.includes(null) ? null : median(values as number[]);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const columns: readonly [title: string, cell: (summary: Summary) => string][] = [
  ['', ({ name }) => name],
  ['requests/s', ({ requestsPerSecond }) => Math.round(requestsPerSecond).toLocaleString('en')],
  ['p50 ms', ({ p50Ms }) => p50Ms.toFixed(2)],
  ['p99 ms', ({ p99Ms }) => p99Ms.toFixed(2)],
  ['CPU µs', ({ cpuMicroseconds }) => cpuMicroseconds?.toFixed(1) ?? ''],
  ['ratio', ({ ratio }) => ratio?.toFixed(2) ?? ''],
];

export function table(summaries: readonly Summary[]): string {
  const lines = [
    columns.map(([title]) => title),
    ...summaries.map((summary) => columns.map(([, cell]) => cell(summary))),
  ];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines
    .map((line) =>
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n');
}
