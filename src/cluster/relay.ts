// What a node does with connections while another one has the lease: it passes their bytes on to
// that one, both ways. So any node takes any request. It looks into nothing; what it can't pass on,
// or that one closes without a word, is answered with 503, or closed where only TLS is spoken.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { networksPerSite } from '../contract/limits.ts';
import { breath, systemScheduler } from '../core/scheduler.ts';
import { parseNodeAddress } from './node.ts';

export interface RelayOptions {
  readonly host: string;
  readonly port: number;
  /** More connections at a time are closed at once. */
  readonly connectionsMax: number;
  /** More from one network are closed as well; a site may have four times as many. */
  readonly perAddressMax: number;
  /** The network of an address, and its site where it has one; nothing: it is not limited. */
  readonly networksOf: (address: string) => readonly string[];
  /** Makes the HTTP response to a client that nobody serves now; null: its connection is closed. */
  readonly refusal: (() => string) | null;
  /** The node that serves has so long to take a connection, and a client to read the refusal. */
  readonly connectMs: number;
  /** A client that takes nothing of what was answered for so long is let go. */
  readonly slowClientMs: number;
  /** When the relay closes, requests under way have so long to be answered. */
  readonly answerMs: number;
}

/**
 * When the relay closes, a client is let go that is quiet for so long after some of its answer:
 * longer than it takes to send a lost packet again.
 */
const quietMs = 500;

/** The relay and edges of this node may listen on one address at the same time. */
export const canShare = process.platform === 'linux';

/** More than a system has wait to be taken. */
const takenMax = 1_000;

/**
 * Resolves when the connections are taken that have come: the system resets those that still wait
 * when nobody listens any more. One is taken in a turn of the thread.
 */
async function takeAll(server: Server): Promise<void> {
  let isTaken = true;
  server.on('connection', () => {
    isTaken = true;
  });
  for (let taken = 0; isTaken && taken < takenMax; taken++) {
    isTaken = false;
    // The first turn may have begun before the last one came.
    for (let turn = 0; turn < 2; turn++) await breath(systemScheduler);
  }
}

export class Relay {
  readonly #options: RelayOptions;
  /** Null while it rests. */
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Socket>();
  /** Clients that have said something since they were last answered something. */
  readonly #asked = new Set<Socket>();
  /** The connections of each network and site. */
  readonly #open = new Map<string, number>();
  #target: string | null = null;
  #isPassing = true;
  #isClosed = false;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /**
   * Resolves at once when it is to rest meanwhile; rejects with the error of the system when the
   * address can't be listened on.
   */
  async listen(): Promise<void> {
    if (this.#server !== null || this.#isClosed) return;
    const { host, port, connectionsMax } = this.#options;
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => this.#take(client));
    this.#server = server;
    server.maxConnections = connectionsMax;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // One that is closed while the name of its address is looked up does not listen any more.
    server.once('close', resolve).once('error', reject);
    server.listen({ host, port, reusePort: canShare }, resolve);
    await promise;
    server.on('error', () => {});
  }

  /**
   * Others take the connections from now on; those that have come already go on. Resolves when it
   * does not listen any more.
   */
  async rest(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server?.listening) await takeAll(server);
    server?.close();
  }

  /** Takes no new connections for good. Otherwise like `rest`. */
  refuseNew(): Promise<void> {
    this.#isClosed = true;
    return this.rest();
  }

  /** Connections go to this node from now on; those to another one end. Null: to none. */
  passTo(target: string | null): void {
    if (target === this.#target || !this.#isPassing) return;
    this.#target = target;
    // Their clients end with them. A client that is refused has none, and reads its answer.
    for (const socket of this.#sockets) if (!this.#clients.has(socket)) socket.destroy();
  }

  /** This node serves soon: clients are told to try again, whoever is named from now on. */
  passToNobody(): void {
    this.passTo(null);
    this.#isPassing = false;
  }

  #take(client: Socket): void {
    const target = parseNodeAddress(this.#target ?? '');
    this.#keep(client);
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    if (!this.#count(client)) {
      client.destroy();
      return;
    }
    if (target === null) {
      this.#refuse(client);
      return;
    }
    // While it takes nothing, nothing is read of the node that serves, not even its end.
    client.setTimeout(this.#options.slowClientMs, () => client.writableLength > 0 && client.destroy());
    const server = connect({ ...target, noDelay: true, timeout: this.#options.connectMs });
    this.#keep(server);
    let isConnected = false;
    server.once('connect', () => {
      isConnected = true;
      server.setTimeout(0);
      client.on('data', () => this.#asked.add(client)).pipe(server);
      server.on('data', () => this.#asked.delete(client)).pipe(client, { end: false });
    });
    server.once('timeout', () => server.destroy());
    const isSilent = () => server.bytesRead === 0;
    server.once('end', () => (isSilent() ? server.destroy() : client.end()));
    server.once('close', () => {
      client.unpipe(server);
      if (!isSilent()) client.destroySoon();
      else if (!isConnected || this.#asked.has(client)) this.#refuse(client);
      else {
        // It may be about to ask something, and needs no answer otherwise.
        client.once('data', () => this.#refuse(client)).resume();
        this.#endWhenQuiet(client);
      }
    });
    client.once('close', () => {
      this.#asked.delete(client);
      server.destroySoon();
    });
  }

  /** Whether its network may have one more connection. */
  #count(client: Socket): boolean {
    const { perAddressMax, networksOf } = this.#options;
    const networks = networksOf(client.remoteAddress ?? '');
    const openOf = (network: string) => this.#open.get(network) ?? 0;
    const isMany = networks.some(
      (network, i) => openOf(network) >= perAddressMax * (i === 0 ? 1 : networksPerSite),
    );
    if (isMany) return false;
    for (const network of networks) this.#open.set(network, openOf(network) + 1);
    client.once('close', () => {
      for (const network of networks)
        if (openOf(network) > 1) this.#open.set(network, openOf(network) - 1);
        else this.#open.delete(network);
    });
    return true;
  }

  /** A client reads the response although it has more to send. */
  #refuse(client: Socket): void {
    const { refusal, connectMs } = this.#options;
    if (refusal === null || client.destroyed) client.destroy();
    else {
      client.resume().end(refusal());
      // Whatever it says until then.
      const late = setTimeout(() => client.destroy(), connectMs);
      client.once('close', () => clearTimeout(late));
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // The other side learns of it by the end of the connection.
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /**
   * A connection ends when it is quiet and no request is under way on it, and at the latest after
   * `answerMs`. The port is free before.
   */
  async close(): Promise<void> {
    await this.refuseNew();
    for (const client of this.#clients) this.#endWhenQuiet(client);
    const late = setTimeout(() => this.#endAll(), this.#options.answerMs);
    const end = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
    await Promise.all([...this.#sockets].map(end));
    clearTimeout(late);
  }

  #endWhenQuiet(client: Socket): void {
    const isQuiet = () => !this.#asked.has(client) && client.writableLength === 0;
    // Its time begins anew with whatever it says or is told.
    client.removeAllListeners('timeout').setTimeout(quietMs);
    client.on('timeout', () => isQuiet() && client.destroySoon());
  }
}
