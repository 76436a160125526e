// The log that other machines hold, as a plain list. It says whether it is used as the port asks for.

import { JournalFailure, type LogEnd } from '../../../src/journal/journal.ts';
import type { AcquiredLog, AppendedBatch, RemoteLog } from '../../../src/journal/remote-log.ts';
import { batchOf } from './stored-log.ts';

export class PlainRemoteLog implements RemoteLog {
  epoch: number;
  /** The end of what came before the log began. */
  begun: LogEnd = { sequence: 0, checksum: 0 };
  batches: Buffer[] = [];
  noted: { readonly metadata: ReadonlyMap<string, Uint8Array>; readonly mirrored: number } | null = null;
  /** The epochs that those who acquired it knew. */
  readonly known: number[] = [];
  /** What was not done as it must be. */
  readonly faults: string[] = [];
  /** So many appends are taken before one fails. */
  appendsMax = Number.POSITIVE_INFINITY;
  /** What it says of its end, where that is not its end. */
  said: LogEnd | null = null;
  /** What is read in the place of a batch. What is known of that beside it is as it was. */
  readonly readAs = new Map<Buffer, Buffer>();
  isClosed = false;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  get end(): LogEnd {
    const last = this.batches.at(-1);
    if (last === undefined) return this.begun;
    const { lastSequence: sequence, checksum } = batchOf(last);
    return { sequence, checksum };
  }

  #expect(holds: boolean, what: string): void {
    if (!holds) this.faults.push(what);
  }

  #found(): AcquiredLog {
    return {
      epoch: this.epoch,
      firstSequence: this.begun.sequence + 1,
      end: this.said ?? this.end,
      metadata: this.noted?.metadata ?? new Map(),
    };
  }

  async acquire(after: number): Promise<AcquiredLog> {
    this.known.push(after);
    this.epoch = Math.max(this.epoch, after) + 1;
    return this.#found();
  }

  async inspect(): Promise<AcquiredLog> {
    return this.#found();
  }

  async append(epoch: number, batch: AppendedBatch): Promise<void> {
    if (this.appendsMax-- <= 0)
      throw new JournalFailure('PostgreSQL does not answer', { diskFull: false, outcome: 'failed' });
    const { firstSequence, lastSequence, timeMs, checksum } = batchOf(batch.bytes);
    this.#expect(epoch === this.epoch, `a batch comes with epoch ${epoch} of ${this.epoch}`);
    this.#expect(firstSequence === this.end.sequence + 1, `${firstSequence} is not the next batch`);
    this.#expect(
      batch.firstSequence === firstSequence &&
        batch.timeMs === timeMs &&
        batch.end.sequence === lastSequence &&
        batch.end.checksum === checksum,
      `the batch ${firstSequence} is not what is said of it`,
    );
    this.batches.push(Buffer.from(batch.bytes));
  }

  async *read(after: number): AsyncGenerator<readonly Buffer[]> {
    const left = this.batches
      .filter((bytes) => batchOf(bytes).lastSequence > after)
      .map((bytes) => this.readAs.get(bytes) ?? bytes);
    // In portions of two.
    for (let i = 0; i < left.length; i += 2) yield left.slice(i, i + 2);
  }

  async begin(epoch: number, end: LogEnd): Promise<void> {
    this.#expect(epoch === this.epoch, `it begins with epoch ${epoch} of ${this.epoch}`);
    this.#expect(this.end.sequence === 0, 'it begins once more');
    this.begun = end;
  }

  async checksumAt(sequence: number): Promise<number | null> {
    if (sequence === this.begun.sequence) return this.begun.checksum;
    return (
      this.batches.map((bytes) => batchOf(bytes)).find((batch) => batch.lastSequence === sequence)
        ?.checksum ?? null
    );
  }

  async note(epoch: number, metadata: ReadonlyMap<string, Uint8Array>, mirrored: number): Promise<void> {
    this.#expect(epoch === this.epoch, `metadata come with epoch ${epoch} of ${this.epoch}`);
    this.noted = { metadata, mirrored };
  }

  async confirm(epoch: number): Promise<void> {
    this.#expect(epoch === this.epoch, `epoch ${epoch} of ${this.epoch} is to be confirmed`);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
