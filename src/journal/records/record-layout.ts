// The layouts of records: the fields of each kind and their order. The values of a record are
// written as one array, without names. Those that its index rows depend on come first, in the order
// of `indexedFields` (domain/indexes.ts). A layout is fixed once a version was released with it. To
// add, rename or drop a field, change `fields` and add an upcaster, which makes values of the
// version before into those of the new one. Older records keep their bytes until their next change.
// test/journal/golden has all versions.

import { assert, defined, elementAt } from '../../core/assert.ts';
import { type IndexedRecord, indexedFields } from '../../domain/indexes.ts';
import type { Metadata, RecordKind, RecordOf, StoredRecord } from '../../domain/record.ts';
import { dictionary, dictionaryNumbers } from './record-dictionary.ts';

/** Makes the values of one version into those of the next. Words of the dictionary are numbers. */
type Upcaster = (values: readonly unknown[]) => unknown[];

interface Layout<K extends RecordKind> {
  /** The number of a kind is never given to another one. */
  readonly number: number;
  /** Every field that is neither in the record's head nor indexed, in the order of its values. */
  readonly fields: Readonly<
    Record<Exclude<keyof RecordOf<K>, keyof RecordHead | (typeof indexedFields)[K][number]>, true>
  >;
  /** Fields whose texts are mostly in the dictionary. */
  readonly dictionary?: readonly (keyof RecordOf<K>)[];
  /** From version 1 to 2, from 2 to 3, …: there is one version more than there are upcasters. */
  readonly upcasters: readonly Upcaster[];
}

export type RecordHead = Pick<StoredRecord, 'kind' | 'id' | 'org' | 'livemode' | 'removed'>;

/** Its fields that every record has, besides its kind. */
const headNames: readonly Exclude<keyof RecordHead, 'kind' | 'removed'>[] = ['id', 'org', 'livemode'];

const common = { created: true } as const;

function withMember(request: unknown): unknown {
  return request === null ? null : { ...(request as object), member: null };
}

/**
 * Of a review of version 1: only its currency can have been another one where the amount does not
 * add up and is the right one.
 */
function receivedIn([, , , , reason, expected, received]: readonly unknown[]): string {
  return reason === 'amount_mismatch' && received === expected ? unknownCurrency : 'mad';
}

/** As in ISO 4217. */
const unknownCurrency = 'xxx';

const layouts: { readonly [K in RecordKind]: Layout<K> } = {
  payment_intent: {
    number: 1,
    fields: {
      ...common,
      amount: true,
      amount_received: true,
      currency: true,
      payment_method_types: true,
      latest_charge: true,
      description: true,
      metadata: true,
      last_payment_error: true,
      return_url: true,
      canceled_at: true,
      cancellation_reason: true,
      checkout_session: true,
      network_call: true,
    },
    dictionary: ['currency', 'status'],
    upcasters: [],
  },
  charge: {
    number: 2,
    fields: {
      ...common,
      amount: true,
      amount_refunded: true,
      amount_refund_pending: true,
      currency: true,
      method: true,
      failure_code: true,
      failure_message: true,
      decline_code: true,
      card: true,
      cash_agent: true,
      challenge_token: true,
      authorization: true,
      metadata: true,
      expires_at_ms: true,
      deadline_ms: true,
      settled_at_ms: true,
    },
    dictionary: ['currency', 'status', 'method', 'failure_code', 'decline_code'],
    upcasters: [],
  },
  checkout_session: {
    number: 3,
    fields: {
      ...common,
      amount: true,
      currency: true,
      payment_method_types: true,
      payment_intent: true,
      success_url: true,
      cancel_url: true,
      customer: true,
      client_reference_id: true,
      description: true,
      locale: true,
      metadata: true,
      expires_at_ms: true,
      deadline_ms: true,
    },
    dictionary: ['currency', 'status'],
    upcasters: [],
  },
  customer: {
    number: 4,
    fields: {
      ...common,
      name: true,
      phone: true,
      description: true,
      metadata: true,
    },
    upcasters: [],
  },
  refund: {
    number: 5,
    fields: {
      ...common,
      amount: true,
      currency: true,
      charge: true,
      reason: true,
      failure_reason: true,
      metadata: true,
      settled_at_ms: true,
    },
    dictionary: ['currency', 'status'],
    upcasters: [],
  },
  review: {
    number: 6,
    fields: {
      ...common,
      payment_intent: true,
      charge: true,
      reason: true,
      amount_expected: true,
      amount_received: true,
      closed_reason: true,
      currency_received: true,
    },
    dictionary: ['currency_received'],
    // 2: the currency of what was received.
    upcasters: [(values) => [...values, receivedIn(values)]],
  },
  event: {
    number: 7,
    fields: {
      ...common,
      api_version: true,
      request_id: true,
      idempotency_key: true,
      by: true,
      by_name: true,
      sample: true,
      // Last, because a stored response with the same text may stand in its place (see codec.ts).
      object_json: true,
    },
    dictionary: ['type', 'api_version', 'by'],
    // 2: `by` and `by_name`, before the object; 3: whether it is a sample, there, too.
    upcasters: [
      (values) => [...values.slice(0, -1), null, null, values.at(-1)],
      (values) => [...values.slice(0, -1), false, values.at(-1)],
    ],
  },
  webhook_endpoint: {
    number: 8,
    fields: {
      ...common,
      url: true,
      enabled_events: true,
      metadata: true,
      api_version: true,
      secrets: true,
      by_hand: true,
      failed_resent_at_ms: true,
    },
    dictionary: ['status', 'api_version'],
    // 2: what may be sent by hand, and when all that failed was sent again.
    upcasters: [(values) => [...values, null, null]],
  },
  delivery: {
    number: 9,
    fields: {
      ...common,
      event_type: true,
      attempt_count: true,
      tries: true,
      first_at_ms: true,
      first_duration_ms: true,
      first_status: true,
      answered: true,
    },
    dictionary: ['event_type', 'status'],
    // 2: the first attempt that succeeded, and the attempts whose answers are kept.
    upcasters: [(values) => [...values, null, null, null, []]],
  },
  attempt: {
    number: 10,
    fields: {
      ...common,
      at_ms: true,
      duration_ms: true,
      status: true,
      failure: true,
      answer: true,
    },
    // 2: `serial`, after the delivery.
    upcasters: [([delivery, ...rest]) => [delivery, null, ...rest]],
  },
  network_call: {
    number: 11,
    fields: {
      ...common,
      action: true,
      payment_intent: true,
      charge: true,
      refund: true,
      card_token: true,
      return_url: true,
      accepted: true,
      request: true,
    },
    // 2: the request names its member.
    upcasters: [(values) => [...values.slice(0, -1), withMember(values.at(-1))]],
  },
  day_total: {
    number: 12,
    fields: {
      ...common,
      card_received: true,
      card_succeeded: true,
      card_failed: true,
      card_unpaid: true,
      cash_received: true,
      cash_succeeded: true,
      cash_failed: true,
      cash_unpaid: true,
      refunded: true,
      refunds: true,
    },
    upcasters: [],
  },
  payment_link: {
    number: 13,
    fields: {
      ...common,
      amount: true,
      currency: true,
      payment_method_types: true,
      description: true,
      client_reference_id: true,
      success_url: true,
      single_use: true,
      paused: true,
      ends_at_ms: true,
      deadline_ms: true,
      session: true,
      made_in_hour: true,
      made_with: true,
    },
    dictionary: ['currency'],
    upcasters: [],
  },
};

/** A layout in the form that the functions below use. */
interface Compiled {
  readonly kind: RecordKind;
  readonly number: number;
  readonly names: readonly string[];
  /** How many of these are indexed: they come first. */
  readonly indexed: number;
  /** The position of the metadata among the values; -1 when the kind has none. */
  readonly metadataAt: number;
  /** The positions of values that may be numbers in the dictionary. */
  readonly dictionaryAt: readonly number[];
  readonly upcasters: readonly Upcaster[];
  /** The version that records are written in. */
  readonly version: number;
}

const byKind = new Map<RecordKind, Compiled>();
const byNumber: Compiled[] = [];
for (const kind of Object.keys(layouts) as RecordKind[]) {
  const { number, fields, dictionary: listed = [], upcasters } = layouts[kind];
  const names = [...indexedFields[kind], ...Object.keys(fields)];
  const indexed = indexedFields[kind].length;
  const metadataAt = names.indexOf('metadata');
  const dictionaryAt = listed.map((name) => names.indexOf(name));
  const version = upcasters.length + 1;
  const compiled = { kind, number, names, indexed, metadataAt, dictionaryAt, upcasters, version };
  byKind.set(kind, compiled);
  byNumber[number] = compiled;
}

export const recordFields: ReadonlyMap<string, readonly string[]> = new Map(
  [...byKind].map(([kind, { names }]) => [kind, [...headNames, ...names]]),
);

export const layoutVersions: Readonly<Record<string, number>> = Object.fromEntries(
  [...byKind].map(([kind, { version }]) => [kind, version]),
);

function compiledOf(kind: RecordKind): Compiled {
  return defined(byKind.get(kind), 'every kind of record has a layout');
}

/** The number of a kind, and the version in which its records are written. */
export function numbersOf(kind: RecordKind): Pick<Compiled, 'number' | 'version'> {
  return compiledOf(kind);
}

export function kindOf(number: number): RecordKind {
  const layout = byNumber[number];
  assert(layout !== undefined, `kind ${number} of a record is known`);
  return layout.kind;
}

export function valuesOf(record: StoredRecord): unknown[] {
  const { names, metadataAt, dictionaryAt } = compiledOf(record.kind);
  const values = new Array<unknown>(names.length);
  for (let i = 0; i < names.length; i++) values[i] = record[names[i] as 'created'];
  for (const at of dictionaryAt) values[at] = dictionaryNumbers.get(values[at]) ?? values[at];
  if (metadataAt >= 0) values[metadataAt] = flat((record as { metadata: Metadata }).metadata);
  return values;
}

/** The record with this head, whose values were written in this version. */
export function recordOf(head: RecordHead, version: number, written: unknown[]): StoredRecord {
  const { kind, names, metadataAt, dictionaryAt, upcasters, version: newest } = compiledOf(head.kind);
  assert(version >= 1 && version <= newest, `version ${version} of a ${kind} is known`);
  let values = written;
  for (let older = version; older < newest; older++) values = elementAt(upcasters, older - 1)(values);
  for (const at of dictionaryAt) if (typeof values[at] === 'number') values[at] = dictionary[values[at]];
  const record = head as unknown as Record<string, unknown>;
  for (let i = 0; i < names.length; i++) record[names[i]!] = values[i];
  if (metadataAt >= 0) record.metadata = unflat(values[metadataAt] as readonly string[]);
  return record as unknown as StoredRecord;
}

/**
 * How many of the first values are indexed fields; null of an older version, in which they may be
 * elsewhere.
 */
export function indexedIn(kind: RecordKind, version: number): number | null {
  const { indexed, version: newest } = compiledOf(kind);
  return version === newest ? indexed : null;
}

/** `values` begins with what `indexedIn` says. */
export function indexedOf(head: RecordHead, values: readonly unknown[]): IndexedRecord {
  const { names, indexed, dictionaryAt } = compiledOf(head.kind);
  const record = head as unknown as Record<string, unknown>;
  for (let i = 0; i < indexed; i++) {
    const value = values[i];
    record[names[i]!] = typeof value === 'number' && dictionaryAt.includes(i) ? dictionary[value] : value;
  }
  return record as unknown as IndexedRecord;
}

function flat(metadata: Metadata): string[] {
  const list: string[] = [];
  for (const [name, value] of Object.entries(metadata)) list.push(name, value);
  return list;
}

function unflat(list: readonly string[]): Metadata {
  const metadata: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) {
    const [name, value] = [elementAt(list, i), elementAt(list, i + 1)];
    if (name === '__proto__')
      Object.defineProperty(metadata, name, { value, enumerable: true, configurable: true, writable: true });
    else metadata[name] = value;
  }
  return metadata;
}
