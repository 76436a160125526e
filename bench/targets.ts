// What is measured: the service and the bare server, each a process of its own that its starter stops.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buckets } from '../src/contract/limits.ts';
import { newSecretsKey } from '../src/crypto/secret-box.ts';
import { bytesBelow } from '../src/data-folder/disk-space.ts';
import { callOperator } from '../src/operator/socket/operator-client.ts';
import { freePort } from '../test/free-port.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import type { Measured } from './load.ts';
import { processSeconds, serviceThreads, type ThreadSeconds } from './processor-time.ts';

const startMsMax = 30_000;

export interface Target {
  readonly url: string;
  /** Processor time used so far, in seconds; null where the system doesn't tell. */
  cpuSeconds(): number | null;
  /** The same by thread or process. */
  threads?(): Promise<ThreadSeconds>;
  /** Waits for the work that is left behind answered requests. */
  settled?(): Promise<void>;
  stop(): Promise<void>;
  /** Ends it without warning. */
  kill(): Promise<void>;
}

/** A target that merchants can use. */
export interface PaymentsTarget extends Target {
  /** An API key in test mode of a new organization that meets no limit. */
  newKey(): Promise<string>;
  /** What it has stored takes on the disk. */
  bytes(): number | Promise<number>;
}

export interface ServiceTarget extends PaymentsTarget {
  readonly dataDir: string;
  readonly pid: number;
  /** From the start of the process until it was ready. */
  readonly startSeconds: number;
  /** An API key in test mode of an organization that meets no limit. */
  readonly key: string;
  threads(): Promise<ThreadSeconds>;
  /** One of its metrics, all shards together. */
  metric(name: string): Promise<number>;
  /** Waits until every delivery is made, and the checkpoint has all of it. */
  settled(): Promise<void>;
}

/** A run, with the processor time that the service took for each of its requests. */
interface CostedRun extends Measured {
  readonly cpuMicroseconds: number;
}

export async function costed(service: ServiceTarget, run: () => Promise<Measured>): Promise<CostedRun> {
  const before = service.cpuSeconds() ?? Number.NaN;
  const measured = await run();
  const seconds = (service.cpuSeconds() ?? Number.NaN) - before;
  return { ...measured, cpuMicroseconds: (seconds * 1e6) / measured.requests };
}

/** Each question costs the service some milliseconds, which count as the requests' own. */
const settledPollMs = 1_000;

/** These end with the bench, before their folders go. */
const children: ChildProcess[] = [];
process.prependListener('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts the service as in production, on an empty folder or on `dataDir`, its log (level `info`) going to /dev/null. */
export async function startService(
  env: Readonly<Record<string, string>> = {},
  dataDir = temporaryFolder(),
): Promise<ServiceTarget> {
  const port = await freePort();
  const keyFile = `${dataDir}.secrets-key`;
  if (!existsSync(keyFile)) writeFileSync(keyFile, newSecretsKey());
  const settings = {
    NODE_ENV: 'production',
    PAYMENTS_PORT: String(port),
    PAYMENTS_DATA_DIR: dataDir,
    PAYMENTS_SECRETS_KEY_FILE: keyFile,
    // All clients of a bench have one address.
    PAYMENTS_CONNECTIONS_PER_ADDRESS_MAX: '1000000',
  };
  const startedAt = performance.now();
  const target = await start('../src/main/serve.mjs', ['serve'], port, '/readyz', {
    ...settings,
    ...env,
  });
  const startSeconds = (performance.now() - startedAt) / 1_000;
  const newKey = () => unlimitedKey(dataDir);
  const valueIn = (metrics: string, name: string) => {
    const values = metrics.matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'gm'));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return {
    ...target,
    dataDir,
    startSeconds,
    key: await newKey(),
    newKey,
    threads: async () => serviceThreads(target.pid, await metricsOf(dataDir)),
    metric: async (name) => valueIn(await metricsOf(dataDir), name),
    async settled() {
      for (; ; await wait(settledPollMs)) {
        const metrics = await metricsOf(dataDir);
        const isWritten =
          valueIn(metrics, 'payments_checkpoint_sequence') >= valueIn(metrics, 'payments_log_sequence');
        if (isWritten && valueIn(metrics, 'payments_webhook_deliveries_waiting') === 0) return;
      }
    },
    bytes: () => bytesBelow(dataDir),
  };
}

async function metricsOf(dataDir: string): Promise<string> {
  const { text } = await callOperator(dataDir, 'metrics', {});
  return text;
}

export function startBareServer(): Promise<Target> {
  return startScript('bare-server.ts', [], '/2');
}

/** Starts a server of the bench on a free port, its first argument. */
export async function startScript(
  script: string,
  args: readonly string[],
  readyPath: string,
): Promise<Target & { pid: number }> {
  const port = await freePort();
  return start(script, [String(port), ...args], port, readyPath, {});
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts a process of the bench that listens to nobody. */
export function startWorker(
  entry: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const script = fileURLToPath(new URL(entry, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  const end = async (signal: NodeJS.Signals) => {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return { child, pid: child.pid!, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

async function start(
  entry: string,
  args: readonly string[],
  port: number,
  readyPath: string,
  env: Readonly<Record<string, string>>,
): Promise<Target & { pid: number }> {
  const { child, ...running } = startWorker(entry, args, env);
  const url = `http://127.0.0.1:${port}`;
  await ready(child, url + readyPath);
  return { ...running, url, cpuSeconds: () => processSeconds(running.pid) };
}

/** Waits until a server answers. */
export async function ready(child: ChildProcess, url: string): Promise<void> {
  for (const deadline = performance.now() + startMsMax; performance.now() < deadline; ) {
    if (child.exitCode !== null) break;
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await wait(20);
  }
  throw new Error(`${child.spawnargs.join(' ')} did not get ready`);
}

const noLimit = 100_000_000;

/** A test key of a new organization that meets no limit. */
export async function unlimitedKey(dataDir: string): Promise<string> {
  const made = await callOperator(dataDir, 'org.create', { name: 'Bench' });
  const side = { org: made.id, mode: 'test' } as const;
  for (const bucket of buckets) {
    const limit = { bucket, perMinute: noLimit, source: 'custom', untilMs: null } as const;
    await callOperator(dataDir, 'limits.set', { ...side, ...limit });
  }
  const daily = { ...side, requests: noLimit, paymentCreations: noLimit };
  await callOperator(dataDir, 'limits.daily', daily);
  return made.keys.test.secret;
}
