// What is asked of a server, and what is found: requests that are sent over and over, of each a part exchanged (the
// idempotency key, or the id in the path). wrk.ts and drive.ts send them.

import type { Varying } from './varying.ts';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request of which a part is another one each time; null: it is the same each time. */
export interface Template {
  readonly request: Request;
  readonly varying: Varying | null;
}

export interface Load {
  readonly url: string;
  /** Sent one after the other, over and over. */
  readonly requests: readonly Template[];
}

export interface Measured {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly requests: number;
}

/**
 * Drives a server for some seconds over so many connections: each sends its next request when the one before was answered.
 * Rejects when any request was not answered with success.
 */
export type Drive = (load: Load, connections: number, seconds: number) => Promise<Measured>;

/** The value that a share of the sorted values does not exceed. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
