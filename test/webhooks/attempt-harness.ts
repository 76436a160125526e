// What the tests of delivery attempts share: a receiver for the length of a test, and attempts that are let through to
// loopback and that prove, each, that their socket was closed before they settled.

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { AttemptResult } from '../../src/domain/record.ts';
import { type AttemptOptions, createAttempt } from '../../src/webhooks/attempt.ts';
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

/** A function that makes attempts, one at a time. Every name is 127.0.0.1 unless `options` say otherwise. */
export function attempts(options: Partial<AttemptOptions> = {}): (url: string) => Promise<AttemptResult> {
  const attempt = createAttempt({
    resolve: async () => ['127.0.0.1'],
    allowHttp: true,
    allowPrivate: true,
    extraCa: authority.cert,
    ...options,
  });
  return async (url) => {
    const result = await attempt({ url, body, secrets: [secret], nowSeconds: Date.now() / 1000 });
    assert.ok(
      clientSockets.every(({ closed }) => closed),
      'settled before its socket was closed',
    );
    return result;
  };
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
