// TLS sessions that may be resumed, one for each origin: a new connection to a receiver that was connected to lately
// costs a third of a full handshake. A resumed session stands for the certificate that was verified when it began, so
// it is used only for some time after that; a session that a resumed one gives on inherits that moment.

export interface TlsSession {
  readonly session: Buffer;
  /** When the certificate was verified, by the monotonic clock. */
  readonly verifiedAtMs: number;
}

/** A session takes two to four KiB. */
const sessionsMax = 4096;

export class TlsSessions {
  /** By origin; the one that was stored last comes last. */
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
