// One attempt to deliver a webhook: sign, check the address, POST, read the answer. Called for each attempt of each
// delivery, inside a worker; the retries around it belong to the endpoint's actor. What it keeps: bytes go only to an
// address that was checked in this attempt, one deadline covers everything from the name's resolution to the answer's
// last byte, memory is bounded whatever the receiver does, and the promise settles only once the socket is closed, so
// that a slot that looks free is free.
//
// It opens the socket itself and lets `node:http` speak over it, for https too. A client with a connection pool
// (undici, an Agent) hides what matters here: when a name is looked up, which address was taken, whether a connection
// is reused, and when it is gone. `node:http` over one socket has none of that to switch off, follows no redirect and
// inflates nothing. Nothing is written before the connection is up, its certificate verified and its address checked.

import { type IncomingMessage, request } from 'node:http';
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import {
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls';
import type { AttemptResult } from '../domain/record.ts';
import { type CheckedUrl, checkWebhookUrl, isPublicAddress } from './address-guard.ts';
import { ResolutionFailure, type Resolve } from './resolver.ts';
import { signatureHeader, signatureHeaderName } from './signature.ts';

export interface AttemptInput {
  readonly url: string;
  /** The event as JSON text: exactly what is signed and sent. */
  readonly body: string;
  /** The signing secrets in force, newest first. */
  readonly secrets: readonly string[];
  /** Now, Unix seconds; a fraction is kept in the result's `at_ms` and cut off in the signature. */
  readonly nowSeconds: number;
}

export interface AttemptOptions {
  readonly resolve: Resolve;
  /** The time for the whole attempt. */
  readonly timeoutMs?: number | undefined;
  /** Development only, see the address guard. */
  readonly allowHttp?: boolean | undefined;
  readonly allowPrivate?: boolean | undefined;
  /** A certificate authority to trust besides the public ones, PEM. */
  readonly extraCa?: string | undefined;
}

export type Attempt = (input: AttemptInput) => Promise<AttemptResult>;

type Target = Extract<CheckedUrl, { ok: true }>;
type Outcome = Pick<AttemptResult, 'status' | 'failure' | 'answer'>;

const defaultTimeoutMs = 10_000;
/** How much of an answer is kept, and how much of it is read at all. */
const keptBytesMax = 16 * 1024;
const readBytesMax = 256 * 1024;
const headerBytesMax = 16 * 1024;
/** When a name has several addresses: how long to wait for one before the next is tried. */
const addressTimeoutMs = 1000;
const failureLengthMax = 200;
const userAgent = 'payments-service-webhooks/1';

/**
 * Makes the function that makes attempts. It never rejects for what the network or the receiver does: `failure` is
 * null when the answer was 2xx, else a short English reason. An answer that is too long is cut and judged by its
 * status; one that isn't finished in time is a failure, whatever its status.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  const { timeoutMs = defaultTimeoutMs, extraCa } = options;
  const secureContext = createSecureContext(extraCa ? { ca: [...rootCertificates, extraCa] } : {});

  return async function attempt(input) {
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;

    async function deliver(): Promise<Outcome> {
      const target = checkWebhookUrl(input.url, options);
      if (!target.ok) return failed(`address refused: ${target.reason}`);
      let addresses: readonly string[];
      try {
        addresses = target.literal
          ? [target.literal]
          : await within(timeoutMs, () => options.resolve(target.host));
      } catch (error) {
        if (error instanceof ResolutionFailure) return failed(error.message);
        if (error instanceof Expired) return failed(timedOut(timeoutMs));
        throw error;
      }
      const remainingMs = timeoutMs - elapsedMs();
      if (remainingMs <= 0) return failed(timedOut(timeoutMs));
      const socket = openSocket(target, addresses, secureContext);
      const mayConnectTo = (address: string) =>
        addresses.includes(address) && (options.allowPrivate || isPublicAddress(address));
      return exchange({ socket, target, mayConnectTo, input, timeoutMs, remainingMs });
    }

    const outcome = await deliver();
    return {
      at_ms: Math.round(input.nowSeconds * 1000),
      duration_ms: Math.round(elapsedMs()),
      ...outcome,
    };
  };
}

/** Starts to connect to the checked addresses, in turn; the name serves only the certificate's check. */
function openSocket(target: Target, addresses: readonly string[], secureContext: SecureContext): Socket {
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
  if (target.url.protocol === 'http:') return connectTcp(options);
  const servername = target.literal ? '' : target.host;
  return connectTls({
    ...options,
    servername,
    secureContext,
    // Its default is what NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  });
}

interface Exchange {
  readonly socket: Socket;
  readonly target: Target;
  readonly mayConnectTo: (address: string) => boolean;
  readonly input: AttemptInput;
  readonly timeoutMs: number;
  readonly remainingMs: number;
}

/** Sends the request over the socket once it is up, reads the answer, and settles when the socket is closed. */
function exchange(given: Exchange): Promise<Outcome> {
  const { socket, target, mayConnectTo, input, timeoutMs, remainingMs } = given;
  return new Promise((settle) => {
    const kept: Buffer[] = [];
    let keptBytes = 0;
    let readBytes = 0;
    let status: number | null = null;
    let failure: string | null = null;

    // The first end counts: what a destroyed socket reports afterwards is only its echo.
    let ended = false;
    const end = (reason: string | null) => {
      if (!ended) failure = reason;
      ended = true;
      socket.destroy();
    };
    const fail = (error: Error) => end(describe(error, socket, status));
    const timer = setTimeout(() => end(timedOut(timeoutMs)), remainingMs);

    const read = (chunk: Buffer) => {
      readBytes += chunk.length;
      if (keptBytes < keptBytesMax) {
        const part = chunk.subarray(0, keptBytesMax - keptBytes);
        kept.push(part);
        keptBytes += part.length;
      }
      if (readBytes >= readBytesMax) end(failureOfStatus(status));
    };

    const receive = (answer: IncomingMessage) => {
      status = answer.statusCode ?? null;
      answer.on('data', read);
      answer.on('end', () => end(failureOfStatus(status)));
      answer.on('error', fail);
    };

    const send = () => {
      if (!mayConnectTo(socket.remoteAddress ?? '')) return end(`address not public: ${target.host}`);
      const sent = request({
        createConnection: () => socket,
        method: 'POST',
        path: target.url.pathname + target.url.search,
        headers: headersOf(target, input),
        maxHeaderSize: headerBytesMax,
      });
      sent.on('response', receive);
      // Interim answers have no end of their own: they count against what may be read.
      sent.on('information', () => {
        if (socket.bytesRead >= readBytesMax) end('too many interim answers');
      });
      sent.on('error', fail);
      sent.end(input.body);
    };

    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', send);
    socket.on('error', fail);
    socket.once('close', () => {
      clearTimeout(timer);
      if (!ended) failure = cutOff(status);
      // `write` alone leaves out a character that the cut went through.
      settle({ status, failure, answer: new StringDecoder('utf8').write(Buffer.concat(kept)) });
    });
  });
}

function headersOf(
  target: Target,
  { body, secrets, nowSeconds }: AttemptInput,
): Record<string, string | number> {
  return {
    Host: target.url.host,
    'User-Agent': userAgent,
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    [signatureHeaderName]: signatureHeader({ secrets, timestampSeconds: Math.floor(nowSeconds), body }),
    Connection: 'close',
  };
}

function failureOfStatus(status: number | null): string | null {
  if (status === null) return 'no answer';
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `redirect refused (${status})` : `answered ${status}`;
}

const failureOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  HPE_HEADER_OVERFLOW: 'answer headers too large',
};

/** A socket's or a parser's error in short English words. */
function describe(error: NodeJS.ErrnoException, socket: Socket, status: number | null): string {
  if (socket instanceof TLSSocket && socket.authorizationError) {
    return `certificate not trusted: ${error.message}`.slice(0, failureLengthMax);
  }
  const code = error.code ?? '';
  if (code === 'ECONNRESET' || code === 'EPIPE') return cutOff(status);
  if (failureOfCode[code]) return failureOfCode[code];
  if (code.startsWith('HPE_')) return `answer is not HTTP (${code})`;
  if (code.startsWith('ERR_SSL')) return `TLS failed (${code})`;
  return `connection failed (${code || error.name})`;
}

function cutOff(status: number | null): string {
  return status === null ? 'connection closed without an answer' : 'connection closed within the answer';
}

function failed(failure: string): Outcome {
  return { status: null, failure, answer: '' };
}

function timedOut(timeoutMs: number): string {
  return `timed out after ${timeoutMs} ms`;
}

class Expired extends Error {}

/** Settles as `work` does, or rejects with `Expired` after `timeoutMs`. */
async function within<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Expired()), timeoutMs);
  try {
    return await Promise.race([work(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
