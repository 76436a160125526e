// wrk, where it is installed: a load generator in C that takes a third of the processor time of autocannon, so that it
// is the servers that are measured. Its Lua script sends the same requests as the other generator, each with a part of
// its own exchanged, and prints what was counted as one line of JSON.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../test/temporary-folder.ts';
import type { Load, Measured, Template } from './load.ts';
import { requestText } from './request-text.ts';

const execute = promisify(execFile);

export async function isWrkInstalled(): Promise<boolean> {
  return execute('wrk', ['--version']).then(
    () => true,
    // It prints its version and ends with 1.
    (error: { code: unknown }) => error.code === 1,
  );
}

const folder = temporaryFolder();
let runs = 0;

/** A function for each kind of request, called in turn; kinds that are named more than once are counted once. */
function script({ requests }: Load): string {
  const kinds = [...new Set(requests)];
  const functions = kinds.map((template, i) => {
    const [before, after] = requestText(template);
    const part = template.varying?.lua(join(folder, `texts-${runs}-${i}`)) ?? "function part() return '' end";
    return `do
${part.replace('function part()', 'local function part()')}
kinds[${i + 1}] = function() return ${JSON.stringify(before)} .. part() .. ${JSON.stringify(after)} end
end`;
  });
  const order = requests.map((template) => kinds.indexOf(template) + 1);
  return `local kinds, order, sent = {}, {${order.join(', ')}}, 0
${functions.join('\n')}
function request()
  sent = sent % #order + 1
  return kinds[order[sent]]()
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"us":%d,"p50":%d,"p99":%d,"p999":%d,"failed":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;
}

/** Drives a server for some seconds. Rejects when any request was not answered with success. */
export async function driveWithWrk(load: Load, connections: number, seconds: number): Promise<Measured> {
  const file = join(folder, `script-${++runs}.lua`);
  writeFileSync(file, script(load));
  const args = ['-t', '1', '-c', String(connections), '-d', `${Math.ceil(seconds)}s`, '-s', file, load.url];
  const { stdout } = await execute('wrk', args);
  const { requests, us, p50, p99, p999, failed } = JSON.parse(/^\{.*\}$/m.exec(stdout)![0]);
  if (failed > 0) {
    const [{ request }] = load.requests as [Template];
    throw new Error(`${request.method} ${request.path} was not always answered with success: ${stdout}`);
  }
  return {
    requests,
    requestsPerSecond: requests / (us / 1e6),
    p50Ms: p50 / 1_000,
    p99Ms: p99 / 1_000,
    p999Ms: p999 / 1_000,
  };
}
