// A POST to an address that merchants or operators choose: check the address, connect, send, read
// the answer. Bytes go only to an address that was checked for this request, on a new or an idle
// connection, and one deadline covers everything from the resolution of the name to the last byte
// of the answer. Webhooks and the connectors of payment networks use it.
//
// The receiver may close an idle connection just when a request is sent on it. A request that got
// no byte of an answer is then sent once more, on a new connection. The receiver may have acted on
// it all the same, so a request that must not have its effect twice is never sent on an idle
// connection.

import { assert } from '../core/assert.ts';
import { type CheckedUrl, checkWebhookUrl, isPublicAddress } from './address-guard.ts';
import { type Connection, Connections, type ConnectionsOptions, type Target } from './connections.ts';
import { type Exchanged, exchange, type Outcome, timedOut } from './exchange.ts';
import { ResolutionFailure, type Resolve } from './resolver.ts';

export interface PostOptions extends ConnectionsOptions {
  readonly resolve: Resolve;
  /** Asked right before each request is written: whether it may still be sent. Always by default. */
  readonly mayWrite?: (() => boolean) | undefined;
  /** The time for the whole request. */
  readonly timeoutMs: number;
  /** Development only, see the address guard. */
  readonly allowHttp?: boolean | undefined;
  readonly allowPrivate?: boolean | undefined;
}

interface PostInput {
  /** Whose connections are used. */
  readonly endpoint: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Has one effect, however often it is sent. */
  readonly isIdempotent: boolean;
  /** How much of the answer is kept. */
  readonly answerBytesMax: number;
}

/** An address that was checked. */
interface Known {
  readonly target: CheckedUrl;
  readonly head: string;
}

const always = () => true;

/** They take up to some KiB each. */
const knownMax = 1024;

/** Sends requests, and keeps the connections between them. */
export class Posts {
  readonly #options: PostOptions;
  readonly connections: Connections;
  /** By the text of the address. */
  readonly #known = new Map<string, Known>();

  constructor(options: PostOptions) {
    this.#options = options;
    this.connections = new Connections(options);
  }

  /**
   * Never rejects because of the network or the receiver: `failure` is null when the answer was
   * 2xx, else a short reason.
   */
  async post(input: PostInput): Promise<Outcome> {
    const startedAtMs = this.#options.monotonic();
    const { timeoutMs, allowPrivate, mayWrite = always } = this.#options;
    const { target, head } = this.#knownOf(input.url);
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
    const request = requestOf(head, input);
    const { answerBytesMax } = input;

    const send = (connection: Connection, isUp: boolean): Promise<Exchanged> => {
      const remainingMs = timeoutMs - (this.#options.monotonic() - startedAtMs);
      const how = { connection, isUp, host: target.host, mayConnectTo, mayWrite, request, answerBytesMax };
      return exchange({ ...how, timeoutMs, remainingMs });
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

  #knownOf(url: string): Known {
    let known = this.#known.get(url);
    if (known === undefined) {
      const target = checkWebhookUrl(url, this.#options);
      known = { target, head: target.ok ? headOf(target) : '' };
      if (this.#known.size >= knownMax) this.#known.clear();
      this.#known.set(url, known);
    }
    return known;
  }

  async #addressesOf({ literal, host }: Target): Promise<readonly string[]> {
    if (literal !== null) return [literal];
    return within(this.#options.timeoutMs, () => this.#options.resolve(host));
  }
}

/** What all requests to an address begin with. */
function headOf({ url }: Target): string {
  const { host, pathname, search } = url;
  return [
    `POST ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    'Accept: */*',
    'Accept-Encoding: identity',
    'Connection: keep-alive',
    '',
  ].join('\r\n');
}

/** Visible ASCII and spaces: what can't end a header. */
const headerValue = /^[\t\x20-\x7e]*$/;

function requestOf(head: string, { body, headers }: PostInput): string {
  let text = head;
  for (const [name, value] of Object.entries(headers)) {
    assert(headerValue.test(value), `the header ${name} can be sent`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function failed(failure: string): Outcome {
  return { status: null, failure, answer: '' };
}

class Expired extends Error {}

/** Resolves or rejects as `work` does, or rejects with `Expired` after `timeoutMs`. */
async function within<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Expired()), timeoutMs);
  try {
    return await Promise.race([work(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
