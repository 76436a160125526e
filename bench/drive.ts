// The generator in the bench's own process, see flows.ts.

import { driveFlows } from './flows.ts';
import type { Drive, Load, Measured } from './load.ts';
import { requestText } from './request-text.ts';

export const drive: Drive = (load, connections, seconds) =>
  driveOpen(load, connections, Number.POSITIVE_INFINITY, seconds);

/** The same with requests that become due at a rate. */
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
