// What pages show and change of one thing: records of the request's organization and mode, and no
// others, one that an address names or those of an index, and where a page of them begins.

import { type IdKind, kindOfId } from '../../contract/id-prefixes.ts';
import { scopeOf } from '../../domain/indexes.ts';
import type { RecordKind, RecordOf } from '../../domain/record.ts';
import { OperatorFailure } from '../../operator/use-cases/failures.ts';
import { findRecord, records } from '../../operator/use-cases/shard-records.ts';
import { errorPage } from '../layout/errors.ts';
import type { Row, ViewRequest } from '../layout/row.ts';

/** Handles a request with the one thing that it is about. Without it the page is missing. */
export function about<Request extends ViewRequest, Found>(
  find: (request: Request) => Promise<Found | null> | Found | null | undefined,
  handle: (request: Request, found: Found) => ReturnType<Row['handle']>,
): Row<Request>['handle'] {
  return async (request) => {
    const found = (await find(request)) ?? null;
    return found === null ? errorPage(request, 'missing') : handle(request, found);
  };
}

/** Resolves with why an action was refused, or could not be carried out; null when it was done. */
export async function refusalOf(action: Promise<unknown>): Promise<string | null> {
  try {
    await action;
    return null;
  } catch (error) {
    if (error instanceof OperatorFailure) return error.message;
    throw error;
  }
}

/** Null when there is no such record of this kind in the request's organization and mode. */
export async function ownRecord<K extends RecordKind>(
  { organization, mode, services }: ViewRequest,
  id: string,
  kind: K,
): Promise<RecordOf<K> | null> {
  if (kindOfId(id) !== kind) return null;
  const record = await findRecord(services, id, kind);
  return record?.org === organization.id && record.livemode === (mode === 'live') ? record : null;
}

/** The newest records of an index of the request's organization and mode. */
export function ownRecords<R>(
  { organization, mode, services }: ViewRequest,
  indexIn: (scope: string) => string,
  options: { readonly limit?: number } = {},
): Promise<R[]> {
  return records<R>(services, organization.id, indexIn(scopeOf(organization.id, mode === 'live')), options);
}

/** The id of a kind of object that a query has under a name; undefined for any other text. */
export function cursorIn(query: URLSearchParams, name: string, kind: IdKind): string | undefined {
  const id = query.get(name) ?? '';
  return kindOfId(id) === kind && /^\w{1,40}$/.test(id) ? id : undefined;
}
