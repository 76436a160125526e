// `payments verify` for one shard. It checks every record with the invariants of the state machine,
// the events and the checkpoint's index rows against the records, and the idempotency records
// against the stored responses. It reads the checkpoint with the rest of the log on top, as the
// shard itself would. It changes nothing, and its memory does not grow with the number of records.

import { kindOfId } from '../contract/id-prefixes.ts';
import { AssertionFailure } from '../core/assert.ts';
import { slotOfId, timeOfId } from '../core/ids.ts';
import { slotOf } from '../core/slot.ts';
import { StreamDifference } from '../core/stream-difference.ts';
import { partNamesOf, partsOf } from '../domain/day-totals.ts';
import { expectedEvents } from '../domain/expected-events.ts';
import { indexNameOf, indexRowsOf } from '../domain/indexes.ts';
import { faultsOf, subjectOf } from '../domain/invariants.ts';
import type { EventRecord, StoredRecord } from '../domain/record.ts';
import type { View } from '../domain/view.ts';
import { type IdempotencyRecord, JournalDamaged, nowhere } from '../journal/journal.ts';
import type { StoppedJournal } from '../journal/stopped-journal.ts';
import type { Verification } from '../operator/results/folder-results.ts';
import { shardOfOrganization, shardOfSlot } from '../shard/shard-map.ts';
import { StoppedShard } from './stopped-shard.ts';

/** What a finding is about, which decides the advice (see verify-folder.ts). */
export type Subject = 'record' | 'event' | 'total' | 'index' | 'response' | 'damage' | 'place';

interface Found {
  readonly subject: Subject;
  /** The name of the check that failed. */
  readonly check: string;
  /** The id of the object, if it is about one. */
  readonly object: string | null;
  readonly what: string;
}

interface ShardVerification {
  readonly journal: StoppedJournal;
  readonly number: number;
  readonly shards: number;
  readonly knowsOrganization: (org: string) => boolean;
  readonly onFinding: (found: Found) => void;
  /** Called now and then with the number of records or rows that were checked. */
  readonly onProgress: (what: string, done: number, total: number) => void;
}

/** Stored responses that can't be read for one reason: a segment may have had very many. */
interface UnreadResponses {
  /** The digest of one of their idempotency keys. */
  readonly key: string;
  readonly count: number;
  /** The commit batches that they were in, by their first sequences. */
  readonly first: number;
  readonly last: number;
}

type Verified = Pick<Verification, 'records' | 'events' | 'responses'>;

const progressEvery = 16_384;

export function verifyShard(verification: ShardVerification): Promise<Verified> {
  return new ShardVerifier(verification).run();
}

class ShardVerifier {
  readonly #options: ShardVerification;
  readonly #shard: StoppedShard;
  readonly #index = new StreamDifference();
  readonly #events = new StreamDifference();
  readonly #dayTotals = new StreamDifference();
  readonly #unknown = new Set<string>();
  /** The time in the id up to which events may have been removed. */
  readonly #eventsFromMs: number;
  #isDamaged = false;
  #recordCount = 0;
  #eventCount = 0;

  constructor(options: ShardVerification) {
    this.#options = options;
    this.#shard = new StoppedShard(options.journal);
    this.#eventsFromMs = this.#shard.retention.horizonMs;
  }

  async run(): Promise<Verified> {
    const { reader } = this.#options.journal;
    try {
      await this.#shard.replay();
    } catch (error) {
      this.#damaged(null, error);
    }
    for (const record of this.#stored((id, error) => this.#damaged(id, error))) {
      for (const row of indexRowsOf(record))
        this.#index.expect(reader.keyOf(row)?.toString('latin1') ?? `${indexNameOf(row)} ${row.sortKey}`);
      if (!this.#shard.isInLog(record.id)) this.#verify(record);
    }
    for (const record of this.#shard.changedInLog()) this.#verify(record);
    this.#compareIndex();
    this.#compareEvents();
    this.#compareDayTotals();
    const responses = this.#verifyResponses();
    return { records: this.#recordCount, events: this.#eventCount, responses };
  }

  #found(subject: Subject, check: string, object: string | null, what: string): void {
    this.#options.onFinding({ subject, check, object, what });
  }

  #damaged(id: string | null, error: unknown): void {
    if (!(error instanceof JournalDamaged || error instanceof AssertionFailure)) throw error;
    this.#isDamaged = true;
    this.#found('damage', 'readable', id, error.message);
  }

  /** The records of the checkpoint, which the log may have newer values of. */
  *#stored(onDamage: (id: string, error: Error) => void): Generator<StoredRecord> {
    const { checkpoint } = this.#options.journal;
    const total = checkpoint.recordCount;
    let done = 0;
    for (const record of checkpoint.records(onDamage)) {
      if (done++ % progressEvery === 0) this.#options.onProgress('records', done, total);
      yield record;
    }
  }

  #verify(record: StoredRecord): void {
    this.#recordCount++;
    this.#takeEvents(record);
    this.#takeParts(record);
    this.#verifyPlace(record);
    try {
      for (const { invariant, what } of faultsOf(record, this.#shard.records))
        this.#found('record', invariant, record.id, what);
    } catch (error) {
      this.#damaged(record.id, error);
    }
    if (record.kind === 'event') this.#eventCount++;
  }

  /** A record lies in the shard that owns its organization, which the directory knows. */
  #verifyPlace({ id, org }: StoredRecord): void {
    const { number, shards, knowsOrganization } = this.#options;
    const slot = slotOfId(id);
    if (shardOfOrganization(org, shards) !== number)
      this.#found(
        'place',
        'shard',
        id,
        `belongs to ${org}, whose shard is ${shardOfOrganization(org, shards)}`,
      );
    if (slot >= 0 && slot !== slotOf(org))
      this.#found('place', 'slot', id, `belongs to ${org}, and its id says another organization`);
    if (knowsOrganization(org) || this.#unknown.has(org)) return;
    this.#unknown.add(org);
    this.#found('place', 'organization', org, `has records, such as ${id}, and is not in the directory`);
  }

  /** Whether the object is younger than the oldest events that must exist. */
  #hasAllEvents(object: string): boolean {
    return timeOfId(object) > this.#eventsFromMs;
  }

  #takeEvents(record: StoredRecord): void {
    if (record.kind === 'event') {
      const object = subjectOf(record);
      if (object !== null && this.#hasAllEvents(object) && !isSample(record, object, this.#shard.records))
        this.#events.find(`${record.type} ${object}`);
      return;
    }
    for (const [type, object] of expectedEvents(record))
      if (this.#hasAllEvents(object)) this.#events.expect(`${type} ${object}`);
  }

  #compareIndex(): void {
    const { reader } = this.#options.journal;
    this.#options.onProgress('index rows', 0, 1);
    reader.eachIndexRow((key) => this.#index.find(key.toString('latin1')));
    // The rows of a record that can't be read are not known, so they are not reported.
    if (this.#isDamaged || !this.#index.isDifferent()) return;
    for (const record of this.#stored(() => {}))
      for (const what of reader.missingRows(record, indexRowsOf(record)))
        this.#found('index', 'row_missing', record.id, what);
    reader.eachIndexRow((key) => {
      const what = reader.strayRow(key, indexRowsOf);
      if (what !== null) this.#found('index', 'row_stray', null, what);
    });
  }

  #compareEvents(): void {
    if (this.#isDamaged || !this.#events.isDifferent()) return;
    for (const record of this.#shard.all(() => {})) this.#takeEvents(record);
    for (const [text, surplus] of this.#events.differences()) {
      const [type, object = ''] = text.split(' ');
      const count = Math.abs(surplus);
      if (surplus > 0) this.#found('event', 'event_missing', object, `lacks ${count} event of type ${type}`);
      else this.#found('event', 'event_stray', object, `has ${count} event too many of type ${type}`);
    }
  }

  #takeParts(record: StoredRecord): void {
    const { counted, told } = partsOf(record);
    for (const [name, value] of counted) this.#dayTotals.expect(name, value);
    for (const [name, value] of told) this.#dayTotals.find(name, value);
  }

  #compareDayTotals(): void {
    if (this.#isDamaged || !this.#dayTotals.isDifferent()) return;
    const totals = new Map<string, string>();
    for (const record of this.#shard.all(() => {})) {
      this.#takeParts(record);
      if (record.kind !== 'day_total') continue;
      for (const name of partNamesOf(record)) if (this.#dayTotals.gathers(name)) totals.set(name, record.id);
    }
    for (const [name, surplus] of this.#dayTotals.differences())
      this.#found(
        'total',
        'day_total.sums',
        totals.get(name) ?? null,
        `the charges and refunds come to ${Math.abs(surplus)} ${surplus > 0 ? 'more' : 'less'} than the day's total says: ${name}`,
      );
  }

  /** Each idempotency record has its stored response, and is in the shard of its organization. */
  #verifyResponses(): number {
    const { number, shards, onProgress } = this.#options;
    const unread = new Map<string, UnreadResponses>();
    let responses = 0;
    try {
      for (const record of this.#shard.idempotencyRecords()) {
        const { keyDigest, location, slot } = record;
        const key = Buffer.from(keyDigest).toString('hex');
        if (responses++ % progressEvery === 0) onProgress('stored responses', responses, 0);
        if (shardOfSlot(slot, shards) !== number)
          this.#found('place', 'idempotency_record', key, `is of the slot ${slot}, whose shard is another`);
        if (location.record === nowhere.record) continue;
        const why = this.#responseFault(record);
        if (why === null) continue;
        const { count = 0, first = location.record, last = first } = unread.get(why) ?? {};
        const batches = { first: Math.min(first, location.record), last: Math.max(last, location.record) };
        unread.set(why, { key, count: count + 1, ...batches });
      }
    } catch (error) {
      this.#damaged(null, error);
    }
    for (const [why, { key, count, first, last }] of unread) {
      const subject = count === 1 ? 'its stored response' : `${count} stored responses`;
      const place = first === last ? `commit batch ${first}` : `commit batches ${first} to ${last}`;
      const what = `${subject}, of ${place}, can't be read: ${why}`;
      this.#found('response', 'stored_response', count === 1 ? key : null, what);
    }
    return responses;
  }

  #responseFault({ location, keyDigest }: IdempotencyRecord): string | null {
    try {
      const response = this.#options.journal.readResponse(location, keyDigest);
      return response === undefined ? 'the log does not have that any more' : null;
    } catch (error) {
      if (error instanceof JournalDamaged) return error.message;
      throw error;
    }
  }
}

/** Whether the event is a sample of test mode, which is about an object that never existed. */
function isSample({ livemode }: EventRecord, object: string, view: View): boolean {
  const kind = kindOfId(object);
  if (livemode || kind === undefined || kind === 'organization' || kind === 'request') return false;
  return view.get(kind, object) === undefined;
}
