// An edge: one uWebSockets.js app. It reads heads, sorts API requests from everything else, and sees to it that every
// exchange ends: a throw in a native handler would end the process, and after the head nobody but us keeps time.

import * as uws from 'uWebSockets.js';
import type { Clock } from '../core/clock.ts';
import type { Connections } from './connections.ts';
import { Exchange, type Exchanges } from './exchange.ts';
import type { HeldAnswers } from './held-answers.ts';
import { type RequestHead, readHead } from './request-head.ts';

/** A certificate chain and its private key, PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly clock: Clock;
  /** A new id for a request that came at `nowMs`. */
  readonly newRequestId: (nowMs: number) => string;
  /** An exchange that has no answer after this time is told to give up. */
  readonly requestTimeoutMs: number;
  /** Customers reach the service over https: browsers are told to keep to it. */
  readonly httpsOnly: boolean;
  /** Time in which a client must take some of a large answer: one that is slower is cut. */
  readonly slowClientMs: number;
  readonly held: HeldAnswers;
  readonly onApi: (exchange: Exchange, head: RequestHead) => void;
  /** Everything outside `/v1`. */
  readonly onSite: (exchange: Exchange, head: RequestHead) => void;
  /** How many connections there may be. */
  readonly connections: Pick<Connections, 'opened' | 'closed'>;
  /** A handler threw: a bug. The exchange is cut. */
  readonly onBug: (error: unknown) => void;
}

export interface Server {
  readonly port: number;
  readonly exchanges: Exchanges;
  /** Reads these files for new connections; those that are open stay as they are. Throws when they can't be used. */
  useCertificate(files: TlsFiles): void;
  /**
   * Takes no new connections, waits up to `graceMs` for the exchanges under way and for requests that are on their way
   * on connections there are, then closes.
   */
  stop(graceMs: number): Promise<void>;
}

/** For a year; no subdomains, which may be somebody else's. */
const strictTransport = '\r\nStrict-Transport-Security: max-age=31536000';
/** For TLS 1.2: forward secrecy and authenticated encryption. TLS 1.3 has nothing else, and 1.1 is never spoken. */
const ciphers = ['ECDHE-ECDSA', 'ECDHE-RSA']
  .flatMap((keys) => [`${keys}-AES128-GCM-SHA256`, `${keys}-AES256-GCM-SHA384`, `${keys}-CHACHA20-POLY1305`])
  .join(':');
const sweepMs = 500;
const quietTurns = 10;
const quietTurnMs = 10;

/** What uWebSockets.js can do besides what its types say: apps hand the connections that they accept to others. */
interface App extends uws.TemplatedApp {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

/** Listens; rejects when the address can't be had. */
export function listen(options: ServerOptions): Promise<Server> {
  const exchanges: Exchanges = {
    open: new Set(),
    slow: new Set(),
    commonHeaders: options.httpsOnly ? strictTransport : '',
    closing: false,
    held: options.held,
    onBug: options.onBug,
  };
  const createApp = (tls: TlsFiles | null) => {
    const app = (tls === null ? uws.App() : openTls(tls)) as App;
    app.filter((response, change) => admit(response, change, options));
    app.any('/*', (response, request) => take(response, request, exchanges, options));
    return app;
  };
  const app = createApp(options.tls);
  const apps = [app];
  const sweeper = setInterval(() => sweep(exchanges, options), sweepMs);
  return new Promise((resolve, reject) => {
    app.listen(options.host, options.port, (socket) => {
      if (!socket) {
        clearInterval(sweeper);
        reject(new Error(`cannot listen on ${options.host} port ${options.port}`));
        return;
      }
      const port = uws.us_socket_local_port(socket as unknown as uws.us_socket);
      const stop = async (graceMs: number) => {
        uws.us_listen_socket_close(socket);
        exchanges.closing = true;
        await quiet(exchanges, graceMs);
        clearInterval(sweeper);
        for (const each of apps) each.close();
      };
      const useCertificate = (files: TlsFiles) => {
        const renewed = createApp(files);
        // An app reads its certificate once. So the one that listens hands new connections to another, which has them
        // from then on; one that was replaced stays for its own until the service stops.
        app.addChildAppDescriptor(renewed.getDescriptor());
        const replaced = apps.at(-1)!;
        if (replaced !== app) app.removeChildAppDescriptor(replaced.getDescriptor());
        apps.push(renewed);
      };
      resolve({ port, exchanges, useCertificate, stop });
    });
  });
}

function openTls({ certFile, keyFile }: TlsFiles): uws.TemplatedApp {
  try {
    return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile, ssl_ciphers: ciphers });
  } catch {
    throw new Error(`TLS can't be opened with the certificate in ${certFile} and the key in ${keyFile}`);
  }
}

/** A connection has come (`change` is 1) or has ended (-1). */
function admit(response: uws.HttpResponse, change: number, { connections, onBug }: ServerOptions): void {
  try {
    if (change < 0) connections.closed();
    else if (!connections.opened(response)) response.close();
  } catch (error) {
    onBug(error);
  }
}

/** A request has come. */
function take(
  response: uws.HttpResponse,
  request: uws.HttpRequest,
  exchanges: Exchanges,
  options: ServerOptions,
): void {
  const exchange = new Exchange(response, exchanges, options.newRequestId(options.clock()));
  exchange.guard(() => {
    const head = readHead(request);
    exchange.isHead = head.method === 'HEAD';
    exchange.isChunked = head.isChunked;
    if (head.path === '/v1' || head.path.startsWith('/v1/')) options.onApi(exchange, head);
    else options.onSite(exchange, head);
  });
}

/** The oldest exchanges come first: the sweep ends at the first one that is young enough. */
function sweep(exchanges: Exchanges, options: ServerOptions): void {
  const oldest = performance.now() - options.requestTimeoutMs;
  for (const exchange of exchanges.open) {
    if (exchange.startedAt > oldest) break;
    if (!exchange.isStreaming) exchange.timeOut();
  }
  for (const exchange of exchanges.slow) {
    if (exchange.isStuckSince(performance.now() - options.slowClientMs)) exchange.cut();
    else exchange.wait();
  }
}

/**
 * Settles when no exchange was open for some turns of the event loop: what had been sent on a connection when its client
 * could not know of the stop is read by then.
 */
async function quiet(exchanges: Exchanges, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (let turns = 0; turns < quietTurns && performance.now() < deadline; turns++) {
    await new Promise((resolve) => setTimeout(resolve, quietTurnMs));
    if (exchanges.open.size > 0) turns = 0;
  }
}
