// What is asked of a server: requests that are sent over and over, of each a part exchanged (the idempotency key, or the id
// in the path). The generator here runs in the bench's own process; wrk.ts has a lighter one.

import { driveFlows } from './flows.ts';
import { requestText } from './request-text.ts';
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

export const drive: Drive = (load, connections, seconds) =>
  driveOpen(load, connections, Number.POSITIVE_INFINITY, seconds);

/** The same with requests that become due at a rate, see flows.ts. */
export function driveOpen(
  load: Load,
  connections: number,
  perSecond: number,
  seconds: number,
): Promise<Measured> {
  const requests = load.requests.map((template) => {
    const [before, after] = requestText(template);
    return () => before + (template.varying?.next() ?? '') + after;
  });
  let begun = 0;
  const begin = () => {
    const text = requests[begun++ % requests.length]!;
    return (answer: string | null) => (answer === null ? text() : null);
  };
  return driveFlows(load.url, begin, { connections, perSecond, seconds });
}
