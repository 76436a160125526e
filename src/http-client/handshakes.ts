// The handshakes of TLS with receivers. The signatures of all certificates that a receiver sends
// are verified, also when nobody trusts any of them. A receiver can send so many, with such keys,
// that a handshake takes the thread half a second, and nothing can stop it before. So each account
// (an organization) has an allowance of bytes that come in handshakes which do not end with a
// trusted certificate. Once it is used up, and until some of it is back, handshakes are made only
// with those whose certificate was trusted the last time; others that are under way end.

import type { TLSSocket } from 'node:tls';
import type { MonotonicClock } from '../core/clock.ts';

/** Some forty handshakes with a certificate of an ordinary size. */
const allowanceBytes = 128 * 1024;
/** What comes back of it. */
const bytesPerSecond = 8 * 1024;
/**
 * Handshakes of an account at a time. A receiver may send its certificates in all of them at once,
 * and never end one, so that their bytes are counted too late.
 */
const underWayMax = 16;
/** Of those with one origin, so that one that is dead leaves places for the others. */
const withOriginMax = { trusted: 5, untrusted: 1 };
/** Of accounts that have used some, and of origins that are trusted. */
const keptMax = 4096;

interface Used {
  readonly bytes: number;
  readonly atMs: number;
}

export class Handshakes {
  readonly #monotonic: MonotonicClock;
  /** By account; with their origins. */
  readonly #underWay = new Map<string, Map<TLSSocket, string>>();
  /** By account, where somebody waits for one of its handshakes to end. */
  readonly #endings = new Map<string, PromiseWithResolvers<void>>();
  readonly #used = new Map<string, Used>();
  /** Origins whose certificate was trusted in their last handshake. */
  readonly #trusted = new Set<string>();

  constructor(monotonic: MonotonicClock) {
    this.#monotonic = monotonic;
  }

  /** Whether a handshake may begin. `later`: ask again when `oneEnds` resolves. */
  mayBegin(account: string, origin: string): 'now' | 'later' | 'refused' {
    const isTrusted = this.#trusted.has(origin);
    if (!isTrusted && this.#usedBytes(account) >= allowanceBytes) return 'refused';
    const underWay = [...(this.#underWay.get(account)?.values() ?? [])];
    const withOrigin = underWay.filter((each) => each === origin).length;
    const max = isTrusted ? withOriginMax.trusted : withOriginMax.untrusted;
    return underWay.length < underWayMax && withOrigin < max ? 'now' : 'later';
  }

  /** Resolves when a handshake of the account ends. */
  oneEnds(account: string): Promise<void> {
    const ending = this.#endings.get(account) ?? Promise.withResolvers<void>();
    this.#endings.set(account, ending);
    return ending.promise;
  }

  /** A handshake begins, as soon as the socket is connected. */
  begin(account: string, origin: string, socket: TLSSocket): void {
    const underWay = this.#underWay.get(account) ?? new Map();
    this.#underWay.set(account, underWay.set(socket, origin));
    let receivedBytes = () => 0;
    socket.once('connect', () => {
      receivedBytes = bytesBelow(socket);
    });
    const ended = () => {
      underWay.delete(socket);
      if (underWay.size === 0 && this.#underWay.get(account) === underWay) this.#underWay.delete(account);
      this.#endings.get(account)?.resolve();
      this.#endings.delete(account);
    };
    const failed = () => {
      if (!underWay.has(socket)) return;
      ended();
      this.#failed(account, origin, receivedBytes());
    };
    // Others that are ready in the same turn are handled before this one is closed.
    socket.once('error', failed).once('close', failed);
    socket.once('secureConnect', () => {
      ended();
      keep(this.#trusted, origin);
    });
  }

  #failed(account: string, origin: string, bytes: number): void {
    this.#trusted.delete(origin);
    if (bytes === 0) return;
    const used = { bytes: this.#usedBytes(account) + bytes, atMs: this.#monotonic() };
    if (this.#used.size >= keptMax) this.#used.clear();
    this.#used.set(account, used);
    if (used.bytes < allowanceBytes) return;
    // Many that were trusted may send long chains at once.
    const isFarBeyond = used.bytes >= 2 * allowanceBytes;
    for (const [socket, to] of this.#underWay.get(account) ?? [])
      if (isFarBeyond || !this.#trusted.has(to)) socket.destroy();
  }

  #usedBytes(account: string): number {
    const used = this.#used.get(account);
    if (used === undefined) return 0;
    const backBytes = ((this.#monotonic() - used.atMs) / 1000) * bytesPerSecond;
    if (backBytes >= used.bytes) this.#used.delete(account);
    return Math.max(0, used.bytes - backBytes);
  }
}

function keep(origins: Set<string>, origin: string): void {
  if (origins.size >= keptMax && !origins.has(origin)) origins.clear();
  origins.add(origin);
}

/**
 * What the connection below TLS has received. Node tells of a TLS socket only what was decrypted,
 * and drops the handle below it with the socket.
 */
function bytesBelow(socket: TLSSocket): () => number {
  const { _handle: handle } = socket as unknown as {
    readonly _handle: { readonly _parent: { readonly bytesRead: number } };
  };
  const { _parent: below } = handle;
  return () => below.bytesRead;
}
