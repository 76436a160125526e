// Indexes: the lists that a record belongs to. Every list, with or without filters, is a range over
// one index, so a page costs the same however long the list is. Memory and checkpoint have the same
// rows. Behind its first `=`, the name of an index is a value of which there may be any number.
// What comes before it is the list: there must be few of these for an organization, because the
// checkpoint numbers them. Rows have both apart, so that no name is put together for each row.

import type { RecordKind, RecordOf, StoredRecord } from './record.ts';
import type { IndexRow } from './view.ts';

/** The name of one organization in one mode. Merchants see the objects of one scope only. */
export function scopeOf(org: string, livemode: boolean): string {
  return livemode ? `${org}/l` : `${org}/t`;
}

/** The list that an index belongs to, and its value; null when the index is the whole list. */
export function splitIndexName(index: string): Pick<IndexRow, 'list' | 'value'> {
  const end = index.indexOf('=') + 1;
  return end === 0 ? { list: index, value: null } : { list: index.slice(0, end), value: index.slice(end) };
}

/** The name of the index that a row belongs to. */
export function indexNameOf({ list, value }: Pick<IndexRow, 'list' | 'value'>): string {
  return value === null ? list : list + value;
}

export type ListedKind = Exclude<StoredRecord['kind'], 'network_call' | 'attempt'>;

/** All records of a kind in a scope, by id: oldest first. */
export function kindIndex(kind: ListedKind, scope: string): string {
  return `${kind}/${scope}`;
}

/** Fields that have few values in all. */
const enumerated: ReadonlySet<string> = new Set(['status', 'type', 'open']);

/** The records of a kind in a scope whose `field` has this value. */
export function fieldIndex(kind: ListedKind, scope: string, field: string, value: string): string {
  return `${kind}/${scope}/${fieldIs(field, value)}`;
}

function fieldIs(field: string, value: string): string {
  return `${field}${enumerated.has(field) ? ':' : '='}${value}`;
}

/** The records of a kind in a scope whose fields have these values; without any, all of them. */
export function fieldsIndex(
  kind: ListedKind,
  scope: string,
  fields: readonly (readonly [name: string, value: string])[],
): string {
  if (fields.length === 0) return kindIndex(kind, scope);
  return `${kindIndex(kind, scope)}/${fields.map(([name, value]) => fieldIs(name, value)).join('&')}`;
}

/** Names are remembered of so many organizations, then anew. */
const rememberedMax = 1_000;
/** By organization, those of test mode first. */
const rememberedNames = [new Map<string, ScopeNames>(), new Map<string, ScopeNames>()] as const;

/**
 * The names of lists in a scope that were put together before. Nearly every record has the same few
 * again, and a text that is known is found in a table without a look at its characters.
 */
function namesIn({ org, livemode }: Pick<StoredRecord, 'org' | 'livemode'>): ScopeNames {
  const scopes = rememberedNames[livemode ? 1 : 0];
  if (scopes.size >= rememberedMax && !scopes.has(org)) scopes.clear();
  return scopes.get(org) ?? added(scopes, org, new ScopeNames(scopeOf(org, livemode)));
}

class ScopeNames {
  readonly scope: string;
  readonly #kinds = new Map<ListedKind, string>();
  /** By kind and field, of fields that have many values. */
  readonly #fields = new Map<ListedKind, Map<string, string>>();
  /** By kind, field and value: of fields that have few values. */
  readonly #values = new Map<ListedKind, Map<string, Map<string, string>>>();

  constructor(scope: string) {
    this.scope = scope;
  }

  kind(kind: ListedKind): string {
    return this.#kinds.get(kind) ?? added(this.#kinds, kind, kindIndex(kind, this.scope));
  }

  /** The list whose values are those of a field that has many. */
  field(kind: ListedKind, field: string): string {
    const fields = this.#fields.get(kind) ?? added(this.#fields, kind, new Map<string, string>());
    return fields.get(field) ?? added(fields, field, fieldIndex(kind, this.scope, field, ''));
  }

  /** The index of a field that has few values: a list of its own for each. */
  value(kind: ListedKind, field: string, value: string): string {
    const fields =
      this.#values.get(kind) ?? added(this.#values, kind, new Map<string, Map<string, string>>());
    const values = fields.get(field) ?? added(fields, field, new Map<string, string>());
    return values.get(value) ?? added(values, value, fieldIndex(kind, this.scope, field, value));
  }
}

function added<K, V>(known: Map<K, V>, key: K, value: V): V {
  known.set(key, value);
  return value;
}

const scopedKinds: readonly ListedKind[] = [
  'payment_intent',
  'checkout_session',
  'payment_link',
  'customer',
  'event',
  'webhook_endpoint',
];

/**
 * Every organization that has records, charges and the like apart, which come with one of these.
 * `listAfter` gives the first name of a list after a text: it is asked once or twice for each
 * organization and kind.
 */
export function organizationsIn(listAfter: (text: string) => string | undefined): Set<string> {
  const found = new Set<string>();
  for (const kind of scopedKinds) {
    const start = `${kind}/`;
    for (let name = listAfter(start); name?.startsWith(start); ) {
      const org = name.slice(start.length, name.indexOf('/', start.length));
      found.add(org);
      // All its names go on with a slash, and the next character is a zero.
      name = listAfter(`${start}${org}0`);
    }
  }
  return found;
}

/** The charges and sessions of a shard that expire at some time, by that time. */
export const dueIndex = 'due';
/** Calls to payment networks that have no final outcome yet. */
export const networkCallIndex = 'operation';
/** Every webhook endpoint of a shard. */
export const endpointIndex = 'endpoint';
/** The deliveries that have ended, by the time of their end, for retention. */
export const endedIndex = 'over';

/** The holder of a cash code: first the network call that issues it, then its charge. */
export function cashIndex(number: string): string {
  return cashList + number;
}
const cashList = 'cash=';

/** The charges in a scope for which a network has reported money under this reference. */
export function receiptIndex(scope: string, reference: string): string {
  return fieldIndex('charge', scope, 'reference', reference);
}

/** The deliveries of an endpoint that wait for an attempt, by due time. */
export function endpointDueIndex(endpoint: string): string {
  return endpointDueList + endpoint;
}
const endpointDueList = `${dueIndex}/endpoint=`;

/** The attempts of a delivery, oldest first. */
export function attemptIndex(delivery: string): string {
  return attemptList + delivery;
}
const attemptList = 'attempt=';

/** The attempts in a scope, by their serial numbers. */
export function attemptSerialIndex(scope: string): string {
  return `${attemptSerials}/${scope}`;
}
const attemptSerials = 'attempt';

const timeWidth = 14;
/**
 * A time, or another number, as a sort key of fixed width, so that the order of texts is the order
 * of numbers.
 */
export function timeKey(ms: number): string {
  return String(ms).padStart(timeWidth, '0');
}

/** The sort key of a record in an index that is ordered by a time, or another number. */
export function timedKey(ms: number, id: string): string {
  return timeKey(ms) + id;
}

/** Gives the record's id in a sort key of the index. */
export function idsIn(index: string): (sortKey: string) => string {
  return hasNumbers(index) ? (sortKey) => sortKey.slice(timeWidth) : (sortKey) => sortKey;
}

/** Whether the sort keys of an index begin with a time or another number. */
function hasNumbers(index: string): boolean {
  return index.startsWith(dueIndex) || index === endedIndex || index.startsWith(`${attemptSerials}/`);
}

/**
 * The fields that a record's index rows depend on, besides its id, its organization and its mode.
 * They come first in the bytes of a record, so that its rows can be told without the rest of it
 * (journal/records/record-layout.ts).
 */
export const indexedFields = {
  payment_intent: ['customer', 'status'],
  charge: ['payment_intent', 'status', 'cash_number', 'due_at_ms', 'receipts'],
  checkout_session: ['status', 'due_at_ms'],
  customer: ['email', 'deleted'],
  refund: ['payment_intent', 'status'],
  review: ['open'],
  day_total: ['day'],
  payment_link: [],
  event: ['type'],
  webhook_endpoint: ['status', 'draining'],
  delivery: ['endpoint', 'event', 'status', 'due_at_ms', 'ended_at_ms'],
  attempt: ['delivery', 'serial'],
  network_call: ['cash_number'],
} as const satisfies { readonly [K in RecordKind]: readonly (keyof RecordOf<K>)[] };

type IndexedField<K extends RecordKind> = (typeof indexedFields)[K][number];

/** As much of a record as its index rows depend on. */
type Indexed<K extends RecordKind> = Pick<
  RecordOf<K>,
  'kind' | 'id' | 'org' | 'livemode' | 'removed' | (IndexedField<K> & keyof RecordOf<K>)
>;
export type IndexedRecord = { [K in RecordKind]: Indexed<K> }[RecordKind];

/** Whether the list of all records of its kind in its scope has the record. */
function isListed(record: IndexedRecord): record is ListedRecord {
  if (record.removed) return false;
  switch (record.kind) {
    // These are listed by their endpoint, by their delivery, or not at all.
    case 'delivery':
    case 'attempt':
    case 'network_call':
      return false;
    case 'customer':
      return !record.deleted;
    case 'webhook_endpoint':
      return record.status !== 'deleted';
    default:
      return true;
  }
}

/** Whether a record has this index row. Most that are asked for are those of its kind's list. */
export function hasIndexRow(record: IndexedRecord, index: string, sortKey: string): boolean {
  if (sortKey === record.id && isListed(record) && index === namesIn(record).kind(record.kind)) return true;
  const asked = { ...splitIndexName(index), sortKey };
  return indexRowsOf(record).some((each) => isSameRow(each, asked));
}

export function isSameRow(a: IndexRow, b: IndexRow): boolean {
  return a.list === b.list && a.value === b.value && a.sortKey === b.sortKey;
}

/** Every index row of a record; none once it is removed. */
export function indexRowsOf(record: IndexedRecord): readonly IndexRow[] {
  if (record.removed) return [];
  const { id, kind } = record;
  if (kind === 'network_call') {
    const number = record.cash_number;
    const held = number === null ? [] : [{ list: cashList, value: number, sortKey: id }];
    return [row(networkCallIndex, id), ...held];
  }
  if (kind === 'attempt') {
    const own = { list: attemptList, value: record.delivery, sortKey: id };
    if (record.serial === null) return [own];
    return [own, row(attemptSerialIndex(namesIn(record).scope), timedKey(record.serial, id))];
  }
  if (kind === 'customer' && record.deleted) return [];
  if (kind === 'webhook_endpoint' && record.status === 'deleted') {
    return record.draining ? [row(endpointIndex, id)] : [];
  }
  const names = namesIn(record);
  const rows: IndexRow[] = isListed(record) ? [row(names.kind(kind), id)] : [];
  addFieldRows(rows, record, names);
  if (kind === 'charge') {
    if (record.cash_number !== null) rows.push({ list: cashList, value: record.cash_number, sortKey: id });
    if (record.status === 'pending') rows.push(row(dueIndex, timedKey(record.due_at_ms, id)));
    for (const { reference } of record.receipts)
      rows.push({ list: names.field(kind, 'reference'), value: reference, sortKey: id });
  } else if (kind === 'checkout_session') {
    if (record.status === 'open') rows.push(row(dueIndex, timedKey(record.due_at_ms, id)));
  } else if (kind === 'webhook_endpoint') {
    rows.push(row(endpointIndex, id));
  } else if (kind === 'delivery') {
    const { endpoint, ended_at_ms, due_at_ms } = record;
    if (ended_at_ms !== null) rows.push(row(endedIndex, timedKey(ended_at_ms, id)));
    if (due_at_ms !== null)
      rows.push({ list: endpointDueList, value: endpoint, sortKey: timedKey(due_at_ms, id) });
  }
  return rows;
}

/** A row of an index that is a whole list. */
function row(list: string, sortKey: string): IndexRow {
  return { list, value: null, sortKey };
}

type ListedRecord = Extract<IndexedRecord, { kind: ListedKind }>;

/** The rows of lists that are filtered by fields. */
function addFieldRows(rows: IndexRow[], record: ListedRecord, names: ScopeNames): void {
  const { id, kind } = record;
  switch (kind) {
    case 'payment_intent':
      addStatusRows(rows, record, names, 'customer', record.customer);
      break;
    case 'charge':
    case 'refund':
      addStatusRows(rows, record, names, 'payment_intent', record.payment_intent);
      break;
    case 'customer':
      if (record.email !== null)
        rows.push({ list: names.field(kind, 'email'), value: record.email, sortKey: id });
      break;
    case 'event':
      rows.push(row(names.value(kind, 'type', record.type), id));
      break;
    case 'review':
      if (record.open) rows.push(row(names.value(kind, 'open', 'true'), id));
      break;
    case 'day_total':
      rows.push({ list: names.field(kind, 'day'), value: record.day, sortKey: id });
      break;
    case 'delivery':
      rows.push({ list: names.field(kind, 'endpoint'), value: record.endpoint, sortKey: id });
      rows.push({ list: names.field(kind, 'event'), value: record.event, sortKey: id });
      if (record.status === 'failed')
        rows.push({ list: names.field(kind, 'failed'), value: record.endpoint, sortKey: id });
      break;
  }
}

/** For a list that is filtered by status, by `field`, or by both at once. */
function addStatusRows(
  rows: IndexRow[],
  { id, kind, status }: Extract<ListedRecord, { status: string }>,
  names: ScopeNames,
  field: string,
  value: string | null,
): void {
  rows.push(row(names.value(kind, 'status', status), id));
  if (value === null) return;
  const list = names.field(kind, field);
  rows.push({ list, value, sortKey: id });
  const both = `${value}&${fieldIs('status', status)}`;
  rows.push({ list, value: both, sortKey: id });
}
