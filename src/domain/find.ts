// Looking an object up on behalf of a request: only what belongs to its organization and mode is there. An object
// that the same organization has in the other mode is missing as well, but the message says where it is.

import { echo } from '../contract/echo.ts';
import { type Refusal, refuse } from '../contract/errors/table.ts';
import type { RecordKind, RecordOf, StoredRecord } from './record.ts';
import type { View } from './view.ts';

export type Found<K extends RecordKind> = { readonly record: RecordOf<K> } | { readonly refusal: Refusal };

export interface Caller {
  readonly org: string;
  readonly livemode: boolean;
}

/** The record, or `resource_missing`; `param` names the parameter that held the id, if one did. */
export function find<K extends RecordKind>(
  view: View,
  caller: Caller,
  kind: K,
  id: string,
  param?: string,
): Found<K> {
  const record = existing(view.get(kind, id));
  if (record !== undefined && record.org === caller.org && record.livemode === caller.livemode)
    return { record };
  return { refusal: missing(id, record?.org === caller.org ? record.livemode : null, param) };
}

/** What was deleted without a trace is not there, although its record still is. */
function existing<R extends StoredRecord>(record: R | undefined): R | undefined {
  return record?.kind === 'webhook_endpoint' && record.status === 'deleted' ? undefined : record;
}

/** The refusal for an id that names nothing here; `elsewhere` is the mode in which it exists, if it does. */
export function missing(id: string, elsewhere: boolean | null, param?: string): Refusal {
  const message =
    elsewhere === null
      ? 'resource_missing'
      : elsewhere
        ? 'resource_missing.in_live'
        : 'resource_missing.in_test';
  const values = { id: echo(id) };
  return refuse('resource_missing', param === undefined ? { message, values } : { message, values, param });
}
