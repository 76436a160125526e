// The worker that makes delivery attempts off the thread of the endpoint actors. Loaded by a Piscina pool; a task is
// one attempt, plain data both ways, so that each slot is free as soon as its own attempt is over.
//
// The work is waiting, not computing: run it with `concurrentTasksPerWorker` in the hundreds and with
// `atomics: 'disabled'`, because Piscina's default puts an idle-looking worker to sleep with its sockets unread.
// The pool's `workerData` is an `AttemptWorkerOptions`.

import { workerData } from 'node:worker_threads';
import type { AttemptResult } from '../domain/record.ts';
import { SecretBox } from '../journal/secret-box.ts';
import { type AttemptInput, createAttempt } from './attempt.ts';
import { createResolver } from './resolver.ts';

/** An attempt whose signing secrets are sealed still: this worker opens them, and nobody before. */
export interface SealedAttempt extends Omit<AttemptInput, 'secrets'> {
  readonly endpoint: string;
  readonly org: string;
  /** In force, newest first. */
  readonly sealed: readonly string[];
}

export interface AttemptWorkerOptions {
  /** What the signing secrets are sealed with. */
  readonly secretsKeys: readonly string[];
  /** The time for a whole attempt. */
  readonly timeoutMs: number;
  /** DNS servers as `ip` or `ip:port`; the system's when left out. */
  readonly dnsServers?: readonly string[] | undefined;
  readonly allowHttp?: boolean | undefined;
  readonly allowPrivate?: boolean | undefined;
  /** A certificate authority to trust besides the public ones, PEM. */
  readonly extraCa?: string | undefined;
}

const { dnsServers, secretsKeys, ...options } = workerData as AttemptWorkerOptions;
const box = new SecretBox(secretsKeys);
const { timeoutMs, allowPrivate } = options;
const attempt = createAttempt({
  ...options,
  // Half of the time, so that a server that answers for IPv4 alone still leaves some for the delivery.
  resolve: createResolver({ servers: dnsServers, timeoutMs: timeoutMs / 2, allowPrivate }),
});

/** Makes one attempt: every network failure is in the result. Rejects when a secret can't be opened. */
export default async function run({
  endpoint,
  org,
  sealed,
  ...input
}: SealedAttempt): Promise<AttemptResult> {
  const owner = { id: endpoint, org };
  return attempt({ ...input, secrets: sealed.map((each) => box.open(each, owner)) });
}
