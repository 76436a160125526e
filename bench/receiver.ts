// A merchant's server for webhooks as a process of its own, and what the service needs to deliver to it.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { createAuthority } from '../test/webhooks/certificates.ts';
import type { Figures } from './webhook-receiver.ts';

const pollMs = 50;
const receivedMsMax = 300_000;

const authority = createAuthority();
const identity = authority.issue({ hosts: ['localhost'] });
const folder = temporaryFolder();
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

/** The authority that signed the certificates of receivers. */
export const caFile = file('ca.pem', authority.cert);
const tls = [file('key.pem', identity.key), file('cert.pem', identity.cert)];

/** Settings with which the service delivers to this machine, which production refuses. It logs as in production. */
export const deliveringLocally = {
  NODE_ENV: 'test',
  PAYMENTS_LOG_LEVEL: 'info',
  PAYMENTS_REQUEST_LOGS_KEPT_DAYS: '7',
  PAYMENTS_WEBHOOKS_ALLOW_PRIVATE: 'true',
  PAYMENTS_WEBHOOKS_ALLOW_HTTP: 'true',
  PAYMENTS_WEBHOOKS_CA_FILE: caFile,
};

export class Receiver {
  readonly #child: ChildProcess;
  readonly origin: string;

  private constructor(child: ChildProcess, origin: string) {
    this.#child = child;
    this.origin = origin;
  }

  /** A receiver that takes so long for each answer. */
  static async start(protocol: 'http' | 'https', answerMs: number): Promise<Receiver> {
    const args = [String(answerMs), ...(protocol === 'https' ? tls : [])];
    const child = fork(new URL('./webhook-receiver.ts', import.meta.url), args);
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Receiver(child, `${protocol}://localhost:${port}`);
  }

  /** What was received since the last call. */
  async figures(): Promise<Figures> {
    return (await this.#ask('figures')) as Figures;
  }

  /** Waits until so many deliveries were received since the last call of `figures`. */
  async untilReceived(count: number): Promise<void> {
    for (const deadline = performance.now() + receivedMsMax; ; await wait(pollMs)) {
      const received = (await this.#ask('received')) as number;
      if (received >= count) return;
      if (performance.now() > deadline) throw new Error(`${received} of ${count} deliveries were received`);
    }
  }

  async #ask(wanted: 'figures' | 'received'): Promise<unknown> {
    this.#child.send(wanted);
    return (await once(this.#child, 'message'))[0];
  }

  stop(): void {
    this.#child.disconnect();
  }
}
