// Tells systemd, if it started the service with `Type=notify`, that the service is ready, that it
// stops, and, as often as the watchdog wants, that all of its threads answer. Node has no UNIX
// datagram sockets, so each message is sent by systemd's own helper, which needs `NotifyAccess=all`
// in the unit.

import { execFile } from 'node:child_process';
import type { Logger } from '../telemetry/logger.ts';

const helper = 'systemd-notify';
/** The helper waits until systemd has read the message. */
const helperMsMax = 10_000;

interface ServiceManagerOptions {
  readonly pid: number;
  readonly logger: Pick<Logger, 'warn'>;
  /** Sends a message. Tests replace it. */
  readonly tell?: (words: readonly string[]) => Promise<void>;
  /** Calls `run` repeatedly until the returned function is called. Tests replace it. */
  readonly every?: (ms: number, run: () => void) => () => void;
}

type Variables = Readonly<Record<string, string | undefined>>;

export class ServiceManager {
  readonly #options: ServiceManagerOptions;
  /** Whether systemd wants messages. */
  readonly #listens: boolean;
  /**
   * The watchdog restarts the service when it hears nothing for this time; null without a watchdog.
   */
  readonly #watchdogMs: number | null;
  /** The last message was sent. */
  #told: Promise<void> = Promise.resolve();

  constructor(env: Variables, options: ServiceManagerOptions) {
    this.#options = options;
    this.#listens = Boolean(env.NOTIFY_SOCKET);
    const ms = Number(env.WATCHDOG_USEC) / 1_000;
    const isMeant = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === options.pid;
    this.#watchdogMs = this.#listens && isMeant && ms > 0 ? ms : null;
  }

  /** The service takes requests; `status` is what `systemctl status` shows. */
  ready(status: string): void {
    void this.#tell('--ready', `--status=${status}`);
  }

  stopping(): void {
    void this.#tell('STOPPING=1');
  }

  /**
   * Repeatedly tells the watchdog that the service is alive, each time after `alive` has resolved.
   * When a thread hangs, it never resolves, and systemd restarts the service. Returns the function
   * that ends this.
   */
  watch(alive: () => Promise<unknown>): () => Promise<void> {
    if (this.#watchdogMs === null) return async () => {};
    let isAsking = false;
    const { every = everyInterval } = this.#options;
    const end = every(this.#watchdogMs / 3, async () => {
      if (isAsking) return;
      isAsking = true;
      try {
        await alive();
        await this.#tell('WATCHDOG=1');
      } finally {
        isAsking = false;
      }
    });
    return async () => end();
  }

  /**
   * Sends a message after those before it: each has a helper of its own, and one helper could
   * overtake another.
   */
  #tell(...words: string[]): Promise<void> {
    if (!this.#listens) return Promise.resolve();
    const { tell = runHelper, logger } = this.#options;
    this.#told = this.#told
      .then(() => tell(words))
      .catch((error: Error) =>
        logger.warn(
          { err: error },
          `systemd could not be told (${words.join(' ')}): make sure that ${helper} can be run and that the unit has NotifyAccess=all`,
        ),
      );
    return this.#told;
  }
}

function runHelper(words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(helper, words, { timeout: helperMsMax }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

function everyInterval(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => clearInterval(timer);
}
