// A merchant's server for tests: a real HTTP or HTTPS server on loopback that remembers its requests and answers as a test
// tells it to, also wrongly.

import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureVersion, TLSSocket } from 'node:tls';
import type { Identity } from './certificates.ts';

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The name that the sender asked for in the TLS handshake; null when it named none. */
  readonly servername: string | null;
  /** The connection that it came on, from 0. */
  readonly connection: number;
  /** The connection resumed the TLS session of one before it. */
  readonly isResumed: boolean;
}

/** `index` counts the requests from 0. The request's body has been read already. */
export type Respond = (response: ServerResponse, request: ReceivedRequest, index: number) => void;

export interface ReceiverOptions {
  readonly respond?: Respond;
  /** HTTPS with this certificate; plain HTTP when left out. */
  readonly identity?: Identity;
  /** The newest version of TLS that it speaks. */
  readonly tls?: SecureVersion;
  /** Those that it speaks up to TLS 1.2; all when left out. */
  readonly ciphers?: string;
  /** The loopback address to listen on. */
  readonly host?: string;
  /** A free one when left out. */
  readonly port?: number;
}

export interface Receiver {
  readonly port: number;
  /** `http://127.0.0.1:1234`, without a path. */
  readonly origin: string;
  readonly requests: readonly ReceivedRequest[];
  /** TCP connections accepted so far. */
  readonly connectionCount: number;
  /** Of those, the ones that are open now. */
  readonly openCount: number;
  /** Settles when every connection is closed; the other side's end takes a moment to arrive. */
  idle(): Promise<void>;
  /** Closes every connection; it takes new ones. */
  hangUp(): void;
  close(): Promise<void>;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { respond = (response) => response.end('ok'), identity, host = '127.0.0.1', port = 0 } = options;
  const { tls: maxVersion, ciphers } = options;
  const requests: ReceivedRequest[] = [];
  const open = new Set<Socket>();
  const numbers = new Map<number | undefined, number>();
  let connectionCount = 0;

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const connection = numbers.get(request.socket.remotePort)!;
    const isResumed = identity !== undefined && (request.socket as TLSSocket).isSessionReused();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers, rawHeaders } = request;
    const servername = (request.socket as TLSSocket).servername || null;
    const received = {
      method,
      url,
      headers,
      rawHeaders,
      body: Buffer.concat(chunks),
      servername,
      connection,
      isResumed,
    };
    requests.push(received);
    respond(response, received, requests.length - 1);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // A sender that gives up midway is what some tests are about.
    response.on('error', () => {});
    receive(request, response).catch(() => response.destroy());
  };
  const server = identity
    ? createHttpsServer({ ...identity, maxVersion, ciphers, dhparam: 'auto' }, listener)
    : createHttpServer(listener);
  // Node's default is five seconds: a slow machine would count as an idle sender.
  server.keepAliveTimeout = 0;
  server.on('connection', (socket: Socket) => {
    numbers.set(socket.remotePort, connectionCount++);
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0) server.emit('idle');
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(port, host);
  await once(server, 'listening');
  // A test that fails must end although it has not closed its receiver.
  server.unref();

  const hangUp = () => {
    for (const socket of open) socket.destroy();
  };
  const { port: boundPort } = server.address() as AddressInfo;
  const authority = host.includes(':') ? `[${host}]` : host;
  return {
    port: boundPort,
    origin: `${identity ? 'https' : 'http'}://${authority}:${boundPort}`,
    requests,
    get connectionCount() {
      return connectionCount;
    },
    get openCount() {
      return open.size;
    },
    async idle() {
      if (open.size > 0) await once(server, 'idle');
    },
    hangUp,
    async close() {
      hangUp();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An answer without end: writes as fast as the connection takes it, until it is closed. */
export const endless: Respond = (response) => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const pour = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', pour);
  pour();
};
