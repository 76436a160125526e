// What the model of the domain works on: the records as they must be, and the turn of one command, which collects what the
// command must change. The ids that a turn gives are those that the service gave, which the model can't know.

import type { EventType } from '../../../src/contract/vocabulary.ts';
import { type IdLeads, noLeads } from '../../../src/core/ids.ts';
import type { Context } from '../../../src/domain/decision.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../../../src/domain/record.ts';

/** What is known of who asks, when, and for whom. */
export type Asked = Pick<
  Context,
  | 'nowMs'
  | 'serviceMs'
  | 'org'
  | 'livemode'
  | 'account'
  | 'settings'
  | 'language'
  | 'apiVersion'
  | 'request'
  | 'cause'
  | 'endpointsBusy'
  | 'addressAllowed'
> & {
  /** How far ids were ever ahead of their times. */
  readonly idLeads?: IdLeads;
};

type Writable<R> = { -readonly [Name in keyof R]: R[Name] };
export type RecordHere<K extends RecordKind> = Writable<RecordOf<K>>;

export class Table {
  readonly #kinds = new Map<RecordKind, Map<string, StoredRecord>>();

  constructor(records: Iterable<StoredRecord>) {
    for (const record of records) this.apply(record);
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    return this.#kinds.get(kind)?.get(id) as RecordOf<K> | undefined;
  }

  /** The records of a kind, in the order in which they came. */
  all<K extends RecordKind>(kind: K): Iterable<RecordOf<K>> {
    return (this.#kinds.get(kind)?.values() ?? []) as Iterable<RecordOf<K>>;
  }

  apply(change: Change): void {
    const records = this.#kinds.get(change.kind) ?? new Map<string, StoredRecord>();
    this.#kinds.set(change.kind, records);
    if (change.removed) records.delete(change.id);
    else records.set(change.id, change);
  }
}

export class Turn {
  readonly asked: Asked;
  readonly changes = new Map<string, StoredRecord>();
  /** The network calls to be made, by their ids. */
  readonly calls: string[] = [];
  /** What the service has made, of which chance is taken. */
  readonly made: readonly Change[];
  readonly #table: Table;
  readonly #given = new Set<string>();

  constructor(table: Table, asked: Asked, changes: readonly Change[]) {
    this.#table = table;
    this.asked = asked;
    this.made = changes.filter(({ kind, id }) => table.get(kind, id) === undefined);
  }

  get<K extends RecordKind>(kind: K, id: string | null): RecordOf<K> | undefined {
    if (id === null) return undefined;
    const changed = this.changes.get(id);
    if (changed === undefined) return this.#table.get(kind, id);
    return changed.kind === kind && !changed.removed ? (changed as RecordOf<K>) : undefined;
  }

  /** A record that another one names. */
  the<K extends RecordKind>(kind: K, id: string | null): RecordHere<K> {
    const record = this.get(kind, id);
    if (record === undefined) throw new Error(`the model has no ${kind} ${id}`);
    return record;
  }

  /** Whether a record belongs to the organization and mode. */
  isOwn({ org, livemode }: Pick<StoredRecord, 'org' | 'livemode'>): boolean {
    return org === this.asked.org && livemode === this.asked.livemode;
  }

  /** The records of the organization and mode, as they were before the turn. */
  own<K extends RecordKind>(kind: K): RecordOf<K>[] {
    return [...this.#table.all(kind)].filter((each) => this.isOwn(each));
  }

  /** The records of all, as they were before the turn. */
  everybodys<K extends RecordKind>(kind: K): Iterable<RecordOf<K>> {
    return this.#table.all(kind);
  }

  put<R extends StoredRecord>(record: R): R {
    this.changes.set(record.id, record);
    return record;
  }

  /** Changes some fields of a record. */
  change<K extends RecordKind>(
    kind: K,
    id: string | null,
    fields: Partial<Omit<RecordOf<K>, 'kind' | 'id'>>,
  ): RecordOf<K> {
    return this.put({ ...this.the(kind, id), ...fields } as RecordOf<K>);
  }

  remove(record: StoredRecord): void {
    this.changes.set(record.id, { ...record, removed: true });
  }

  get idLeads(): IdLeads {
    return this.asked.idLeads ?? noLeads;
  }

  get seconds(): number {
    return Math.floor(this.asked.nowMs / 1000);
  }

  /** What every new record of a kind begins with. */
  fresh<K extends RecordKind>(kind: K) {
    const { org, livemode } = this.asked;
    return { kind, id: this.#newId(kind), org, livemode, created: this.seconds };
  }

  #newId(kind: RecordKind): string {
    const next = this.made.find((each) => each.kind === kind && !this.#given.has(each.id));
    const id = next?.id ?? `a ${kind} that was not made, ${this.#given.size}`;
    this.#given.add(id);
    return id;
  }

  /** A record that the service made has something that chance decides. */
  chanceOf<K extends RecordKind>(kind: K): RecordOf<K> | undefined {
    return this.made.find((each) => each.kind === kind) as RecordOf<K> | undefined;
  }

  /** An event about an object, and what every endpoint that wants it is owed. */
  emit(type: EventType, object: object): void {
    const { request, cause, apiVersion } = this.asked;
    const event = this.put<RecordOf<'event'>>({
      ...this.fresh('event'),
      type,
      api_version: apiVersion,
      object_json: JSON.stringify(object),
      request_id: request === null ? null : request.request_id,
      idempotency_key: request === null ? null : request.idempotency_key,
      by: cause.by,
      by_name: cause.name ?? request?.member ?? null,
      sample: false,
    });
    const endpoints = this.own('webhook_endpoint')
      .filter(({ status }) => status === 'enabled')
      .filter(({ enabled_events: wanted }) => wanted.some((each) => each === '*' || each === type))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id } of endpoints) this.owe(id, event);
  }

  owe(endpoint: string, event: RecordOf<'event'>): RecordOf<'delivery'> {
    return this.put<RecordOf<'delivery'>>({
      ...this.fresh('delivery'),
      endpoint,
      event: event.id,
      event_type: event.type,
      status: 'pending',
      due_at_ms: this.asked.serviceMs,
      ended_at_ms: null,
      attempt_count: 0,
      tries: 0,
      ...{ first_at_ms: null, first_duration_ms: null, first_status: null, answered: [] },
    });
  }

  /** A call to a network. `fields` is what it is about. */
  call(
    action: RecordOf<'network_call'>['action'],
    fields: Partial<RecordOf<'network_call'>>,
  ): RecordOf<'network_call'> {
    const call = this.put<RecordOf<'network_call'>>({
      ...this.fresh('network_call'),
      ...{ action, payment_intent: '', charge: null, refund: null, card_token: null, cash_number: null },
      ...{ return_url: null, accepted: false, request: null },
      ...fields,
    });
    this.calls.push(call.id);
    return call;
  }
}

/** What a command must come to, besides what it changes. */
export type Expected =
  | { readonly answer: unknown; readonly stored?: unknown }
  | { readonly result: unknown }
  | { readonly refused: string; readonly param?: string | undefined }
  | { readonly waiterRefused: string }
  | { readonly waitsFor: string }
  | { readonly checks: string };

export const refuse = (refused: string, param?: string): Expected & { readonly refused: string } => ({
  refused,
  param,
});
