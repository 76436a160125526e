// The connections to receivers: opens them, keeps an idle one for its endpoint's next delivery, and closes it some
// seconds later, or when its endpoint is deleted, disabled or moved. What it keeps: an idle connection is taken only if
// its address is among those that the attempt has just checked; a new one is opened only when the endpoint has no idle
// one that may be taken, so an endpoint never has more connections than deliveries in flight at once; and all endpoints
// together have no more than `connectionsMax`.
//
// A certificate is verified in a full handshake. For `verifiedForMs` after it a connection is kept and its TLS session
// resumed, so a certificate that expires is noticed within that time.

import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { MonotonicClock } from '../core/clock.ts';
import type { CheckedUrl } from './address-guard.ts';
import { TlsSessions } from './tls-sessions.ts';

export type Target = Extract<CheckedUrl, { ok: true }>;

export interface ConnectionsOptions {
  readonly monotonic: MonotonicClock;
  /** Connections of all endpoints together, idle ones included. */
  readonly connectionsMax: number;
  /** How long a connection waits for a delivery, unless the receiver closes it earlier. */
  readonly idleMsMax?: number | undefined;
  /** A certificate authority to trust besides the public ones, PEM. */
  readonly extraCa?: string | undefined;
}

export interface Connection {
  readonly socket: Socket;
  readonly endpoint: string;
  readonly origin: string;
  /** When the certificate was verified, by the monotonic clock; for plain HTTP when the connection was opened. */
  verifiedAtMs: number;
  /** Ends the time for which it may stay idle. */
  idleTimer: NodeJS.Timeout | undefined;
  readonly close: () => void;
}

/** For how long after a full handshake its connection is kept and its session is resumed. */
export const verifiedForMs = 600_000;
const defaultIdleMsMax = 5_000;
/** When a name has several addresses: how long to wait for one before the next is tried. */
const addressTimeoutMs = 1000;

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #secureContext: SecureContext;
  readonly #sessions = new TlsSessions(verifiedForMs);
  /** By endpoint; the one that was used last comes last. */
  readonly #idle = new Map<string, Connection[]>();
  /** Of all endpoints; the one that is idle for longest comes first. */
  readonly #oldest = new Set<Connection>();
  #openCount = 0;

  constructor(options: ConnectionsOptions) {
    const { extraCa } = options;
    this.#options = options;
    this.#secureContext = createSecureContext(extraCa ? { ca: [...rootCertificates, extraCa] } : {});
  }

  /** An idle connection of the endpoint to an allowed address, or null when it has none; others are closed. */
  take(
    endpoint: string,
    origin: string,
    mayConnectTo: (address: string | undefined) => boolean,
  ): Connection | null {
    let connection = this.#idle.get(endpoint)?.at(-1);
    while (connection !== undefined) {
      this.#wake(connection);
      const { socket } = connection;
      if (connection.origin === origin && socket.writable && mayConnectTo(socket.remoteAddress))
        return connection;
      connection.close();
      connection = this.#idle.get(endpoint)?.at(-1);
    }
    return null;
  }

  /** Starts to connect to the checked addresses, in turn; the name serves only the certificate's check. */
  open(endpoint: string, target: Target, addresses: readonly string[]): Connection {
    if (this.#openCount >= this.#options.connectionsMax) {
      const [oldest] = this.#oldest;
      oldest?.close();
    }
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    const options = {
      host: target.host,
      port: target.port,
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressTimeoutMs,
      noDelay: true,
    };
    return target.url.protocol === 'http:'
      ? this.#add(endpoint, target, connectTcp(options))
      : this.#openTls(endpoint, target, options);
  }

  #openTls(endpoint: string, target: Target, options: object): Connection {
    const { origin } = target.url;
    const known = this.#sessions.get(origin, this.#options.monotonic());
    const socket = connectTls({
      ...options,
      servername: target.literal ? '' : target.host,
      session: known?.session,
      secureContext: this.#secureContext,
      // Its default is what NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });
    const connection = this.#add(endpoint, target, socket);
    let session: Buffer | undefined;
    // Whoever resumes a session checks no host name: one of a connection that isn't authorized is never remembered.
    const remember = () => {
      if (!socket.authorized || session === undefined) return;
      this.#sessions.put(origin, { session, verifiedAtMs: connection.verifiedAtMs });
    };
    socket.on('session', (given: Buffer) => {
      session = given;
      remember();
    });
    socket.once('secureConnect', () => {
      if (known !== undefined && socket.isSessionReused()) connection.verifiedAtMs = known.verifiedAtMs;
      remember();
    });
    socket.once('close', () => {
      if (!socket.authorized) this.#sessions.delete(origin);
    });
    return connection;
  }

  #add(endpoint: string, { url }: Target, socket: Socket | TLSSocket): Connection {
    const connection: Connection = {
      socket,
      endpoint,
      origin: url.origin,
      verifiedAtMs: this.#options.monotonic(),
      idleTimer: undefined,
      close: () => {
        this.#wake(connection);
        socket.destroy();
      },
    };
    this.#openCount++;
    // It is closed after an error in any case; whoever uses it listens for its own sake.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#wake(connection);
      this.#openCount--;
    });
    return connection;
  }

  /** Its last answer was read to its end: it stays for the endpoint's next delivery, for at most so long. */
  keep(connection: Connection, idleMs: number): void {
    const { socket, endpoint, verifiedAtMs, close } = connection;
    const { monotonic, idleMsMax = defaultIdleMsMax } = this.#options;
    const verifiedMs = verifiedAtMs + verifiedForMs - monotonic();
    if (verifiedMs <= 0) {
      close();
      return;
    }
    const idle = this.#idle.get(endpoint);
    if (idle === undefined) this.#idle.set(endpoint, [connection]);
    else idle.push(connection);
    this.#oldest.add(connection);
    connection.idleTimer = setTimeout(close, Math.min(idleMs, idleMsMax, verifiedMs));
    // Nothing may come before the next request: what did would be taken for its answer.
    socket.on('data', close);
    socket.on('end', close);
  }

  /** It is idle no longer. */
  #wake(connection: Connection): void {
    if (!this.#oldest.delete(connection)) return;
    const { socket, endpoint, idleTimer, close } = connection;
    clearTimeout(idleTimer);
    socket.off('data', close);
    socket.off('end', close);
    const idle = this.#idle.get(endpoint)!;
    idle.splice(idle.indexOf(connection), 1);
    if (idle.length === 0) this.#idle.delete(endpoint);
  }

  /** Closes the idle connections of an endpoint. */
  hangUp(endpoint: string): void {
    for (const connection of this.#idle.get(endpoint)?.slice() ?? []) connection.close();
  }

  /** Closes all idle connections. */
  close(): void {
    for (const connection of this.#oldest) connection.close();
  }

  /** For metrics: connections that wait for a delivery. */
  get idleCount(): number {
    return this.#oldest.size;
  }
}
