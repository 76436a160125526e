// The connections to receivers. An idle connection is kept for its endpoint's next delivery, and
// closed some seconds later, or when its endpoint is deleted, disabled or moved. It is used again
// only if its address is among those that the attempt has just checked. A new one is opened only
// when the endpoint has no idle one that may be used, so an endpoint never has more connections
// than deliveries in flight. From `connectionsMax` of all endpoints on, a new one closes the oldest
// idle one; how many are in use, who sends bounds.
//
// A certificate is verified in a full handshake. For `verifiedForMs` after it a connection is used
// and its TLS session is resumed, so an expired certificate is noticed within that time.

import { constants } from 'node:crypto';
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  DEFAULT_CIPHERS,
  rootCertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls';
import { defined } from '../core/assert.ts';
import type { MonotonicClock } from '../core/clock.ts';
import type { CheckedUrl } from './address-guard.ts';
import { Alarm } from './alarm.ts';
import { Handshakes } from './handshakes.ts';
import { TlsSessions } from './tls-sessions.ts';

export type Target = Extract<CheckedUrl, { ok: true }>;

export interface ConnectionsOptions {
  readonly monotonic: MonotonicClock;
  /** Connections of all endpoints together, idle ones included, as long as no more are in use. */
  readonly connectionsMax: number;
  /** How long a connection waits for a delivery, unless the receiver closes it earlier. */
  readonly idleMsMax?: number | undefined;
  /** A certificate authority to trust besides the public ones, PEM. */
  readonly extraCa?: string | undefined;
}

/** What uses a connection now. */
export interface ConnectionUser {
  /** The connection is up, and its certificate verified. */
  connected(): void;
  /** The bytes are valid during the call only. */
  received(bytes: Buffer): void;
  /** The receiver sends no more. */
  ended(): void;
  failed(error: NodeJS.ErrnoException): void;
  closed(): void;
  /** The time for which it was given the connection is over. */
  late(): void;
  /** One of these has thrown, which is a fault in the service. The connection is closed. */
  broken(error: unknown): void;
}

/** For how long after a full handshake its connection is used and its session is resumed. */
export const verifiedForMs = 600_000;
/** How long a connection stays idle at most. */
export const idleMsMax = 5_000;
/**
 * Without DHE, a key exchange whose numbers the receiver chooses. With numbers of 10,000 bits a
 * handshake takes the thread a second, before the certificate is judged.
 */
const ciphers = `${DEFAULT_CIPHERS}:!DHE`;
/** Servers give two sessions to a connection, some of them four. */
const sessionsMax = 16;
/**
 * So much may arrive for one user, with all that TLS adds. A receiver may send key updates without
 * end, of which nobody hears, and answers in records of one byte: all of these cost the thread far
 * more than other bytes do.
 */
const arrivedBytesMax = 512 * 1024;
/** How often what has arrived is looked at. */
const lookMs = 250;
/** When a name has several addresses: how long to wait for one before the next is tried. */
const addressTimeoutMs = 1000;
/** As much as TLS gives at once. */
const readBytes = 16 * 1024;

interface ConnectionOptions {
  readonly socket: Socket;
  readonly origin: string;
  readonly monotonic: MonotonicClock;
  readonly idleMsMax: number;
  /** Greater each time. */
  readonly nextTurn: () => number;
  readonly onClosed: () => void;
}

/** A connection, and the listeners of its socket, which stay with it from one user to the next. */
export class Connection {
  readonly socket: Socket;
  readonly origin: string;
  /**
   * When the certificate was verified, by the monotonic clock; for plain HTTP when the connection
   * was opened.
   */
  verifiedAtMs: number;
  /** Null while it is idle. */
  #user: ConnectionUser | null = null;
  /** In the order of those that became idle; null: it may not be used. */
  #idleTurn: number | null = null;
  readonly #options: ConnectionOptions;
  /** Ends the time of its user, or the time for which it may stay idle. */
  readonly #alarm: Alarm;
  /** How much had arrived when its user got it, or when it became idle. */
  #arrivedBefore = 0;

  constructor(options: ConnectionOptions) {
    const { socket, origin, monotonic } = options;
    this.socket = socket;
    this.origin = origin;
    this.verifiedAtMs = monotonic();
    this.#options = options;
    this.#alarm = new Alarm(monotonic, () => this.#tell((user) => user.late()));
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () =>
      this.#tell((user) => user.connected()),
    );
    socket.on('end', () => this.#tell((user) => user.ended()));
    socket.on('error', (error) => this.#tell((user) => user.failed(error)));
    socket.once('close', () => {
      this.#alarm.stop();
      this.#idleTurn = null;
      options.onClosed();
      this.#tell((user) => user.closed());
    });
  }

  get idleTurn(): number | null {
    return this.#idleTurn;
  }

  /** Is used for at most so many milliseconds. */
  use(user: ConnectionUser, ms: number): void {
    this.#user = user;
    this.#idleTurn = null;
    this.#arrivedBefore = arrivedOn(this.socket);
    this.#alarm.set(ms);
  }

  /**
   * Its last answer was read to its end: it waits for the endpoint's next delivery, for at most
   * `idleMs`.
   */
  keep(idleMs: number): void {
    const { monotonic, idleMsMax, nextTurn } = this.#options;
    const verifiedMs = this.verifiedAtMs + verifiedForMs - monotonic();
    this.#user = null;
    if (verifiedMs <= 0) {
      this.close();
      return;
    }
    this.#idleTurn = nextTurn();
    this.#arrivedBefore = arrivedOn(this.socket);
    this.#alarm.set(Math.min(idleMs, idleMsMax, verifiedMs));
  }

  /** Closes it when more has arrived than any answer takes. */
  look(): void {
    if (arrivedOn(this.socket) - this.#arrivedBefore > arrivedBytesMax) this.close();
  }

  /** Bytes have arrived; they are valid during the call only. */
  received(bytes: Buffer): void {
    this.#tell((user) => user.received(bytes));
  }

  close(): void {
    this.#idleTurn = null;
    this.socket.destroy();
  }

  /**
   * Bytes that arrive while it is idle would be taken for the next answer, so whatever happens then
   * closes it.
   */
  #tell(step: (user: ConnectionUser) => void): void {
    const user = this.#user;
    if (user === null) {
      this.close();
      return;
    }
    try {
      step(user);
    } catch (error) {
      // Its user has failed, and hears nothing of the end.
      this.#user = null;
      this.close();
      user.broken(error);
    }
  }
}

/** How many bytes have arrived on a socket, those of TLS itself included. */
function arrivedOn(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: Handle | null };
  return handle?._parent?.bytesRead ?? socket.bytesRead;
}

/** As Node has it: that of a TLS socket counts what TLS gives, and its parent what TLS gets. */
interface Handle {
  readonly _parent?: { readonly bytesRead: number };
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #secureContext: SecureContext;
  readonly #sessions = new TlsSessions(verifiedForMs);
  readonly #handshakes: Handshakes;
  /** By endpoint, until their sockets are closed. */
  readonly #open = new Map<string, Connection[]>();
  /** Where all sockets read to, each in its turn. */
  readonly #bytes = Buffer.allocUnsafeSlow(readBytes);
  #openCount = 0;
  #looking: NodeJS.Timeout | undefined;
  #turns = 0;

  constructor(options: ConnectionsOptions) {
    const { extraCa } = options;
    this.#options = options;
    this.#handshakes = new Handshakes(options.monotonic);
    this.#secureContext = createSecureContext({
      ciphers,
      // A receiver could ask for one handshake after the other.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...(extraCa && { ca: [...rootCertificates, extraCa] }),
    });
  }

  /**
   * An idle connection of the endpoint to an allowed address, which stays idle until it is used;
   * null when it has none. Idle ones to others are closed.
   */
  idleOf(
    endpoint: string,
    origin: string,
    mayConnectTo: (address: string | undefined) => boolean,
  ): Connection | null {
    const connections = this.#open.get(endpoint) ?? [];
    for (let idle = usedLast(connections); idle !== null; idle = usedLast(connections)) {
      const { socket } = idle;
      if (idle.origin === origin && socket.writable && mayConnectTo(socket.remoteAddress)) return idle;
      idle.close();
    }
    return null;
  }

  /** Whether a new connection may be opened, see `Handshakes`. */
  mayOpen(account: string, { url }: Target): ReturnType<Handshakes['mayBegin']> {
    return url.protocol === 'http:' ? 'now' : this.#handshakes.mayBegin(account, url.origin);
  }

  /** Resolves when a connection that may be opened later is to be asked for again. */
  handshakeEnds(account: string): Promise<void> {
    return this.#handshakes.oneEnds(account);
  }

  /**
   * Connects to the checked addresses, one after the other. The name is used to check the
   * certificate only.
   */
  open(endpoint: string, account: string, target: Target, addresses: readonly string[]): Connection {
    if (this.#openCount >= this.#options.connectionsMax) this.#closeOldest();
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
      // Otherwise each read has a buffer of its own.
      onread: {
        buffer: this.#bytes,
        callback: (length: number) => {
          connection.received(this.#bytes.subarray(0, length));
          return true;
        },
      },
    };
    const connection =
      target.url.protocol === 'http:'
        ? this.#add(endpoint, target, connectTcp(options))
        : this.#openTls(endpoint, account, target, options);
    return connection;
  }

  #openTls(endpoint: string, account: string, target: Target, options: object): Connection {
    const { origin } = target.url;
    const known = this.#sessions.get(origin, this.#options.monotonic());
    const socket = connectTls({
      ...options,
      servername: target.literal ? '' : target.host,
      session: known?.session,
      secureContext: this.#secureContext,
      // Without this, NODE_TLS_REJECT_UNAUTHORIZED would decide.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });
    this.#handshakes.begin(account, origin, socket);
    const connection = this.#add(endpoint, target, socket);
    let session: Buffer | undefined;
    let sessions = 0;
    // A resumed session checks no host name, so the session of an unauthorized connection is never
    // stored.
    const remember = () => {
      if (!socket.authorized || session === undefined) return;
      this.#sessions.put(origin, { session, verifiedAtMs: connection.verifiedAtMs });
    };
    socket.on('session', (given: Buffer) => {
      session = given;
      remember();
      // They are no answer, so nothing else bounds them.
      if (++sessions > sessionsMax) socket.destroy();
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
    const { monotonic, idleMsMax: givenMs = idleMsMax } = this.#options;
    const connection = new Connection({
      socket,
      origin: url.origin,
      monotonic,
      idleMsMax: givenMs,
      nextTurn: () => ++this.#turns,
      onClosed: () => this.#remove(endpoint, connection),
    });
    const others = this.#open.get(endpoint);
    if (others === undefined) this.#open.set(endpoint, [connection]);
    else others.push(connection);
    if (this.#openCount++ === 0) this.#looking = setInterval(() => this.#look(), lookMs).unref();
    return connection;
  }

  #remove(endpoint: string, connection: Connection): void {
    const connections = defined(this.#open.get(endpoint), 'an open connection is in its list');
    connections.splice(connections.indexOf(connection), 1);
    if (connections.length === 0) this.#open.delete(endpoint);
    if (--this.#openCount === 0) clearInterval(this.#looking);
  }

  #look(): void {
    for (const connections of [...this.#open.values()])
      for (const connection of [...connections]) connection.look();
  }

  /** Makes room for a connection, if any is idle. */
  #closeOldest(): void {
    let oldest: Connection | null = null;
    let oldestTurn = Number.POSITIVE_INFINITY;
    for (const connection of this.#idle()) {
      const turn = connection.idleTurn ?? oldestTurn;
      if (turn >= oldestTurn) continue;
      oldest = connection;
      oldestTurn = turn;
    }
    oldest?.close();
  }

  *#idle(): Iterable<Connection> {
    for (const connections of this.#open.values())
      for (const connection of connections) if (connection.idleTurn !== null) yield connection;
  }

  /** Closes the idle connections of an endpoint. */
  hangUp(endpoint: string): void {
    for (const connection of this.#open.get(endpoint) ?? [])
      if (connection.idleTurn !== null) connection.close();
  }

  /** Closes all idle connections. */
  close(): void {
    for (const connection of [...this.#idle()]) connection.close();
  }

  /** Connections that wait for a delivery. */
  get idleCount(): number {
    return [...this.#idle()].length;
  }
}

/** The idle connection that was used last; null when none is idle. */
function usedLast(connections: readonly Connection[]): Connection | null {
  let last: Connection | null = null;
  for (const connection of connections)
    if ((connection.idleTurn ?? 0) > (last?.idleTurn ?? 0)) last = connection;
  return last;
}
