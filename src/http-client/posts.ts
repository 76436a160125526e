// A POST to an address that merchants or operators choose: check the address, connect, send, read
// the answer. Bytes go only to an address that was checked for this request, on a new or an idle
// connection, and one deadline covers everything from the resolution of the name to the last byte
// of the answer. Webhooks and the connectors of payment networks use it.
//
// The receiver may close an idle connection just when a request is sent on it. A request that got
// no byte of an answer is then sent once more, on a new connection. The receiver may have acted on
// it all the same, so a request that must not have its effect twice is never sent on an idle
// connection.

import type { OutgoingHttpHeaders } from 'node:http';
import { checkWebhookUrl, isPublicAddress } from './address-guard.ts';
import { type Connection, Connections, type ConnectionsOptions, type Target } from './connections.ts';
import { type Exchanged, exchange, type Outcome, timedOut } from './exchange.ts';
import { ResolutionFailure, type Resolve } from './resolver.ts';

export interface PostOptions extends ConnectionsOptions {
  readonly resolve: Resolve;
  /** The time for the whole request. */
  readonly timeoutMs: number;
  /** Development only, see the address guard. */
  readonly allowHttp?: boolean | undefined;
  readonly allowPrivate?: boolean | undefined;
}

export interface PostInput {
  /** Whose connections are used. */
  readonly endpoint: string;
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  /** Has one effect, however often it is sent. */
  readonly isIdempotent: boolean;
  /** How much of the answer is kept. */
  readonly answerBytesMax: number;
}

/** Sends requests, and keeps the connections between them. */
export class Posts {
  readonly #options: PostOptions;
  readonly connections: Connections;

  constructor(options: PostOptions) {
    this.#options = options;
    this.connections = new Connections(options);
  }

  /** Never rejects because of the network or the receiver: `failure` is null when the answer was 2xx, else a short reason. */
  async post(input: PostInput): Promise<Outcome> {
    const startedAtMs = this.#options.monotonic();
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
    const { body, answerBytesMax } = input;

    const send = async (connection: Connection, isUp: boolean): Promise<Exchanged> => {
      const remainingMs = timeoutMs - (this.#options.monotonic() - startedAtMs);
      const { socket } = connection;
      const request = { socket, isUp, target, mayConnectTo, headers, body, answerBytesMax };
      const exchanged = await exchange({ ...request, timeoutMs, remainingMs });
      if (exchanged.idleMs > 0) this.connections.keep(connection, exchanged.idleMs);
      return exchanged;
    };

    if (this.#options.monotonic() - startedAtMs >= timeoutMs) return failed(timedOut(timeoutMs));
    const idle = input.isIdempotent
      ? this.connections.take(input.endpoint, target.url.origin, mayConnectTo)
      : null;
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

function headersOf(target: Target, { body, headers }: PostInput): OutgoingHttpHeaders {
  return {
    Host: target.url.host,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'keep-alive',
    ...headers,
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
