// The documentation at the edge: writes the answer to a visit. A search takes a moment, so visitors
// may search only so often; all other pages are in memory. The Postman collection, which `npm run
// docs` makes from the API description, is read when somebody asks for it.

import { readFileSync } from 'node:fs';
import type { Json } from '../../contract/openapi/schemas.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import { StaticText } from '../http/static-text.ts';
import type { Visitors } from '../http/visitors.ts';
import { Docs, searchPath } from './docs.ts';
import { contentPolicy } from './layout.ts';

interface DocsVisitsOptions {
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
    const page = docs.pageWithoutSlash(head);
    if (page !== null) {
      exchange.answer(303, headers + headerLines(['Location', page]), '');
      return;
    }
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

const collectionFile = new URL('../../../docs/postman.json', import.meta.url);
const collectionHeaders = headerLines(
  ['Content-Type', 'application/json'],
  ['Content-Disposition', 'attachment; filename="payments.postman_collection.json"'],
  ['X-Content-Type-Options', 'nosniff'],
);

interface Collection {
  readonly variable: readonly { readonly key: string; readonly value: string }[];
}

/** The same for the Postman collection, with the address of this service in it. */
export function createPostmanVisits(baseUrl: string): (exchange: Exchange, head: RequestHead) => void {
  let document: StaticText | null = null;
  return (exchange, head) => {
    document ??= new StaticText(collectionFor(baseUrl));
    document.answer(exchange, head, 200, collectionHeaders);
  };
}

function collectionFor(baseUrl: string): string {
  const collection = JSON.parse(readFileSync(collectionFile, 'utf8')) as Collection;
  const variable = collection.variable.map((each) =>
    each.key === 'baseUrl' ? { ...each, value: baseUrl } : each,
  );
  return JSON.stringify({ ...collection, variable });
}
