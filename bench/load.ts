// The load: autocannon's connections, each sending the same request again and again with one part of it exchanged
// (the idempotency key, or the id in the path). The part is overwritten in the bytes that were built once: building a
// request anew for each send costs the load generator a quarter of what it can do, and it shares the machine with
// what it measures.

import autocannon, { type Client, type Request } from 'autocannon';
import type { Varying } from './varying.ts';

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

/** Drives a server for some seconds over so many connections. */
export type Drive = (load: Load, connections: number, seconds: number) => Promise<Measured>;

/**
 * Drives a server for some seconds, each connection sending its next request when the one before was answered. Rejects
 * when any request was not answered with success.
 */
export async function drive(
  { url, requests }: Load,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const [template] = requests as [Template];
  if (requests.length !== 1) throw new Error('autocannon is given one kind of request');
  const { request } = template;
  const durationsMs: number[] = [];
  const startedAt = performance.now();
  let lastAt = startedAt;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 50,
    requests: [request],
    setupClient(client) {
      const exchange = exchanger(template, client);
      exchange();
      client.on('response', (_status, _bytes, durationMs) => {
        durationsMs.push(durationMs);
        lastAt = performance.now();
        exchange();
      });
    },
  });
  if (result.non2xx + result.errors + result.timeouts > 0) {
    const { errors, timeouts, statusCodeStats } = result;
    const found = JSON.stringify({ statuses: statusCodeStats, errors, timeouts });
    throw new Error(`${request.method} ${request.path} was not always answered with success: ${found}`);
  }
  const sorted = Float64Array.from(durationsMs).sort();
  return {
    requestsPerSecond: sorted.length / ((lastAt - startedAt) / 1000),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    p999Ms: quantile(sorted, 0.999),
    requests: sorted.length,
  };
}

/** A function that puts the next varying part into a connection's request, of the same length as the one before. */
function exchanger({ varying }: Template, client: Client): () => void {
  if (varying === null) return () => {};
  const bytes = client.requestIterator.currentRequest.requestBuffer;
  const at = bytes.indexOf(varying.first);
  return () => bytes.write(varying.next(), at, 'latin1');
}

/** The value that a share of the sorted values does not exceed. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
