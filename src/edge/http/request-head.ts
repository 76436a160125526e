// The head of a request as plain data. uWebSockets.js's request object is valid only until the
// handler returns, so everything that is needed later is copied here, in one pass over the headers.
// The pass also finds ambiguous requests, in which a header that decides about framing, authority
// or identity is repeated.
//
// uWebSockets.js removes bytes above 127 from both ends of a header's value as if they were spaces,
// and offers no way to get the original bytes. So an Idempotency-Key with such bytes at an end is
// accepted without them; others above 126 are seen and refused. A header line without a name hides
// all lines behind it, the length of a body among them, from the parser and from this pass. Nothing
// tells of it. So the end of a request that can have a body and shows no length is not certain.

import type { HttpRequest } from 'uWebSockets.js';
import { type Refusal, refuse } from '../../contract/errors/table.ts';
import { bodyBytesMax, headerBytesMax } from '../../contract/limits.ts';
import { bodyTooLarge } from './request-body.ts';

export interface RequestHead {
  /** As it was sent. Methods are case-sensitive. */
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly contentType: string | undefined;
  readonly acceptLanguage: string;
  readonly acceptEncoding: string;
  readonly version: string | undefined;
  readonly cookie: string;
  readonly forwardedFor: string;
  readonly secFetchSite: string;
  readonly lastEventId: string;
  /** The signature of a payment network. */
  readonly signature: string;
  /** Whether a body follows. */
  readonly hasBody: boolean;
  /** The length of the body; 0 when there is none, or when it comes in chunks. */
  readonly bodyBytes: number;
  /** Whether the body comes in chunks. */
  readonly isChunked: boolean;
  /**
   * Whether it is known where the request ends: it has a length, or is a GET, which nobody sends
   * with a body. It is not known with chunks, whose end the parser may take for something else.
   */
  readonly endIsCertain: boolean;
  /** Why the request can't be read any further; the connection is closed after the answer. */
  readonly refusal: Refusal | null;
}

/** A head that is being read: first the request line, then each header. */
class Head implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  authorization: string | undefined = undefined;
  idempotencyKey: string | undefined = undefined;
  contentType: string | undefined = undefined;
  acceptLanguage = '';
  acceptEncoding = '';
  version: string | undefined = undefined;
  cookie = '';
  forwardedFor = '';
  secFetchSite = '';
  lastEventId = '';
  signature = '';
  hasBody = false;
  bodyBytes = 0;
  isChunked = false;
  endIsCertain = false;
  refusal: Refusal | null = null;
  host: string | undefined = undefined;
  length: string | undefined = undefined;
  coding: string | undefined = undefined;
  hasTrailer = false;
  bytes: number;

  constructor(request: HttpRequest) {
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = (request.getQuery() as string | undefined) ?? '';
    this.bytes = this.method.length + this.path.length + this.query.length;
  }

  /** The value of a header that must not be repeated. */
  once(name: string, before: string | undefined, value: string): string {
    if (before !== undefined) this.refusal ??= repeated(name);
    return value;
  }
}

/** Reads heads one after the other: all headers of a request before those of the next. */
export class HeadReader {
  #head: Head | null = null;
  /** One function serves all requests, because making one for each would double the cost. */
  readonly #readHeader = (name: string, value: string): void => {
    if (this.#head !== null) readHeader(this.#head, name, value);
  };

  read(request: HttpRequest): RequestHead {
    const head = new Head(request);
    this.#head = head;
    request.forEach(this.#readHeader);
    return checked(head);
  }
}

function checked(head: Head): RequestHead {
  const { method, bytes, length, coding } = head;
  head.isChunked = coding !== undefined;
  head.bodyBytes = length === undefined ? 0 : Number(length);
  head.endIsCertain = coding === undefined && (length !== undefined || method === 'GET');
  head.hasBody = head.isChunked || (length !== undefined && length !== '0');
  head.refusal ??= refuseFraming(method, bytes, length, coding);
  // uWebSockets.js would read a trailer as the next request.
  if (head.hasTrailer) head.refusal ??= unsupported('trailer');
  return head;
}

/** Copies a header if it is needed. */
function readHeader(head: Head, name: string, value: string): void {
  head.bytes += name.length + value.length;
  switch (name) {
    case 'host':
      head.host = head.once(name, head.host, value);
      break;
    case 'authorization':
      head.authorization = head.once(name, head.authorization, value);
      break;
    case 'content-type':
      head.contentType = joined(head.contentType, value);
      break;
    case 'content-length':
      head.length = head.once(name, head.length, value);
      break;
    case 'idempotency-key':
      head.idempotencyKey = head.once(name, head.idempotencyKey, value);
      break;
    case 'x-service-version':
      head.version = joined(head.version, value);
      break;
    case 'transfer-encoding':
      head.coding = head.once(name, head.coding, value);
      break;
    case 'accept-language':
      head.acceptLanguage = joined(head.acceptLanguage, value);
      break;
    case 'accept-encoding':
      head.acceptEncoding = joined(head.acceptEncoding, value);
      break;
    case 'cookie':
      head.cookie = joined(head.cookie, value);
      break;
    case 'x-forwarded-for':
      head.forwardedFor = joined(head.forwardedFor, value);
      break;
    case 'sec-fetch-site':
      head.secFetchSite = joined(head.secFetchSite, value);
      break;
    case 'last-event-id':
      head.lastEventId = joined(head.lastEventId, value);
      break;
    case 'x-service-signature':
      head.signature = head.once(name, head.signature || undefined, value);
      break;
    case 'trailer':
      head.hasTrailer = true;
  }
}

/** Joins the values of a header that may be repeated to one list. */
function joined(before: string | undefined, value: string): string {
  return before === undefined || before === '' ? value : `${before}, ${value}`;
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
    // Another coding would be read as if it were chunked. The answer to a body in chunks must be
    // the last one on its connection, which a streamed answer, as to a GET, can't be.
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
