// A request's head as plain data. uWebSockets.js lends its request object only until the handler returns, so all that
// is needed later is copied here, in one pass over the headers. The pass also finds what makes a message ambiguous: a
// header that decides about framing, authority or identity and comes twice.
//
// uWebSockets.js cuts bytes above 127 off both ends of a header's value as if they were spaces, and neither `getHeader`
// nor `forEach` nor anything else that it hands out has the bytes of the header. So an Idempotency-Key with such bytes at
// an end is taken without them; all others above 126 are seen, and refused. A header line without a name hides all lines
// behind it.

import type { HttpRequest } from 'uWebSockets.js';
import { type Refusal, refuse } from '../contract/errors.ts';
import { bodyBytesMax, headerBytesMax } from '../contract/limits.ts';
import { bodyTooLarge } from './request-body.ts';

export interface RequestHead {
  /** As it was sent: methods are told apart by case. */
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly contentType: string | undefined;
  readonly acceptLanguage: string;
  readonly version: string | undefined;
  readonly cookie: string;
  readonly forwardedFor: string;
  readonly secFetchSite: string;
  readonly lastEventId: string;
  /** Whether a body follows. */
  readonly hasBody: boolean;
  /** The length of the body; 0 when there is none, or when it comes in chunks. */
  readonly bodyBytes: number;
  /** Whether the body comes in chunks. */
  readonly isChunked: boolean;
  /** Why the request can't be read any further; the connection is closed after the answer. */
  readonly refusal: Refusal | null;
}

/** Headers that may come once only. */
const once = new Set(['content-length', 'host', 'transfer-encoding', 'authorization', 'idempotency-key']);

export function readHead(request: HttpRequest): RequestHead {
  const headers = new Map<string, string>();
  const path = request.getUrl();
  const query = (request.getQuery() as string | undefined) ?? '';
  let bytes = path.length + query.length;
  let refusal: Refusal | null = null;
  request.forEach((name, value) => {
    bytes += name.length + value.length;
    const before = headers.get(name);
    if (before !== undefined && once.has(name)) refusal ??= repeated(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  });
  const method = request.getCaseSensitiveMethod();
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  refusal ??= refuseFraming(method, bytes, length, coding);
  // uWebSockets.js takes a trailer for the next request.
  if (headers.has('trailer')) refusal ??= unsupported('trailer');
  return {
    method,
    path,
    query,
    authorization: headers.get('authorization'),
    idempotencyKey: headers.get('idempotency-key'),
    contentType: headers.get('content-type'),
    acceptLanguage: headers.get('accept-language') ?? '',
    version: headers.get('x-service-version'),
    cookie: headers.get('cookie') ?? '',
    forwardedFor: headers.get('x-forwarded-for') ?? '',
    secFetchSite: headers.get('sec-fetch-site') ?? '',
    lastEventId: headers.get('last-event-id') ?? '',
    isChunked: coding !== undefined,
    bodyBytes: Number(length ?? 0),
    hasBody: coding !== undefined || (length !== undefined && length !== '0'),
    refusal,
  };
}

function repeated(header: string): Refusal {
  return refuse('invalid_request', { message: 'invalid_request.header_repeated', values: { header } });
}

function refuseFraming(
  method: string,
  bytes: number,
  length: string | undefined,
  coding: string | undefined,
): Refusal | null {
  if (bytes > headerBytesMax) {
    const values = { max: headerBytesMax };
    return refuse('invalid_request', { message: 'invalid_request.headers_too_large', values });
  }
  if (coding !== undefined) {
    // Another coding would be read as if it were chunked. What is streamed, which a GET may be, can't be the last answer
    // on its connection, as that to a body in chunks must be.
    const isTaken = coding.toLowerCase() === 'chunked' && method !== 'GET' && method !== 'HEAD';
    if (!isTaken) return unsupported('transfer-encoding');
  }
  if (length === undefined) return null;
  if (coding !== undefined || !/^\d+$/.test(length)) return unsupported('content-length');
  return Number(length) > bodyBytesMax ? bodyTooLarge(bodyBytesMax) : null;
}

function unsupported(header: string): Refusal {
  return refuse('invalid_request', { message: 'invalid_request.header', values: { header } });
}
