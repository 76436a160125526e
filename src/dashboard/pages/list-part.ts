// A part of one of the API's lists, with the queries of the pages before and after it.

import type { PagerQueries } from '../layout/components.ts';
import { isAway } from '../layout/errors.ts';
import type { ViewRequest } from '../layout/row.ts';

type ListOperation = 'list_customers' | 'list_checkout_sessions' | 'list_reviews' | 'list_events';
type Query = Readonly<Record<string, string>>;

interface ListPart<R> {
  /** Whether the shard has answered. Of what makes no sense there is nothing. */
  readonly isThere: boolean;
  readonly data: readonly R[];
  /** Without a cursor: the newest are shown. */
  readonly isNewest: boolean;
  readonly queries: PagerQueries;
}

const limit = '20';
const cursors = ['starting_after', 'ending_before'] as const;

/**
 * `filters` are parameters of the list; empty ones are left out. `kept` is what the queries keep of
 * the page's own. A cursor that names nothing gives the first page.
 */
export async function listPart<R extends { readonly id: string }>(
  request: ViewRequest,
  operation: ListOperation,
  filters: Query = {},
  kept = filters,
): Promise<ListPart<R>> {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  const cursor = cursors.find((name) => request.query.has(name));
  const at = cursor && { [cursor]: request.query.get(cursor) ?? '' };
  const listed = await request.api(operation, { query: { limit, ...given, ...at } });
  const isNewest = cursor === undefined;
  if (!listed.ok && !isNewest && !isAway(listed))
    return listPart({ ...request, query: new URLSearchParams() }, operation, filters, kept);
  if (!listed.ok)
    return { isThere: !isAway(listed), data: [], isNewest, queries: { newer: null, older: null } };
  const { data, has_more: hasMore } = listed.body as unknown as { data: readonly R[]; has_more: boolean };
  const isBackwards = cursor === 'ending_before';
  const hasNewer = isBackwards ? hasMore : !isNewest;
  const hasOlder = isBackwards || hasMore;
  const [first, last] = [data[0], data.at(-1)];
  return {
    isThere: true,
    data,
    isNewest,
    queries: {
      newer: hasNewer && first ? { ...kept, ending_before: first.id } : null,
      older: hasOlder && last ? { ...kept, starting_after: last.id } : null,
    },
  };
}
