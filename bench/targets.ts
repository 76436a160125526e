// What is measured: the service and the bare server, each a process of its own that its starter stops.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newSecretsKey } from '../src/journal/secret-box.ts';
import { callOperator } from '../src/operator/cli/operator-client.ts';
import { bytesBelow } from '../src/process/disk-space.ts';
import { processSeconds, serviceThreads, type ThreadSeconds } from './processor-time.ts';

const startMsMax = 30_000;

export interface Target {
  readonly url: string;
  /** Processor time used so far, in seconds; null where the system doesn't tell. */
  cpuSeconds(): number | null;
  stop(): Promise<void>;
  /** Ends it without warning. */
  kill(): Promise<void>;
}

export interface ServiceTarget extends Target {
  readonly dataDir: string;
  readonly pid: number;
  /** From the start of the process until it was ready. */
  readonly startSeconds: number;
  /** An API key in test mode of an organization that meets no limit. */
  readonly key: string;
  threads(): Promise<ThreadSeconds>;
  /** One of its metrics, all shards together. */
  metric(name: string): Promise<number>;
  /** What the data folder takes on the disk. */
  bytes(): number;
}

/** What is to end with the bench. */
const folders: string[] = [];
const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true });
    rmSync(`${folder}.secrets-key`, { force: true });
  }
});

/** An empty folder, removed when the bench ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  folders.push(folder);
  return folder;
}

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
  const target = await start('../src/process/payments.ts', ['serve'], port, '/readyz', {
    ...settings,
    ...env,
  });
  const startSeconds = (performance.now() - startedAt) / 1_000;
  return {
    ...target,
    dataDir,
    startSeconds,
    key: await unlimitedKey(dataDir),
    threads: async () => serviceThreads(target.pid, await metricsOf(dataDir)),
    async metric(name) {
      const values = (await metricsOf(dataDir)).matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'gm'));
      return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
    },
    bytes: () => bytesBelow(dataDir),
  };
}

async function metricsOf(dataDir: string): Promise<string> {
  const { text } = (await callOperator(dataDir, 'metrics', {})) as { text: string };
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

async function start(
  entry: string,
  args: readonly string[],
  port: number,
  readyPath: string,
  env: Readonly<Record<string, string>>,
): Promise<Target & { pid: number }> {
  const script = fileURLToPath(new URL(entry, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  await ready(child, url + readyPath);
  const end = async (signal: NodeJS.Signals) => {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    url,
    pid: child.pid!,
    cpuSeconds: () => processSeconds(child.pid!),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  for (const deadline = performance.now() + startMsMax; performance.now() < deadline; ) {
    if (child.exitCode !== null) break;
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await wait(20);
  }
  throw new Error(`${child.spawnargs.join(' ')} did not get ready`);
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

const noLimit = 100_000_000;

/** A test key of a new organization that meets no limit. */
export async function unlimitedKey(dataDir: string): Promise<string> {
  const made = (await callOperator(dataDir, 'org.create', { name: 'Bench' })) as {
    id: string;
    keys: { test: { secret: string } };
  };
  const limits = { org: made.id, mode: 'test', perMinute: noLimit, source: 'custom', untilMs: null };
  for (const bucket of ['all', 'writes', 'payment_creation', 'search']) {
    await callOperator(dataDir, 'limits.set', { ...limits, bucket });
  }
  const daily = { org: made.id, mode: 'test', requests: noLimit, paymentCreations: noLimit };
  await callOperator(dataDir, 'limits.daily', daily);
  return made.keys.test.secret;
}
