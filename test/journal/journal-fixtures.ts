// Records, turns and temporary folders for the tests of the journal.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { slotCount } from '../../src/core/slot.ts';
import { type ShardIdentity, tagOf } from '../../src/disk/identity.ts';
import { causes } from '../../src/domain/cause.ts';
import type { IndexedRecord } from '../../src/domain/indexes.ts';
import type { Change, CustomerRecord, EventRecord, PaymentIntentRecord } from '../../src/domain/record.ts';
import type { IndexRow } from '../../src/domain/view.ts';
import type { Entry, Journal, LogBatch, OwnJournal, ReplayedEntry } from '../../src/journal/journal.ts';
import { type JournalOptions, openJournal } from '../../src/journal/open-journal.ts';
import { type EncodedRecord, encodeRecord } from '../../src/journal/records/record-bytes.ts';

export const startMs = Date.UTC(2026, 10, 1);

/** Whose the tests' journals are. */
export const identity: ShardIdentity = { folder: '0123456789abcdef'.repeat(2), generation: 0, shard: 1 };
export const tag = tagOf(identity);

export function paymentIntent(
  number: number,
  fields: Partial<PaymentIntentRecord> = {},
): PaymentIntentRecord {
  return {
    kind: 'payment_intent',
    id: `pi_${String(number).padStart(26, '0')}`,
    org: 'org_000000000000000000000001',
    livemode: false,
    created: 1_790_000_000 + number,
    amount: 10_000 + number,
    amount_received: 0,
    currency: 'mad',
    status: 'requires_payment_method',
    payment_method_types: ['card'],
    latest_charge: null,
    customer: null,
    description: `Order ${number}`,
    metadata: { order_id: `order-${number}`, cart: `cart-${number}` },
    last_payment_error: null,
    return_url: null,
    canceled_at: null,
    cancellation_reason: null,
    checkout_session: null,
    network_call: null,
    ...fields,
  };
}

export function paymentIntentCreated(intent: PaymentIntentRecord): EventRecord {
  return {
    kind: 'event',
    id: intent.id.replace('pi_', 'evt_'),
    org: intent.org,
    livemode: intent.livemode,
    created: intent.created,
    type: 'payment_intent.created',
    api_version: '2026-11-01',
    object_json: JSON.stringify(intent),
    request_id: intent.id.replace('pi_', 'req_'),
    idempotency_key: `key of ${intent.id}`,
    by: 'request',
    by_name: null,
    sample: false,
  };
}

export function customer(number: number, email: string): CustomerRecord {
  const { org, livemode, created } = paymentIntent(number);
  const id = `cus_${String(number).padStart(26, '0')}`;
  const rest = { name: null, phone: null, description: null, metadata: {}, deleted: false };
  return { kind: 'customer', id, org, livemode, created, email, ...rest };
}

/** An entry that creates a payment intent; with `keep`, its answer is kept. */
export function createEntry(number: number, keep = false): Entry {
  const intent = paymentIntent(number);
  const idempotency = keep
    ? {
        keyDigest: digest(number),
        fingerprint: digest(number + 0.5),
        slot: number % slotCount,
        status: 200,
        requestId: intent.id.replace('pi_', 'req_'),
        body: Buffer.from(JSON.stringify({ object: 'payment_intent', ...intent, note: 'شكرا' })),
        defaults: number % 2 === 0 ? '' : JSON.stringify({ amount: number, name: 'é' }),
      }
    : null;
  return { changes: [intent, paymentIntentCreated(intent)], idempotency, cause: causes.request };
}

export function digest(number: number): Uint8Array {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setFloat64(3, number);
  return bytes;
}

/** A turn whose entry `i` creates the payment intent numbered like its sequence; every other one keeps its answer. */
export function turnAt(firstSequence: number, entries: number, timeMs = startMs): LogBatch {
  const numbers = Array.from({ length: entries }, (_, index) => firstSequence + index);
  return {
    firstSequence,
    timeMs,
    wallMs: timeMs,
    entries: numbers.map((number) => createEntry(number, number % 2 === 1)),
  };
}

/** Appends turns of the sizes given, one after the other, and waits until they are durable. */
export async function appendTurns(
  journal: Journal,
  sizes: readonly number[],
  timeMs = startMs,
): Promise<void> {
  for (const size of sizes) await journal.log.append(turnAt(journal.log.nextSequence, size, timeMs)).durable;
}

/** Indexes as a shard might have: of all intents, by status, and customers by email. */
export function indexRowsOf(record: IndexedRecord): IndexRow[] {
  if (record.kind === 'customer')
    return record.email === null
      ? []
      : [{ list: 'customer/email=', value: record.email, sortKey: record.id }];
  const whole = { value: null, sortKey: record.id };
  if (record.kind !== 'payment_intent') return [{ list: record.kind, ...whole }];
  return [
    { list: 'payment_intent', ...whole },
    { list: `payment_intent/status/${record.status}`, ...whole },
  ];
}

/** The change of an entry that goes round 2,000 payment intents and gives them one status and the other by turns. */
export function cycledChange(sequence: number): PaymentIntentRecord {
  const isOdd = Math.floor(sequence / 2_000) % 2 === 1;
  return paymentIntent(sequence % 2_000, {
    amount: sequence,
    status: isOdd ? 'succeeded' : 'requires_payment_method',
  });
}

export function encoded(records: readonly Change[]): EncodedRecord[] {
  return records.map(encodeRecord);
}

/** Replays a journal that was opened again, so that it can be appended to. */
export async function recovered<J extends Journal>(journal: J): Promise<J> {
  for await (const _ of journal.replay());
  return journal;
}

/** All entries that the journal replays. */
export async function replayOf(journal: Pick<Journal, 'replay'>): Promise<ReplayedEntry[]> {
  const replayed: ReplayedEntry[] = [];
  for await (const entries of journal.replay()) replayed.push(...entries);
  return replayed;
}

export function sequencesOf(replayed: readonly ReplayedEntry[]): number[] {
  return replayed.map((entry) => entry.sequence);
}

export function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The journal in a folder, which it makes if there is none. */
export function journalIn(dir: string, options: Partial<JournalOptions> = {}): Promise<OwnJournal> {
  return openJournal({ dir, identity, indexRowsOf, ...options });
}

/** Options of a small journal in which each turn has a segment of its own. */
export function segmentEachTurn(dir: string, of = identity) {
  return { dir, identity: of, indexRowsOf, segmentBytesMax: 1, mapSizes: { log: 1 << 20, state: 1 << 22 } };
}

export function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

/** Turns each bit of a byte. */
export function flip(file: string, at: number): void {
  overwrite(file, at, Buffer.of(readFileSync(file)[at]! ^ 0xff));
}
