// Serves the Postman collection, with the address of this service in it. `npm run docs` makes the
// collection from the API description; it is read when somebody asks for it.

import { readFileSync } from 'node:fs';
import { type Exchange, headerLines } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import { StaticText } from '../http/static-text.ts';

const file = new URL('../../../docs/postman.json', import.meta.url);
const headers = headerLines(
  ['Content-Type', 'application/json'],
  ['Content-Disposition', 'attachment; filename="payments.postman_collection.json"'],
  ['X-Content-Type-Options', 'nosniff'],
);

interface Collection {
  readonly variable: readonly { readonly key: string; readonly value: string }[];
}

/** Returns the function that answers a GET or a HEAD. */
export function createPostmanVisits(baseUrl: string): (exchange: Exchange, head: RequestHead) => void {
  let document: StaticText | null = null;
  return (exchange, head) => {
    document ??= new StaticText(collectionFor(baseUrl));
    document.answer(exchange, head, 200, headers);
  };
}

function collectionFor(baseUrl: string): string {
  const collection = JSON.parse(readFileSync(file, 'utf8')) as Collection;
  const variable = collection.variable.map((each) =>
    each.key === 'baseUrl' ? { ...each, value: baseUrl } : each,
  );
  return JSON.stringify({ ...collection, variable });
}
