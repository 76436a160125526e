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
import { within } from '../core/scheduler.ts';
import { type CheckedUrl, checkWebhookUrl, isPublicAddress } from './address-guard.ts';
import { type Connection, Connections, type ConnectionsOptions, type Target } from './connections.ts';
import { Exchange, type Exchanged, type Outcome, timedOut } from './exchange.ts';
import { type FindAddresses, ResolutionFailure } from './resolver.ts';

export interface PostOptions extends ConnectionsOptions {
  readonly resolve: FindAddresses;
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
  /** Who answers for what the receiver does; the endpoint alone when left out. */
  readonly account?: string;
  readonly url: string;
  /** See `headerLines`. */
  readonly headers: string;
  readonly body: string;
  /** Has one effect, however often it is sent. */
  readonly isIdempotent: boolean;
  /** How much of the answer is kept. */
  readonly answerBytesMax: number;
}

interface Post extends PostInput {
  /** Hears the outcome, whatever the network and the receiver do. */
  readonly done: (outcome: Outcome) => void;
  /** Hears of a fault in the service. */
  readonly broken: (error: unknown) => void;
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
  post(input: PostInput): Promise<Outcome> {
    return new Promise((done, broken) => this.send({ ...input, done, broken }));
  }

  /** The same for thousands a second: without a promise. */
  send(post: Post): void {
    const { target, head } = this.#knownOf(post.url);
    if (target.ok) new Sending(this.#options, this.connections, post, target, head).start();
    else post.done(failed(`address refused: ${target.reason}`));
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
}

/** One request on its way: over an idle connection or a new one, or over both in turn. */
class Sending {
  readonly #options: PostOptions;
  readonly #connections: Connections;
  readonly #post: Post;
  readonly #target: Target;
  readonly #request: Buffer;
  readonly #startedAtMs: number;
  /** Empty until they are found. */
  #addresses: readonly string[] = [];

  constructor(options: PostOptions, connections: Connections, post: Post, target: Target, head: string) {
    this.#options = options;
    this.#connections = connections;
    this.#post = post;
    this.#target = target;
    this.#request = requestOf(head, post);
    this.#startedAtMs = options.monotonic();
  }

  start(): void {
    const { host, literal } = this.#target;
    const found = literal === null ? this.#options.resolve(host) : [literal];
    if (found instanceof Promise) this.#inTime(found, (addresses) => this.#sendTo(addresses));
    else this.#sendTo(found);
  }

  /** Goes on with what comes of `work`, unless that takes longer than there is time left. */
  #inTime<T>(work: Promise<T>, goOn: (result: T) => void): void {
    within(this.#remainingMs, work)
      .then(
        (result) => (result === null ? this.#fail(timedOut(this.#options.timeoutMs)) : goOn(result)),
        (error) => this.#notFound(error),
      )
      .catch(this.#post.broken);
  }

  #notFound(error: unknown): void {
    if (error instanceof ResolutionFailure) this.#fail(error.message);
    else throw error;
  }

  #fail(failure: string): void {
    this.#post.done(failed(failure));
  }

  get #remainingMs(): number {
    const { monotonic, timeoutMs } = this.#options;
    return timeoutMs - (monotonic() - this.#startedAtMs);
  }

  #sendTo(addresses: readonly string[]): void {
    this.#addresses = addresses;
    if (this.#remainingMs <= 0) {
      this.#fail(timedOut(this.#options.timeoutMs));
      return;
    }
    const { endpoint, isIdempotent } = this.#post;
    const { origin } = this.#target.url;
    const idle = isIdempotent ? this.#connections.idleOf(endpoint, origin, this.#isFound) : null;
    if (idle === null) this.#connect();
    else this.#exchange(idle, true, this.#endedOnIdle);
  }

  #connect(): void {
    const { endpoint, account = endpoint } = this.#post;
    const turn = this.#connections.mayOpen(account, this.#target);
    if (turn === 'refused') {
      this.#fail('not connected: certificates that are not trusted came too often');
      return;
    }
    if (turn === 'later') {
      this.#inTime(this.#connections.handshakeEnds(account), () => this.#connect());
      return;
    }
    const connection = this.#connections.open(endpoint, account, this.#target, this.#addresses);
    this.#exchange(connection, false, this.#ended);
  }

  #exchange(connection: Connection, isUp: boolean, done: (exchanged: Exchanged) => void): void {
    const { timeoutMs, mayWrite = always } = this.#options;
    const { answerBytesMax, broken } = this.#post;
    const exchange = new Exchange({
      connection,
      isUp,
      host: this.#target.host,
      mayConnectTo: this.#mayConnectTo,
      mayWrite,
      request: this.#request,
      timeoutMs,
      answerBytesMax,
      done,
      broken,
    });
    exchange.start(this.#remainingMs);
  }

  readonly #endedOnIdle = (exchanged: Exchanged) => {
    if (exchanged.unanswered) this.#connect();
    else this.#ended(exchanged);
  };

  readonly #ended = ({ outcome }: Exchanged) => this.#post.done(outcome);

  readonly #isFound = (address = '') => this.#addresses.includes(address);

  readonly #mayConnectTo = (address = '') =>
    this.#isFound(address) && (this.#options.allowPrivate === true || isPublicAddress(address));
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

/** Headers as a request has them. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    assert(headerValue.test(value), `the header ${name} can be sent`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

function requestOf(head: string, { body, headers }: PostInput): Buffer {
  const bodyBytes = Buffer.byteLength(body);
  const text = `${head}${headers}Content-Length: ${bodyBytes}\r\n\r\n`;
  const bytes = Buffer.allocUnsafe(text.length + bodyBytes);
  bytes.write(text, 'latin1');
  bytes.write(body, text.length);
  return bytes;
}

function failed(failure: string): Outcome {
  return { status: null, failure, answer: '' };
}
