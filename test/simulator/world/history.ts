// What a shard has appended to its log since its journal was laid out: the model that a restore is compared with. It is kept
// outside of every process, and says what the records were at each sequence, and which sequence belongs to a moment.

import type { StoredRecord } from '../../../src/domain/record.ts';
import type { Entry, KeyedResponse, LogBatch, ResponseLocation } from '../../../src/journal/journal.ts';
import type { BatchOnDisk } from '../tools/stored-log.ts';

export type Records = ReadonlyMap<string, StoredRecord>;

interface Batch {
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Of the owner that has appended it: at a sequence each appends once. */
  readonly epoch: number;
  /** Service time. */
  readonly timeMs: number;
  readonly wallMs: number;
  readonly entries: readonly Entry[];
  /** The stored responses of its entries, and where they lie. */
  readonly responses: readonly Responded[];
}

interface Responded {
  readonly location: ResponseLocation;
  readonly response: KeyedResponse;
  /** Service time. */
  readonly timeMs: number;
}

export class History {
  #base: Records | null = null;
  #baseSequence = 0;
  #batches: Batch[] = [];
  /**
   * What was appended, and was not certain to be there when the shard recovered. The disk may write it later, if nothing is in its
   * place.
   */
  #lost: Batch[] = [];
  /** The last sequence that the shard has recovered. */
  #recovered = 0;
  /** The last sequence that is durable for certain. */
  durable = 0;

  /** Service time of the newest batch; 0 without one. */
  get newestMs(): number {
    return this.#batches.at(-1)?.timeMs ?? 0;
  }

  /**
   * The shard has recovered with these records, and these batches are on the disk: what it had appended besides was lost, and
   * nobody was told of it.
   */
  recovered(nextSequence: number, records: Records, stored: readonly BatchOnDisk[]): void {
    if (this.#base === null) {
      this.#base = new Map(records);
      this.#baseSequence = nextSequence - 1;
      this.durable = this.#baseSequence;
    }
    this.found(nextSequence - 1, stored);
    this.#recovered = nextSequence - 1;
  }

  /**
   * The log ends with this sequence, and these of its batches are on the disk: what had been lost may have arrived, and may have
   * taken the place of what came later.
   */
  found(sequence: number, stored: readonly BatchOnDisk[]): void {
    const certain = Math.min(sequence, this.#certain);
    this.#lost.push(...this.#batches.filter(({ lastSequence }) => lastSequence > certain));
    this.#batches = this.#batches.filter(({ lastSequence }) => lastSequence <= certain);
    const epochs = new Map(stored.map(({ firstSequence, epoch }) => [firstSequence, epoch]));
    while (this.end < sequence) {
      const next = this.end + 1;
      const arrived = this.#lost.findLast(
        ({ firstSequence, lastSequence, epoch }) =>
          firstSequence === next && lastSequence <= sequence && epoch === epochs.get(next),
      );
      if (arrived === undefined) return;
      this.#batches.push(arrived);
    }
  }

  /** The last sequence that is on disk for certain: whoever appended it was told so, or a later owner has found it. */
  get #certain(): number {
    return Math.max(this.durable, this.#recovered);
  }

  /** What was restored from another log, up to a sequence, has the past of that one. */
  continues(other: History, sequence: number): void {
    this.#base = other.#base;
    this.#baseSequence = other.#baseSequence;
    const past = other.#batches.filter(({ lastSequence }) => lastSequence <= sequence);
    // Where a restore has put the stored responses is not known.
    this.#batches = past.map((batch) => ({ ...batch, responses: [] }));
    this.#recovered = sequence;
    this.durable = sequence;
  }

  appended(
    { firstSequence, timeMs, wallMs, entries }: LogBatch,
    epoch: number,
    locations: readonly (ResponseLocation | null)[],
  ): void {
    const lastSequence = firstSequence + entries.length - 1;
    const responses = entries.flatMap(({ idempotency: response }, i) => {
      const location = locations[i];
      return response !== null && location ? [{ location, response, timeMs }] : [];
    });
    this.#batches.push({ firstSequence, lastSequence, epoch, timeMs, wallMs, entries, responses });
  }

  /** The stored responses of all batches. */
  get responses(): Responded[] {
    return this.#batches.flatMap((batch) => batch.responses);
  }

  /** Whether the clock was never set back between two batches. */
  get isInOrder(): boolean {
    return this.#batches.every(({ wallMs }, i) => wallMs >= (this.#batches[i - 1]?.wallMs ?? 0));
  }

  /** The sequence from which on it is known what the records were. */
  get beginning(): number {
    return this.#baseSequence;
  }

  /** Whether a record lies in a batch that is not durable yet. */
  isPending(id: string): boolean {
    const certain = this.#certain;
    return this.#batches.some(
      ({ lastSequence, entries }) =>
        lastSequence > certain && entries.some(({ changes }) => changes.some((change) => change.id === id)),
    );
  }

  /** The last sequence of the batches up to a moment: those before the first one that is later. */
  cutAt(wallMs: number): number {
    const later = this.#batches.find((batch) => batch.wallMs > wallMs);
    return later === undefined ? this.end : later.firstSequence - 1;
  }

  /** The last sequence before the first batch of a moment or later. */
  cutBefore(wallMs: number): number {
    const first = this.#batches.find((batch) => batch.wallMs >= wallMs);
    return first === undefined ? this.end : first.firstSequence - 1;
  }

  get end(): number {
    return this.#batches.at(-1)?.lastSequence ?? this.#baseSequence;
  }

  /** The wall time of the batch with this sequence; null when no batch is known from there on. */
  wallMsOf(sequence: number): number | null {
    return this.#batches.find(({ lastSequence }) => lastSequence >= sequence)?.wallMs ?? null;
  }

  /** The service time of the batch with this sequence; null when that is not known. */
  timeMsOf(sequence: number): number | null {
    const holds = (batch: Batch) => batch.firstSequence <= sequence && sequence <= batch.lastSequence;
    return this.#batches.find(holds)?.timeMs ?? null;
  }

  /** The service time at which a record was made; null when that is not known. */
  madeMs(id: string): number | null {
    const made = this.#batches.find(({ entries }) =>
      entries.some(({ changes }) => changes.some((change) => change.id === id && !change.removed)),
    );
    return made?.timeMs ?? null;
  }

  /** The first sequence of a service time or later; null: nothing is as young. */
  since(timeMs: number): number | null {
    return this.#batches.find((batch) => batch.timeMs >= timeMs)?.firstSequence ?? null;
  }

  /** The batches with entries after one of these, up to the other. */
  batchesIn(after: number, upTo: number): readonly Batch[] {
    return this.#batches.filter(
      ({ firstSequence, lastSequence }) => lastSequence > after && firstSequence <= upTo,
    );
  }

  /** The records as they were after an entry. */
  at(sequence: number): Map<string, StoredRecord> {
    const records = new Map(this.#base);
    for (const { firstSequence, entries } of this.#batches) {
      for (const [i, { changes }] of entries.entries()) {
        if (firstSequence + i > sequence) return records;
        for (const change of changes) {
          if (change.removed) records.delete(change.id);
          else records.set(change.id, change);
        }
      }
    }
    return records;
  }
}
