// TLS sessions that can be resumed, one for each origin. A resumed connection costs a third of a
// full handshake. The certificate was verified in the full handshake, so a session is used only for
// some time after it; the sessions that follow from resumed ones keep the time of that handshake.

interface TlsSession {
  readonly session: Buffer;
  /** When the certificate was verified, by the monotonic clock. */
  readonly verifiedAtMs: number;
}

/** A session takes two to four KiB. */
const sessionsMax = 4096;

export class TlsSessions {
  /** By origin, in the order in which they were stored. */
  readonly #sessions = new Map<string, TlsSession>();
  readonly #usedForMs: number;

  constructor(usedForMs: number) {
    this.#usedForMs = usedForMs;
  }

  get(origin: string, nowMs: number): TlsSession | undefined {
    const known = this.#sessions.get(origin);
    if (known === undefined || nowMs - known.verifiedAtMs < this.#usedForMs) return known;
    this.#sessions.delete(origin);
    return undefined;
  }

  put(origin: string, session: TlsSession): void {
    this.#sessions.delete(origin);
    this.#sessions.set(origin, session);
    if (this.#sessions.size <= sessionsMax) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      return;
    }
  }

  delete(origin: string): void {
    this.#sessions.delete(origin);
  }
}
