// Pagination: a page of a list, newest first, with ids as cursors. A page is a range over an index
// that starts at the cursor, so its cost depends on its size alone, and objects that are inserted
// meanwhile neither shift nor repeat anything.

import type { Refusal } from '../contract/errors/table.ts';
import { idPrefixes } from '../contract/id-prefixes.ts';
import { listLimitDefault } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import { type IdLeads, idFloor, idTimeAfter } from '../core/ids.ts';
import type { Caller } from './find.ts';
import { find, isOfKind } from './find.ts';
import { fieldsIndex, type ListedKind, scopeOf } from './indexes.ts';
import type { RecordOf } from './record.ts';
import type { View } from './view.ts';

/** What every list takes; `field[op]` names as in the query string. */
export interface ListParams {
  readonly limit?: number;
  readonly starting_after?: string;
  readonly ending_before?: string;
  readonly created?: number;
  readonly 'created[gte]'?: number;
  readonly 'created[gt]'?: number;
  readonly 'created[lte]'?: number;
  readonly 'created[lt]'?: number;
}

/** Who asks for a list, and how far ids were ever ahead of `created`. */
export interface ListCaller extends Caller {
  readonly idLeads: IdLeads;
}

interface ListPage<K extends ListedKind> {
  readonly records: readonly RecordOf<K>[];
  readonly hasMore: boolean;
}

/**
 * The fields that a list is filtered by, in the order of their index. Every set of fields has an
 * index of its own.
 */
export type Filters = Readonly<Record<string, string | undefined>>;

/** One page, or the refusal of a cursor that names no object of this list's kind. */
export function listPageOf<K extends ListedKind>(
  view: View,
  caller: ListCaller,
  kind: K,
  params: ListParams,
  filters: Filters,
): ListPage<K> | { readonly refusal: Refusal } {
  const cursorName = params.starting_after === undefined ? 'ending_before' : 'starting_after';
  const cursor = params[cursorName];
  if (cursor !== undefined) {
    const found = find(view, caller, kind, cursor, cursorName);
    if ('refusal' in found) return found;
  }
  const limit = params.limit ?? listLimitDefault;
  const records: RecordOf<K>[] = [];
  const descending = params.ending_before === undefined;
  for (const record of filtered(view, caller, kind, { ...params, descending }, filters)) {
    records.push(record);
    if (records.length > limit) break;
  }
  const hasMore = records.length > limit;
  const page = hasMore ? records.slice(0, limit) : records;
  return { records: descending ? page : page.reverse(), hasMore };
}

/** The records of a kind that pass the filters, from the cursor on. */
export function* filtered<K extends ListedKind>(
  view: View,
  caller: ListCaller,
  kind: K,
  params: ListParams & { readonly descending: boolean },
  filters: Filters,
): Generator<RecordOf<K>> {
  const scope = scopeOf(caller.org, caller.livemode);
  const given = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { created } = params;
  const fromSeconds = greatest(greatest(params['created[gte]'], plusOne(params['created[gt]'])), created);
  const toSeconds = least(least(plusOne(params['created[lte]']), params['created[lt]']), plusOne(created));
  const bounds = boundsOf(idPrefixes[kind], params, fromSeconds, toSeconds, caller.idLeads);
  const range = { ...bounds, descending: params.descending };
  for (const record of view.scan(fieldsIndex(kind, scope, given), range)) {
    if (fromSeconds !== undefined && record.created < fromSeconds) continue;
    if (toSeconds !== undefined && record.created >= toSeconds) continue;
    assert(isOfKind(record, kind), `${record.id} is listed as a ${kind}`);
    yield record;
  }
}

/**
 * The range of ids between the cursor and the bounds on `created`: ids start with their time, which
 * is never before `created`, and as much after it as `leads` say.
 */
function boundsOf(
  prefix: string,
  params: ListParams,
  fromSeconds: number | undefined,
  toSeconds: number | undefined,
  leads: IdLeads,
): { after?: string; before?: string } {
  const after = greatest(
    params.ending_before,
    fromSeconds === undefined ? undefined : idFloor(prefix, fromSeconds * 1000),
  );
  const before = least(
    params.starting_after,
    toSeconds === undefined ? undefined : idFloor(prefix, idTimeAfter(toSeconds * 1000, leads)),
  );
  return { ...(after !== undefined && { after }), ...(before !== undefined && { before }) };
}

function plusOne(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds + 1;
}

function greatest<T extends string | number>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

function least<T extends string | number>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
