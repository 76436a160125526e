// The documentation at the edge: writes the answer to a visit. A search takes a moment, so visitors
// may search only so often; all other pages are in memory.

import type { Json } from '../../contract/openapi/schemas.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { Visitors } from '../http/visitors.ts';
import { Docs, searchPath } from './docs.ts';
import { contentPolicy } from './layout.ts';

export interface DocsVisitsOptions {
  readonly baseUrl: string;
  /** The API description of this service. */
  readonly description: Json;
  readonly visitors: Visitors;
}

const headers = headerLines(
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Content-Security-Policy', contentPolicy],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'same-origin'],
  ['Cache-Control', 'no-cache'],
  ['Vary', 'Accept-Language'],
);

/** Returns the function that answers a GET or a HEAD. */
export function createDocsVisits({ baseUrl, description, visitors }: DocsVisitsOptions) {
  const docs = new Docs(baseUrl, description);
  return (exchange: Exchange, head: RequestHead): void => {
    const waitSeconds =
      head.path === searchPath ? visitors.admit(exchange.remoteAddress, head.forwardedFor) : null;
    if (waitSeconds === null) {
      const { status, document } = docs.visit(head);
      document.answer(exchange, head, status, headers);
    } else {
      const retryAfter = headerLines(['Retry-After', String(waitSeconds)]);
      docs.tooManySearches(waitSeconds, head).answer(exchange, head, 429, headers + retryAfter);
    }
  };
}
