// Shared by the tests of delivery attempts: a receiver for the duration of a test, and attempts that may connect to loopback
// and check that their connection was closed or kept before they settled.

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { AttemptResult } from '../../src/domain/record.ts';
import type { Connections } from '../../src/http-client/connections.ts';
import type { PostOptions } from '../../src/http-client/posts.ts';
import { Attempts } from '../../src/webhooks/attempt.ts';
import { createAuthority } from './certificates.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts';

export const secret = 'svc_whsec_0123456789ABCDEFGHIJabcdefghij';
export const body = '{"id":"evt_1","object":"event","data":{"object":{"description":"خلاص — café"}}}';

/** The authority that attempts made here trust. */
export const authority = createAuthority();

/** Every plain TCP socket that this process opened as a client. */
export const clientSockets: Socket[] = [];
subscribe('net.client.socket', (message) => {
  clientSockets.push((message as { socket: Socket }).socket);
});

const madeHere: Attempts[] = [];

/** Every name leads to 127.0.0.1. */
export const postOptions: PostOptions = {
  monotonic: () => Math.floor(performance.now()),
  connectionsMax: 100,
  idleMsMax: 120_000,
  timeoutMs: 10_000,
  resolve: async () => ['127.0.0.1'],
  allowHttp: true,
  allowPrivate: true,
  extraCa: authority.cert,
};

/** Ways of making attempts. */
export function makeAttempts(options: Partial<PostOptions> = {}): Attempts {
  const attempts = new Attempts({ ...postOptions, ...options });
  madeHere.push(attempts);
  return attempts;
}

export interface Deliver {
  (url: string, endpoint?: string): Promise<AttemptResult>;
  readonly connections: Connections;
}

/** A function that makes attempts, one at a time. */
export function attempts(options: Partial<PostOptions> = {}): Deliver {
  const attempts = makeAttempts(options);
  const deliver = async (url: string, endpoint = 'we_1') => {
    const nowSeconds = Date.now() / 1000;
    const result = await attempts.make({ org: 'org_1', endpoint, url, body, secrets: [secret], nowSeconds });
    const open = clientSockets.filter(({ closed }) => !closed).length;
    const kept = madeHere.reduce((sum, { connections }) => sum + connections.idleCount, 0);
    assert.ok(open <= kept, 'it settled with a connection that is neither closed nor kept');
    return result;
  };
  return Object.assign(deliver, { connections: attempts.connections });
}

/** Runs `check` against a receiver that is closed afterwards. */
export async function withReceiver(
  options: ReceiverOptions,
  check: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = await startReceiver(options);
  try {
    await check(receiver);
  } finally {
    await receiver.close();
  }
}
