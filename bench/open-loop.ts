// Load in an open loop: requests that become due at a fixed rate, see flows.ts.

import { driveFlows } from './flows.ts';
import type { Load, Measured } from './load.ts';
import { requestText } from './request-text.ts';

/** Drives a server at a rate for some seconds. Rejects when any request was not answered with success. */
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
