// Resolution of a webhook host: from a name to the addresses that a delivery may connect to. Called once for each
// attempt and when an endpoint is created; nothing is remembered, so a name that starts to point elsewhere is noticed.
// What it keeps: it returns public addresses only, and a name with one answer that is not public is refused whole.
//
// It asks the DNS servers itself (c-ares). `dns.lookup` would occupy libuv's few threads, where some slow names hold
// up everybody, and would read the machine's own host file.

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
  /** No name server said anything about the host: asking again may give another result. */
  readonly unanswered: boolean;
  constructor(message: string, unanswered = false) {
    super(message);
    this.unanswered = unanswered;
  }
}

export function createResolver({ servers, timeoutMs, allowPrivate = false }: ResolverOptions): Resolve {
  // c-ares waits twice as long for its second try: both fit the whole time.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);

  return async function resolve(host) {
    if (allowPrivate && isLocalhost(host)) return ['127.0.0.1', '::1'];

    const answers = await settledWithin(timeoutMs, [resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw failureOf(answers);
    if (!allowPrivate && !addresses.every(isPublicAddress)) {
      // The answer itself isn't told: a merchant could read an inner network's names with it.
      throw new ResolutionFailure(`address not public: ${host}`);
    }
    return addresses;
  };
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
  return new ResolutionFailure(message, true);
}
