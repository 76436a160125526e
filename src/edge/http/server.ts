// The HTTP server of an edge, a uWebSockets.js app. It reads the heads of requests, separates API
// requests from all others, and makes sure that every exchange ends: uWebSockets.js has no timeout
// after the head, and an exception in one of its handlers would end the process.

import * as uws from 'uWebSockets.js';
import { setTimeout as wait } from 'node:timers/promises';
import { elementAt } from '../../core/assert.ts';
import type { Clock } from '../../core/clock.ts';
import { lazily } from '../../core/lazily.ts';
import { breath, systemScheduler } from '../../core/scheduler.ts';
import type { OnVisitFailed } from '../../core/visit-failure.ts';
import type { Connections } from './connections.ts';
import { Exchange, type Exchanges } from './exchange.ts';
import type { HeldBytes } from './held-bytes.ts';
import { HeadReader, type RequestHead } from './request-head.ts';
import { WholeWriter } from './write-answer.ts';

/** A certificate chain and its private key, PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly clock: Clock;
  /** A new id for a request that arrived at `nowMs`. */
  readonly newRequestId: (nowMs: number) => string;
  /** An exchange that has no answer after this time times out. */
  readonly requestTimeoutMs: number;
  /** Customers reach the service over https, so browsers are told to use nothing else. */
  readonly httpsOnly: boolean;
  /** The time in which a client must take some of a large answer, or its connection is cut. */
  readonly slowClientMs: number;
  readonly held: HeldBytes;
  readonly bodies: HeldBytes;
  readonly onApi: (exchange: Exchange, head: RequestHead) => void;
  /** Takes the requests outside of `/v1`. */
  readonly onSite: (exchange: Exchange, head: RequestHead) => void;
  /** Limits the connections. */
  readonly connections: Pick<Connections, 'opened' | 'closed'>;
  /** Called with an exception of a handler, which is a bug. */
  readonly onFailed: OnVisitFailed;
}

export interface Server {
  readonly port: number;
  readonly exchanges: Exchanges;
  /** Uses these files for new connections. Throws when the files can't be used. */
  useCertificate(files: TlsFiles): void;
  /** Serves on, and has each client come by another connection after its next answer. */
  announceStop(): void;
  /**
   * Takes no new connections, waits up to `graceMs` for what is under way, and closes. `refuse`: is
   * to answer what is still under way then; the answers get a moment to go out.
   */
  stop(graceMs: number, refuse?: () => void): Promise<void>;
}

/** Valid for a year, without subdomains, which may belong to somebody else. */
const strictTransport = '\r\nStrict-Transport-Security: max-age=31536000';
/** TLS 1.2 with forward secrecy and authenticated encryption, which TLS 1.3 always has. */
const ciphers = ['ECDHE-ECDSA', 'ECDHE-RSA']
  .flatMap((keys) => [`${keys}-AES128-GCM-SHA256`, `${keys}-AES256-GCM-SHA384`, `${keys}-CHACHA20-POLY1305`])
  .join(':');
/** The next start of what has ended waits for it. */
const refusalGraceMs = 250;
const sweepMs = 500;
const quietTurns = 10;
const quietTurnMs = 10;

/** An app can pass connections to others by methods that its types leave out. */
interface App extends uws.TemplatedApp {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

/** Starts a server. Rejects when it can't listen on the address. */
export function listen(options: ServerOptions): Promise<Server> {
  const exchanges: Exchanges = {
    open: new Set(),
    bodies: options.bodies,
    commonHeaders: options.httpsOnly ? strictTransport : '',
    lastAnswers: false,
    closing: false,
    parsing: false,
    whole: new WholeWriter(),
    held: options.held,
    onFailed: options.onFailed,
  };
  const heads = new HeadReader();
  const createApp = (tls: TlsFiles | null) => {
    const app = (tls === null ? uws.App() : openTls(tls)) as App;
    app.filter((response, change) => admit(response, change, options));
    app.any('/*', (response, request) => take(response, request, exchanges, heads, options));
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
      // Neither may be closed twice.
      const closeListening = lazily(async () => uws.us_listen_socket_close(socket));
      const closeApps = lazily(async () => {
        for (const each of apps) each.close();
      });
      const announceStop = () => {
        exchanges.lastAnswers = true;
      };
      const stop = async (graceMs: number, refuse?: () => void) => {
        announceStop();
        exchanges.closing = true;
        // The system resets connections that wait to be taken when nobody listens any more. The first
        // turn may have begun before the last of them came.
        for (let turn = 0; turn < 2; turn++) await breath(systemScheduler);
        void closeListening();
        if (!(await quiet(exchanges, graceMs)) && refuse !== undefined) {
          refuse();
          await quiet(exchanges, refusalGraceMs);
        }
        clearInterval(sweeper);
        await closeApps();
      };
      const useCertificate = (files: TlsFiles) => {
        const renewed = createApp(files);
        // An app reads its certificate once. So the app that listens passes new connections to
        // another app. An app that was replaced keeps its connections until the service stops.
        app.addChildAppDescriptor(renewed.getDescriptor());
        const replaced = elementAt(apps, apps.length - 1);
        if (replaced !== app) app.removeChildAppDescriptor(replaced.getDescriptor());
        apps.push(renewed);
      };
      resolve({ port, exchanges, useCertificate, announceStop, stop });
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

/** Handles a connection that was opened (`change` is 1) or has ended (-1). */
function admit(response: uws.HttpResponse, change: number, { connections, onFailed }: ServerOptions): void {
  try {
    if (change < 0) connections.closed();
    else if (!connections.opened(response)) response.close();
  } catch (error) {
    onFailed(error, 'connection', null);
  }
}

/** Handles a request whose head has arrived. */
function take(
  response: uws.HttpResponse,
  request: uws.HttpRequest,
  exchanges: Exchanges,
  heads: HeadReader,
  options: ServerOptions,
): void {
  const exchange = openExchange(response, exchanges, options);
  exchange?.whileParsing(() => {
    const head = heads.read(request);
    exchange.isHead = head.method === 'HEAD';
    exchange.isChunked = head.isChunked;
    exchange.isLast = !head.endIsCertain || head.refusal !== null;
    if (head.path === '/v1' || head.path.startsWith('/v1/')) options.onApi(exchange, head);
    else options.onSite(exchange, head);
  });
}

/** Null when that fails: then the connection is closed, because nobody would answer. */
function openExchange(
  response: uws.HttpResponse,
  exchanges: Exchanges,
  { clock, newRequestId, onFailed }: ServerOptions,
): Exchange | null {
  try {
    return new Exchange(response, exchanges, newRequestId(clock()));
  } catch (error) {
    onFailed(error, 'connection', null);
    response.close();
    return null;
  }
}

/** Cuts slow clients, and times out exchanges that have no answer yet. */
function sweep({ open }: Exchanges, { requestTimeoutMs, slowClientMs }: ServerOptions): void {
  const now = performance.now();
  for (const exchange of open) {
    if (exchange.isStuckSince(now - slowClientMs)) exchange.cut();
    else if (exchange.isStreaming) exchange.guard(() => exchange.wait());
    else if (exchange.startedAt <= now - requestTimeoutMs) exchange.timeOut();
  }
}

/**
 * Resolves with true when no exchange was open for some turns of the event loop. By then everything
 * is read that a client sent before it could know of the stop. False: they took too long.
 */
async function quiet(exchanges: Exchanges, graceMs: number): Promise<boolean> {
  const deadline = performance.now() + graceMs;
  let turns = 0;
  while (turns < quietTurns && performance.now() < deadline) {
    await wait(quietTurnMs);
    turns = exchanges.open.size > 0 ? 0 : turns + 1;
  }
  return turns === quietTurns;
}
