// Where a page of objects begins, as the address says it.

import { type IdKind, kindOfId } from '../../contract/id-prefixes.ts';

/** The id of a kind of object that a query has under a name; undefined for any other text. */
export function cursorIn(query: URLSearchParams, name: string, kind: IdKind): string | undefined {
  const id = query.get(name) ?? '';
  return kindOfId(id) === kind && /^\w{1,40}$/.test(id) ? id : undefined;
}
