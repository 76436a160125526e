// Resolves the name of a webhook host to the addresses that a delivery may connect to. Only
// public addresses are returned, and a name with one address that is not public is refused. Of many
// addresses only the first are: whoever runs a name's server can give it thousands, which would all
// be kept, and tried one after the other.
//
// The DNS servers are asked directly, by c-ares. `dns.lookup` would occupy the few threads of
// libuv, where slow names delay others, and would read the machine's host file. No c-ares channel
// is used for a second resolution: after fast answers of a server it waits only a short time for
// the next one, drops later answers, and takes a server's failure for an answer. The first queries
// for IPv4 and IPv6 share a channel, because a channel is most of the cost of a resolution.

import { Resolver } from 'node:dns/promises';
import type { MonotonicClock } from '../core/clock.ts';
import { isLocalhost, isPublicAddress } from './address-guard.ts';

export interface ResolverOptions {
  /** DNS servers as `ip` or `ip:port`; the system's when left out. */
  readonly servers?: readonly string[] | undefined;
  /** The time for a whole resolution. */
  readonly timeoutMs: number;
  /**
   * Development only: accept addresses that are not public, and answer `localhost` with the
   * loopback addresses.
   */
  readonly allowPrivate?: boolean | undefined;
}

/** One to sixteen addresses of a host, IPv4 first. Rejects with `ResolutionFailure`. */
export type Resolve = (host: string) => Promise<string[]>;
/** The same, at once where the addresses are known. */
export type FindAddresses = (host: string) => readonly string[] | Promise<readonly string[]>;

/** The host has no address that may be used; the message is a short English reason. */
export class ResolutionFailure extends Error {
  override name = 'ResolutionFailure';
  /**
   * The host has addresses that must not be used. Otherwise its name did not resolve now, and may
   * do so later.
   */
  readonly notPublic: boolean;
  constructor(message: string, notPublic = false) {
    super(message);
    this.notPublic = notPublic;
  }
}

type Family = 'resolve4' | 'resolve6';

/** More than names have. */
const addressesMax = 16;

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
    const answers = await answeredWithin(timeoutMs, [ask('resolve4'), ask('resolve6')]);
    over.abort();
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw failureOf(answers);
    if (!allowPrivate && !addresses.every(isPublicAddress)) {
      // The message does not contain the addresses, so that a merchant can't find out names of an
      // internal network.
      throw new ResolutionFailure(`address not public: ${host}`, true);
    }
    return addresses.slice(0, addressesMax);
  };
}

/**
 * Sends one query after the other, the next one as soon as a query fails or has no answer within
 * its share of the time. The first answer counts, also a late one; "no such name" is an answer.
 * Without any answer the last failure counts.
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
      if (absent.has(error.code ?? '')) return reject(error);
      askNext();
      if (open === 0) reject(error);
    });
  };
  askNext();
  return promise.finally(() => clearTimeout(timer));
}

/**
 * Waits for all queries. One that takes too long counts as timed out, and the answer of the other
 * one is used.
 */
async function answeredWithin(
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

/** An entry takes up to a KiB. */
const namesMax = 4096;

interface Asked {
  readonly atMs: number;
  /** A promise until it is resolved. */
  addresses: string[] | Promise<string[]>;
}

/**
 * Resolves a name again `forMs` after it was asked for: a resolution costs three times what the
 * rest of a delivery does. Those who ask meanwhile have the same answer. That is for as long as a
 * connection may stay idle, so a name that changes its addresses is noticed as soon with it as
 * without. A failure is not remembered.
 */
export function rememberAddresses(resolve: Resolve, forMs: number, monotonic: MonotonicClock): FindAddresses {
  const known = new Map<string, Asked>();
  const ask = (host: string, atMs: number): Asked => {
    const addresses = resolve(host);
    const asked: Asked = { atMs, addresses };
    addresses.then(
      (found) => {
        asked.addresses = found;
      },
      () => {
        if (known.get(host) === asked) known.delete(host);
      },
    );
    if (known.size >= namesMax) known.clear();
    known.set(host, asked);
    return asked;
  };
  return (host) => {
    const nowMs = monotonic();
    const asked = known.get(host);
    const isFresh = asked !== undefined && nowMs - asked.atMs < forMs;
    return (isFresh ? asked : ask(host, nowMs)).addresses;
  };
}
