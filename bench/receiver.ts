// A merchant's server for webhooks as a process of its own, and what the service needs to deliver to it.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Figures } from './webhook-receiver.ts';

/** Settings with which the service delivers to this machine: production refuses them. */
export const deliveringLocally = {
  NODE_ENV: 'test',
  PAYMENTS_WEBHOOKS_ALLOW_PRIVATE: 'true',
  PAYMENTS_WEBHOOKS_ALLOW_HTTP: 'true',
};

export class Receiver {
  readonly #child: ChildProcess;
  readonly origin: string;

  private constructor(child: ChildProcess, origin: string) {
    this.#child = child;
    this.origin = origin;
  }

  /** `tls`: the files of the key and the certificate for HTTPS; none for plain HTTP. */
  static async start(tls: readonly string[] = []): Promise<Receiver> {
    const child = fork(new URL('./webhook-receiver.ts', import.meta.url), tls);
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Receiver(child, `${tls.length > 0 ? 'https' : 'http'}://localhost:${port}`);
  }

  /** What was received since the last call. */
  async figures(): Promise<Figures> {
    this.#child.send('figures');
    const [figures] = await once(this.#child, 'message');
    return figures as Figures;
  }

  stop(): void {
    this.#child.disconnect();
  }
}
