// Runs the service for tests that use its socket: a process of its own on a temporary data folder. A test stops the service
// that it starts.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exchange } from '../src/operator/socket/operator-client.ts';
import { assertDescribed } from './answers.ts';
import { poll } from './poll.ts';
import { temporaryFolder } from './temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = join(root, 'src', 'main', 'serve.mjs');
const startMsMax = 60_000;
const linesShownMax = 100;

/**
 * An option of Node by which the youngest part of a heap has 16 MiB from the beginning. One that has to grow collects garbage often,
 * which takes a sixteenth of the processor time of a service that starts, answers sixty requests and stops.
 */
export const largeYoungHeap = '--min-semi-space-size=16';

/**
 * A test's configuration has no request logs, whose thread is a tenth of a start: for what is about them, or about all threads
 * of a process.
 */
export const withRequestLogs = { PAYMENTS_REQUEST_LOGS_KEPT_DAYS: '7' };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  /** An object is sent as JSON; text as it is. */
  readonly body?: unknown;
  readonly key?: string | null;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Service {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Keys of the organization `Sandbox`, when this start created it. */
  readonly keys: { readonly secret: string; readonly publishable: string } | null;
  /** Everything that was written to standard output and error so far. */
  output(): string;
  /** Waits until `find` finds something: in the output, or wherever it looks. */
  until<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T>;
  /** Sends a request, with the Sandbox's secret key unless told otherwise (null: none). */
  call(path: string, call?: Call): Promise<Answer>;
  /** Runs an operators' command over the socket. */
  operate<T>(command: string, params: object): Promise<T>;
  /** Its metrics, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Tells it to stop and waits; resolves to the exit code. */
  stop(): Promise<number | null>;
  /** Ends it without warning. */
  kill(): Promise<void>;
}

/**
 * The services that run, each with what it has written. They end with the test process, before their folders go. What those
 * wrote last that a failed test has left is shown: it may say why.
 */
const running = new Map<ChildProcess, () => string>();
process.prependListener('exit', (code) => {
  for (const [child, output] of running) {
    child.kill('SIGKILL');
    if (code !== 0) {
      const lines = output().trimEnd().split('\n').slice(-linesShownMax);
      console.error(`A service that a failed test has left wrote last:\n${lines.join('\n')}`);
    }
  }
});

/** A copy of the data folder of a stopped service, to be spoilt, with the key that lies beside it. */
export function copyOfDataFolder(folder: string): string {
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  cpSync(`${folder}.secrets-key`, `${copy}.secrets-key`);
  return copy;
}

/** Starts the service and waits until it listens. `env` is added to a test's configuration. */
export async function startService(
  options: {
    readonly dataDir?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** The script that runs the command, when it is not the service's own. */
    readonly launcher?: string;
    /** Options of the command `serve`. */
    readonly args?: readonly string[];
    /** How many files it may have open. */
    readonly openFiles?: number;
    /** A command that the service is an argument of, and that becomes it or passes signals on. */
    readonly under?: readonly string[];
    /** How long it may take; a node that stands by serves much later. */
    readonly startMsMax?: number;
    /** Gets the process before it listens. */
    readonly onSpawn?: (child: ChildProcess) => void;
  } = {},
): Promise<Service> {
  const dataDir = options.dataDir ?? temporaryFolder();
  const { openFiles, args = [], under = [], launcher = entry } = options;
  const command = [...under, process.execPath, largeYoungHeap, launcher, 'serve', ...args];
  if (openFiles !== undefined) command.unshift('sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`);
  const child = spawn(command[0]!, command.slice(1), {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: 'test',
      PAYMENTS_DATA_DIR: dataDir,
      ...options.env,
      // It loads what is prepared for the tests, whatever else it gets.
      NODE_OPTIONS: [process.env.NODE_OPTIONS, options.env?.NODE_OPTIONS].filter(Boolean).join(' '),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  options.onSpawn?.(child);
  let output = '';
  running.set(child, () => output);
  const listening = Promise.withResolvers<string>();
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
    const url = /Listening on (\S+)/.exec(output)?.[1];
    // The keys and the line to try come with it, in one write.
    if (url !== undefined && output.endsWith('\n')) listening.resolve(url);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exited = once(child, 'exit').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  void exited.then((code) => listening.reject(new Error(`the service ended with code ${code}:\n${output}`)));
  const timer = setTimeout(
    () => listening.reject(new Error(`the service did not start in time:\n${output}`)),
    options.startMsMax ?? startMsMax,
  );
  const url = await listening.promise.finally(() => clearTimeout(timer));
  // A test that fails must end although it has not stopped its service. Whoever ends it already waits for its exit.
  if (!child.killed) {
    child.unref();
    for (const output of [child.stdout, child.stderr]) (output as Socket).unref();
  }
  const secret = /svc_sk_test_\w+/.exec(output)?.[0];
  const publishable = /svc_pk_test_\w+/.exec(output)?.[0];
  const keys = secret !== undefined && publishable !== undefined ? { secret, publishable } : null;
  return {
    url,
    dataDir,
    process: child,
    keys,
    output: () => output,
    until: (find) => poll(find, () => output),
    call: (path, call = {}) => send(url, path, { key: keys?.secret ?? null, ...call }),
    operate: (command, params) => exchange(dataDir, command, params) as Promise<never>,
    metrics: async () => ((await exchange(dataDir, 'metrics', {})) as { text: string }).text,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.ref();
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Sends one request to a service. An answer of the API must be as its description says. */
export async function send(url: string, path: string, call: Call): Promise<Answer> {
  const { body, key, idempotencyKey } = call;
  const headers: Record<string, string> = {};
  if (key) headers.Authorization = `Bearer ${key}`;
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const method = call.method ?? (body === undefined ? 'GET' : 'POST');
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...call.headers },
    redirect: 'manual',
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (path.startsWith('/v1/')) {
    assertDescribed(method, path, { status: response.status, headers: response.headers, text });
  }
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // Not every answer is JSON.
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** The value of a sample of the metrics, such as `payments_shard_up{shard="0"}`. */
export function sampleIn(metrics: string, sample: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith(`${sample} `));
  assert(line !== undefined, `${sample} in\n${metrics}`);
  return Number(line.slice(sample.length));
}

/** It could not be answered now: the client is to try again. */
export function assertUnavailable({ status, headers, json }: Answer): void {
  assert.equal(status, 503);
  assert.equal(json.error.code, 'api_error');
  assert.match(headers.get('retry-after') ?? '', /^\d+$/);
}

const noLimit = 100_000_000;

/** Sets limits that no test reaches, at the same time: one after the other they take twice as much of a processor. */
export async function raiseLimits(service: Service, org: string): Promise<void> {
  const limits = ['test', 'live'].flatMap((mode) =>
    ['all', 'writes', 'payment_creation', 'search'].map((bucket) =>
      service.operate('limits.set', {
        org,
        mode,
        bucket,
        perMinute: noLimit,
        source: 'custom',
        untilMs: null,
      }),
    ),
  );
  const daily = { org, mode: 'test', requests: noLimit, paymentCreations: noLimit };
  await Promise.all([...limits, service.operate('limits.daily', daily)]);
}

interface Organization {
  readonly id: string;
  /** A test secret key. */
  readonly key: string;
}

/** An organization with the limits of all. */
export async function limitedOrganization(service: Service, name = 'Shop'): Promise<Organization> {
  const { id, keys } = await service.operate<{ id: string; keys: { test: { secret: string } } }>(
    'org.create',
    { name },
  );
  return { id, key: keys.test.secret };
}

/** An organization with raised limits. */
export async function newOrganization(service: Service, name?: string): Promise<Organization> {
  const organization = await limitedOrganization(service, name);
  await raiseLimits(service, organization.id);
  return organization;
}

/** The text of a new key. */
export async function newKey(service: Service, org: string, mode: string, kind = 'secret'): Promise<string> {
  const { key } = await service.operate<{ key: string }>('key.create', { org, mode, kind });
  return key;
}

/** Activates an organization, and returns a secret key of its live mode. */
export async function liveKey(service: Service, org: string): Promise<string> {
  await service.operate('org.activate', { org });
  return newKey(service, org, 'live');
}
