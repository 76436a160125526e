// An edge: one uWebSockets.js app. It reads heads, sorts API requests from everything else, and sees to it that every
// exchange ends: a throw in a native handler would end the process, and after the head nobody but us keeps time.

import * as uws from 'uWebSockets.js';
import type { Clock } from '../core/clock.ts';
import { Exchange, type Exchanges } from './exchange.ts';
import { type RequestHead, readHead } from './request-head.ts';

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly clock: Clock;
  /** A new id for a request that came at `nowMs`. */
  readonly newRequestId: (nowMs: number) => string;
  /** An exchange that has no answer after this time is told to give up. */
  readonly requestTimeoutMs: number;
  /** Customers reach the service over https: browsers are told to keep to it. */
  readonly httpsOnly: boolean;
  readonly onApi: (exchange: Exchange, head: RequestHead) => void;
  /** Everything outside `/v1`. */
  readonly onSite: (exchange: Exchange, head: RequestHead) => void;
  /** A handler threw: a bug. The exchange is cut. */
  readonly onBug: (error: unknown) => void;
}

export interface Server {
  readonly port: number;
  readonly exchanges: Exchanges;
  /**
   * Takes no new connections, waits up to `graceMs` for the exchanges under way and for requests that are on their way
   * on connections there are, then closes.
   */
  stop(graceMs: number): Promise<void>;
}

/** For a year; no subdomains, which may be somebody else's. */
const strictTransport = '\r\nStrict-Transport-Security: max-age=31536000';
const sweepMs = 500;
const quietTurns = 10;
const quietTurnMs = 10;

/** Listens; rejects when the address can't be had. */
export function listen(options: ServerOptions): Promise<Server> {
  const exchanges: Exchanges = {
    open: new Set(),
    commonHeaders: options.httpsOnly ? strictTransport : '',
    closing: false,
    onBug: options.onBug,
  };
  const app =
    options.tls === null
      ? uws.App()
      : uws.SSLApp({ cert_file_name: options.tls.certFile, key_file_name: options.tls.keyFile });
  app.any('/*', (response, request) => {
    const exchange = new Exchange(response, exchanges, options.newRequestId(options.clock()));
    exchange.guard(() => {
      const head = readHead(request);
      exchange.isHead = head.method === 'HEAD';
      exchange.isChunked = head.isChunked;
      if (head.path === '/v1' || head.path.startsWith('/v1/')) options.onApi(exchange, head);
      else options.onSite(exchange, head);
    });
  });
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
        app.close();
      };
      resolve({ port, exchanges, stop });
    });
  });
}

/** The oldest exchanges come first: the sweep ends at the first one that is young enough. */
function sweep(exchanges: Exchanges, options: ServerOptions): void {
  const oldest = performance.now() - options.requestTimeoutMs;
  for (const exchange of exchanges.open) {
    if (exchange.startedAt > oldest) break;
    if (exchange.isStreaming) continue;
    exchange.guard(exchange.onTimeout);
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
