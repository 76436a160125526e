// One attempt of a delivery: sign, check the address, POST, read the answer. Bytes go only to an address that was checked
// in this attempt, on a new or an idle connection, and one deadline covers everything from the resolution of the name to
// the last byte of the answer.
//
// The receiver may close an idle connection just when a request is sent on it. A request that got no byte of an answer is
// then sent once more, on a new connection. Receivers recognize a delivery that arrives twice by the event's id.

import type { OutgoingHttpHeaders } from 'node:http';
import type { AttemptResult } from '../domain/record.ts';
import { checkWebhookUrl, isPublicAddress } from './address-guard.ts';
import { type Connection, Connections, type ConnectionsOptions, type Target } from './connections.ts';
import { type Exchanged, exchange, type Outcome, timedOut } from './exchange.ts';
import { ResolutionFailure, type Resolve } from './resolver.ts';
import { signatureHeader, signatureHeaderName } from './signature.ts';

export interface AttemptInput {
  /** The endpoint whose connections are used. */
  readonly endpoint: string;
  readonly url: string;
  /** The event as JSON text, which is signed and sent as it is. */
  readonly body: string;
  /** The signing secrets in force, newest first. */
  readonly secrets: readonly string[];
  /** Now, Unix seconds; a fraction is kept in the result's `at_ms` and cut off in the signature. */
  readonly nowSeconds: number;
}

/** An attempt whose signing secrets are still sealed. */
export interface SealedAttempt extends Omit<AttemptInput, 'secrets'> {
  readonly org: string;
  /** In force, newest first. */
  readonly sealed: readonly string[];
}

export interface AttemptOptions extends ConnectionsOptions {
  readonly resolve: Resolve;
  /** The time for the whole attempt. */
  readonly timeoutMs: number;
  /** Development only, see the address guard. */
  readonly allowHttp?: boolean | undefined;
  readonly allowPrivate?: boolean | undefined;
}

const userAgent = 'payments-service-webhooks/1';

/** Makes attempts, and keeps the connections to receivers between them. */
export class Attempts {
  readonly #options: AttemptOptions;
  readonly connections: Connections;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.connections = new Connections(options);
  }

  /**
   * Makes an attempt. It never rejects because of the network or the receiver: `failure` is null when the answer was 2xx,
   * else a short English reason. An answer that is too long is cut, and its status counts. An answer that is not finished
   * in time is a failure, whatever its status.
   */
  async make(input: AttemptInput): Promise<AttemptResult> {
    const startedAtMs = this.#options.monotonic();
    const outcome = await this.#deliver(input, startedAtMs);
    return {
      at_ms: Math.round(input.nowSeconds * 1000),
      duration_ms: Math.round(this.#options.monotonic() - startedAtMs),
      ...outcome,
    };
  }

  async #deliver(input: AttemptInput, startedAtMs: number): Promise<Outcome> {
    const { timeoutMs, allowPrivate } = this.#options;
    const target = checkWebhookUrl(input.url, this.#options);
    if (!target.ok) return failed(`address refused: ${target.reason}`);
    let addresses: readonly string[];
    try {
      addresses = await this.#addressesOf(target);
    } catch (error) {
      if (error instanceof ResolutionFailure) return failed(error.message);
      if (error instanceof Expired) return failed(timedOut(timeoutMs));
      throw error;
    }
    const mayConnectTo = (address = '') =>
      addresses.includes(address) && (allowPrivate === true || isPublicAddress(address));
    const headers = headersOf(target, input);

    const send = async (connection: Connection, isUp: boolean): Promise<Exchanged> => {
      const remainingMs = timeoutMs - (this.#options.monotonic() - startedAtMs);
      const { socket } = connection;
      const request = { socket, isUp, target, mayConnectTo, headers, body: input.body };
      const exchanged = await exchange({ ...request, timeoutMs, remainingMs });
      if (exchanged.idleMs > 0) this.connections.keep(connection, exchanged.idleMs);
      return exchanged;
    };

    if (this.#options.monotonic() - startedAtMs >= timeoutMs) return failed(timedOut(timeoutMs));
    const idle = this.connections.take(input.endpoint, target.url.origin, mayConnectTo);
    if (idle !== null) {
      const { outcome, unanswered } = await send(idle, true);
      if (!unanswered) return outcome;
    }
    return (await send(this.connections.open(input.endpoint, target, addresses), false)).outcome;
  }

  async #addressesOf({ literal, host }: Target): Promise<readonly string[]> {
    if (literal !== null) return [literal];
    return within(this.#options.timeoutMs, () => this.#options.resolve(host));
  }
}

function headersOf(target: Target, { body, secrets, nowSeconds }: AttemptInput): OutgoingHttpHeaders {
  return {
    Host: target.url.host,
    'User-Agent': userAgent,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    [signatureHeaderName]: signatureHeader({ secrets, timestampSeconds: Math.floor(nowSeconds), body }),
    Connection: 'keep-alive',
  };
}

function failed(failure: string): Outcome {
  return { status: null, failure, answer: '' };
}

class Expired extends Error {}

/** Settles as `work` does, or rejects with `Expired` after `timeoutMs`. */
async function within<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Expired()), timeoutMs);
  try {
    return await Promise.race([work(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
