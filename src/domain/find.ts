// Looks objects up for a request, which finds those of its organization and mode only. For an
// object of the same organization in the other mode, the message of `resource_missing` says so.

import { echo } from '../contract/echo.ts';
import { type Refusal, refuse } from '../contract/errors/table.ts';
import { AssertionFailure, assert } from '../core/assert.ts';
import type { RecordKind, RecordOf, StoredRecord } from './record.ts';
import type { ScanRange, View } from './view.ts';

export type Found<K extends RecordKind> = { readonly record: RecordOf<K> } | { readonly refusal: Refusal };

export interface Caller {
  readonly org: string;
  readonly livemode: boolean;
}

/** The record, or `resource_missing`; `param` names the parameter that held the id, if one did. */
export function find<K extends RecordKind>(
  view: Pick<View, 'get'>,
  caller: Caller,
  kind: K,
  id: string,
  param?: string,
): Found<K> {
  const record = existing(view.get(kind, id));
  if (record !== undefined && record.org === caller.org && record.livemode === caller.livemode)
    return { record };
  return { refusal: missing(kind, id, record?.org === caller.org ? record.livemode : null, param) };
}

/**
 * The record that another record names, so it must be there. Throws an `AssertionFailure` that
 * names it when it is not.
 */
export function required<K extends RecordKind>(
  view: Pick<View, 'get'>,
  kind: K,
  id: string | null | undefined,
): RecordOf<K> {
  const record = typeof id === 'string' ? view.get(kind, id) : undefined;
  if (record === undefined) throw new AssertionFailure(`the ${kind} ${id} must be there, and is not`);
  return record;
}

/** Whether a record is of a kind. */
export function isOfKind<K extends RecordKind>(record: StoredRecord, kind: K): record is RecordOf<K> {
  return record.kind === kind;
}

/** The records of an index that has records of one kind only. */
export function* recordsOf<K extends RecordKind>(
  view: Pick<View, 'scan'>,
  kind: K,
  index: string,
  range: ScanRange,
): Generator<RecordOf<K>> {
  for (const record of view.scan(index, range)) {
    assert(isOfKind(record, kind), `${index} has a record of another kind than ${kind}`);
    yield record;
  }
}

/** A deleted endpoint can't be found, although its record still exists. */
function existing<R extends StoredRecord>(record: R | undefined): R | undefined {
  return record?.kind === 'webhook_endpoint' && record.status === 'deleted' ? undefined : record;
}

/**
 * The refusal of an unknown id, which may be of any kind ('object'), or of an unknown number of a
 * cash code. `elsewhere` is the `livemode` in which the organization has the object; null: in none.
 */
export function missing(
  kind: RecordKind | 'object' | 'number',
  id: string,
  elsewhere: boolean | null,
  param?: string,
): Refusal {
  const message =
    elsewhere === null
      ? 'resource_missing'
      : elsewhere
        ? 'resource_missing.in_live'
        : 'resource_missing.in_test';
  const values = { kind, id: echo(id) };
  return refuse('resource_missing', param === undefined ? { message, values } : { message, values, param });
}
