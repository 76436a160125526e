// Resolution of a webhook host: from a name to the addresses that a delivery may connect to. Called once for each
// attempt and when an endpoint is created; nothing is remembered, so a name that starts to point elsewhere is noticed.
// What it keeps: it returns public addresses only, and a name with one answer that is not public is refused whole.
//
// It asks the DNS servers itself (c-ares). `dns.lookup` would occupy libuv's few threads, where some slow names hold
// up everybody, and would read the machine's own host file. No c-ares channel is used twice: one that has answers behind
// it waits the shorter for a server the faster that server has answered others, drops what comes later than that, and
// takes a server's failure for an answer. The first questions for IPv4 and IPv6 leave together, so they share one: a
// channel is most of what a resolution costs.

import { Resolver } from 'node:dns/promises';
import { isLocalhost, isPublicAddress } from './address-guard.ts';

export interface ResolverOptions {
  /** DNS servers as `ip` or `ip:port`; the system's when left out. */
  readonly servers?: readonly string[] | undefined;
  /** The time for a whole resolution. */
  readonly timeoutMs: number;
  /** Development only: accept addresses that are not public, and answer `localhost` with the loopback addresses. */
  readonly allowPrivate?: boolean | undefined;
}

/** The addresses of a host, IPv4 first, at least one. Rejects with `ResolutionFailure`. */
export type Resolve = (host: string) => Promise<string[]>;

/** The host has no address that may be used; the message is a short English reason. */
export class ResolutionFailure extends Error {
  override name = 'ResolutionFailure';
  /** The host has addresses and must not be used; otherwise its name did not resolve just now, and may do so later. */
  readonly notPublic: boolean;
  constructor(message: string, notPublic = false) {
    super(message);
    this.notPublic = notPublic;
  }
}

type Family = 'resolve4' | 'resolve6';

export function createResolver(options: ResolverOptions): Resolve {
  const { timeoutMs, allowPrivate = false } = options;

  return async function resolve(host) {
    if (allowPrivate && isLocalhost(host)) return ['127.0.0.1', '::1'];

    const over = new AbortController();
    const openChannel = () => {
      const channel = new Resolver({ timeout: timeoutMs, tries: 1 });
      over.signal.addEventListener('abort', () => channel.cancel());
      return channel;
    };
    const first = openChannel();
    const servers = options.servers ?? first.getServers();
    first.setServers(servers.slice(0, 1));
    const ask = (family: Family) => {
      const others = [...servers.slice(1), ...servers].map((server) => () => {
        const channel = openChannel();
        channel.setServers([server]);
        return channel[family](host);
      });
      return firstAnswer([() => first[family](host), ...others], timeoutMs, over.signal);
    };
    const answers = await settledWithin(timeoutMs, [ask('resolve4'), ask('resolve6')]);
    over.abort();
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw failureOf(answers);
    if (!allowPrivate && !addresses.every(isPublicAddress)) {
      // The answer itself isn't told: a merchant could read an inner network's names with it.
      throw new ResolutionFailure(`address not public: ${host}`, true);
    }
    return addresses;
  };
}

/**
 * Asks one question after the other until it is over, the next as soon as one fails or is not answered for its share of
 * the time. The first answer counts, also a late one, and "there is no such name" is one; without any, the last failure.
 */
function firstAnswer(
  questions: readonly (() => Promise<string[]>)[],
  timeoutMs: number,
  over: AbortSignal,
): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const left = questions.values();
  let open = 0;
  let timer: NodeJS.Timeout;
  const askNext = () => {
    clearTimeout(timer);
    const { value: question } = left.next();
    if (question === undefined || over.aborted) return;
    open++;
    timer = setTimeout(askNext, timeoutMs / (questions.length + 1));
    question().then(resolve, (error: NodeJS.ErrnoException) => {
      open--;
      if (absent.has(error.code!)) return reject(error);
      askNext();
      if (open === 0) reject(error);
    });
  };
  askNext();
  return promise.finally(() => clearTimeout(timer));
}

/** Settles all queries; one that takes longer counts as timed out, and what the other one answered is used. */
async function settledWithin(
  timeoutMs: number,
  queries: readonly Promise<string[]>[],
): Promise<PromiseSettledResult<string[]>[]> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject({ code: 'ETIMEOUT' }), timeoutMs);
  const answers = await Promise.allSettled(queries.map((query) => Promise.race([query, expired])));
  clearTimeout(timer);
  return answers;
}

/** c-ares' words for "there is no such name" and "the name has no such addresses". */
const absent = new Set(['ENOTFOUND', 'ENODATA']);

function failureOf(answers: readonly PromiseSettledResult<string[]>[]): ResolutionFailure {
  const codes = answers.map((answer) => (answer.status === 'rejected' ? answer.reason?.code : 'ENODATA'));
  const code = codes.find((candidate) => !absent.has(candidate));
  if (code === undefined) return new ResolutionFailure('host not found');
  const message = code === 'ETIMEOUT' ? 'host lookup timed out' : `host lookup failed (${code})`;
  return new ResolutionFailure(message);
}
