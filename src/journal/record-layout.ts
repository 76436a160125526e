// How a record lies as bytes, in the log and in the checkpoint alike: a checksum (see checksum.ts), then
// msgpack, one array: [number of the kind, version of the kind's layout, whether the record is removed, values …]. The
// values come in the order in which the layout names the fields, so no name is written.
//
// A layout is fixed once a version of the service was released with it. To add, rename or drop a field: change the kind's
// `fields`, and give it an upcaster, which makes the values of the version before into those of the new one. A record
// of any older version is taken through all upcasters that follow when it is read; it is written in the newest version
// with its next change. The files under test/journal/golden hold records of every version.
//
// Metadata has names that merchants choose: it is packed as a flat list, because msgpackr renames a field `__proto__`.

import { Packr } from 'msgpackr';
import { assert } from '../core/assert.ts';
import type { Metadata, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import { verifyChecksum, withChecksum } from './checksum.ts';

/** Makes the values of one version into those of the next. */
type Upcaster = (values: readonly unknown[]) => unknown[];

interface Layout<K extends RecordKind> {
  /** Never given to another kind. */
  readonly number: number;
  /** Every field, in the order of its values. */
  readonly fields: Readonly<Record<Exclude<keyof RecordOf<K>, 'kind' | 'removed'>, true>>;
  /** From version 1 to 2, from 2 to 3, …: there is one version more than there are upcasters. */
  readonly upcasters: readonly Upcaster[];
}

const common = { id: true, org: true, livemode: true, created: true } as const;

const layouts: { readonly [K in RecordKind]: Layout<K> } = {
  payment_intent: {
    number: 1,
    fields: {
      ...common,
      amount: true,
      amount_received: true,
      currency: true,
      status: true,
      payment_method_types: true,
      latest_charge: true,
      customer: true,
      description: true,
      metadata: true,
      last_payment_error: true,
      return_url: true,
      canceled_at: true,
      cancellation_reason: true,
      checkout_session: true,
      network_call: true,
    },
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
      status: true,
      method: true,
      payment_intent: true,
      failure_code: true,
      failure_message: true,
      decline_code: true,
      card: true,
      cash_number: true,
      cash_agent: true,
      challenge_token: true,
      authorization: true,
      metadata: true,
      expires_at_ms: true,
      deadline_ms: true,
      due_at_ms: true,
    },
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
      status: true,
      success_url: true,
      cancel_url: true,
      customer: true,
      client_reference_id: true,
      description: true,
      locale: true,
      metadata: true,
      expires_at_ms: true,
      deadline_ms: true,
      due_at_ms: true,
    },
    upcasters: [],
  },
  customer: {
    number: 4,
    fields: {
      ...common,
      email: true,
      name: true,
      phone: true,
      description: true,
      metadata: true,
      deleted: true,
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
      payment_intent: true,
      reason: true,
      status: true,
      failure_reason: true,
      metadata: true,
    },
    upcasters: [],
  },
  review: {
    number: 6,
    fields: {
      ...common,
      payment_intent: true,
      charge: true,
      open: true,
      reason: true,
      amount_expected: true,
      amount_received: true,
      closed_reason: true,
    },
    upcasters: [],
  },
  event: {
    number: 7,
    fields: {
      ...common,
      type: true,
      api_version: true,
      object_json: true,
      request_id: true,
      idempotency_key: true,
    },
    upcasters: [],
  },
  webhook_endpoint: {
    number: 8,
    fields: {
      ...common,
      url: true,
      enabled_events: true,
      status: true,
      draining: true,
      metadata: true,
      api_version: true,
      secrets: true,
    },
    upcasters: [],
  },
  delivery: {
    number: 9,
    fields: {
      ...common,
      endpoint: true,
      event: true,
      event_type: true,
      status: true,
      due_at_ms: true,
      ended_at_ms: true,
      attempt_count: true,
      tries: true,
    },
    upcasters: [],
  },
  attempt: {
    number: 10,
    fields: {
      ...common,
      delivery: true,
      at_ms: true,
      duration_ms: true,
      status: true,
      failure: true,
      answer: true,
    },
    upcasters: [],
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
      cash_number: true,
      return_url: true,
      accepted: true,
      request: true,
    },
    upcasters: [],
  },
};

/** A layout as the loops below want it. */
interface Compiled {
  readonly kind: RecordKind;
  readonly number: number;
  readonly names: readonly string[];
  /** Where the metadata lies among the values; -1: the kind has none. */
  readonly metadataAt: number;
  /** Where an event's object lies; -1: the kind is another. */
  readonly objectAt: number;
  readonly upcasters: readonly Upcaster[];
}

const byKind = new Map<RecordKind, Compiled>();
const byNumber: Compiled[] = [];
for (const kind of Object.keys(layouts) as RecordKind[]) {
  const { number, fields, upcasters } = layouts[kind];
  const names = Object.keys(fields);
  const compiled = {
    kind,
    number,
    names,
    metadataAt: names.indexOf('metadata'),
    objectAt: names.indexOf('object_json'),
    upcasters,
  };
  byKind.set(kind, compiled);
  byNumber[number] = compiled;
}

/** The names of the fields of each kind of record. */
export const recordFields: ReadonlyMap<string, readonly string[]> = new Map(
  [...byKind].map(([kind, { names }]) => [kind, names]),
);

/** The version that records of each kind are written in. */
export const layoutVersions: Readonly<Record<string, number>> = Object.fromEntries(
  [...byKind].map(([kind, { upcasters }]) => [kind, upcasters.length + 1]),
);

/** Values before those of the fields: number of the kind, version, whether it is removed. */
const headValues = 3;
// Bytes within a record are copied out: what is decoded is mostly LMDB's own buffer, lent until its next read.
const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });

/**
 * A record as msgpack, without its checksum: a view of a buffer that is not written again. An event whose object is
 * `shared` (the response that lies in the same log entry) leaves it out: it is given back when the record is read.
 */
export function packRecord(record: StoredRecord, shared: string | null = null): Buffer {
  const { number, names, metadataAt, objectAt, upcasters } = byKind.get(record.kind)!;
  const values = new Array<unknown>(headValues + names.length);
  values[0] = number;
  values[1] = upcasters.length + 1;
  values[2] = record.removed === true;
  for (let i = 0; i < names.length; i++) values[headValues + i] = record[names[i] as 'id'];
  if (metadataAt >= 0) values[headValues + metadataAt] = flat((record as { metadata: Metadata }).metadata);
  if (objectAt >= 0 && values[headValues + objectAt] === shared) values[headValues + objectAt] = null;
  return packr.pack(values);
}

/** The bytes of a record on its own. */
export function encodeRecord(record: StoredRecord): Buffer {
  return withChecksum(packRecord(record));
}

/** The record in these bytes; null when they are damaged. `shared` is what `packRecord` got. */
export function decodeRecord(bytes: Buffer, shared: () => string | null = () => null): StoredRecord | null {
  const content = verifyChecksum(bytes);
  if (content === null) return null;
  const [number, version, removed, ...stored] = packr.unpack(content) as [
    number,
    number,
    boolean,
    ...unknown[],
  ];
  const layout = byNumber[number];
  assert(layout !== undefined, `kind ${number} of a record is known`);
  assert(version <= layout.upcasters.length + 1, `version ${version} of a ${layout.kind} is known`);
  const values = layout.upcasters
    .slice(version - 1)
    .reduce<unknown[]>((older, upcast) => upcast(older), stored);
  const record: Record<string, unknown> = { kind: layout.kind };
  for (let i = 0; i < layout.names.length; i++) record[layout.names[i]!] = values[i];
  if (layout.metadataAt >= 0) record.metadata = unflat(values[layout.metadataAt] as readonly string[]);
  if (layout.objectAt >= 0) record.object_json ??= shared();
  if (removed) record.removed = true;
  return record as unknown as StoredRecord;
}

function flat(metadata: Metadata): string[] {
  const list: string[] = [];
  for (const name of Object.keys(metadata)) list.push(name, metadata[name]!);
  return list;
}

function unflat(list: readonly string[]): Metadata {
  const metadata: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) {
    const [name, value] = [list[i]!, list[i + 1]!];
    if (name === '__proto__')
      Object.defineProperty(metadata, name, { value, enumerable: true, configurable: true, writable: true });
    else metadata[name] = value;
  }
  return metadata;
}
