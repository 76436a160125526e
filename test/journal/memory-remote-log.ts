// The log that other machines hold, in memory: what PostgreSQL does for a partition, with faults on demand.

import { setImmediate as later } from 'node:timers/promises';
import { JournalFailure, type LogEnd } from '../../src/journal/journal.ts';
import { endOfBatch, readBatchHeader } from '../../src/journal/log/codec.ts';
import { fencedBy } from '../../src/journal/log/replicated-log.ts';
import type { AcquiredLog, AppendedBatch, RemoteLog } from '../../src/journal/remote-log.ts';
import { identity } from './journal-fixtures.ts';

/** What the other machines have. */
export class RemoteMachines {
  epoch = 0;
  firstSequence = 1;
  /** The end of what came before the log began. */
  begun: LogEnd = { sequence: 0, checksum: 0 };
  batches: Buffer[] = [];
  readonly metadata = new Map<string, Uint8Array>();
  /** Up to which sequence the owner's mirror was said to hold the log. */
  mirrored: number | null = null;
  /** How many calls of a kind are under way, and the most there have been. */
  appending = 0;
  appendingMax = 0;
  notes = 0;
  held: Promise<void> = Promise.resolve();
  /** The answer of the next append is lost, whether it is stored or not. */
  losing: { readonly isStored: boolean } | null = null;

  get end() {
    const last = this.batches.at(-1);
    return last === undefined ? this.begun : endOfBatch(last);
  }

  /** The log as a node has it. */
  connect(): RemoteLog & { isClosed: boolean } {
    const machines = this;
    const found = (): AcquiredLog => ({
      epoch: machines.epoch,
      firstSequence: machines.firstSequence,
      end: machines.end,
      metadata: new Map(machines.metadata),
    });
    const confirm = async (epoch: number) => {
      await later();
      if (epoch < machines.epoch) throw fencedBy(identity.shard, epoch, machines.epoch);
    };
    return {
      isClosed: false,
      async acquire(after) {
        machines.epoch = Math.max(machines.epoch, after) + 1;
        return found();
      },
      inspect: async () => found(),
      async append(epoch, batch) {
        machines.appendingMax = Math.max(machines.appendingMax, ++machines.appending);
        try {
          await machines.held;
          await confirm(epoch);
          machines.#store(batch);
        } finally {
          machines.appending--;
        }
      },
      async *read(after) {
        for (const bytes of machines.batches) if (endOfBatch(bytes).sequence > after) yield [bytes];
      },
      async begin(epoch, end) {
        await confirm(epoch);
        machines.begun = end;
        machines.firstSequence = end.sequence + 1;
      },
      async checksumAt(sequence) {
        const ends = machines.batches.map(endOfBatch);
        return ends.find((end) => end.sequence === sequence)?.checksum ?? null;
      },
      async note(epoch, metadata, mirrored) {
        machines.notes++;
        await confirm(epoch);
        for (const [name, value] of metadata) machines.metadata.set(name, value);
        machines.mirrored = mirrored;
      },
      confirm,
      async close(noted) {
        await noted;
        this.isClosed = true;
      },
    };
  }

  #store({ bytes }: AppendedBatch): void {
    const { losing } = this;
    this.losing = null;
    if (losing?.isStored !== false) this.batches.push(Buffer.from(bytes));
    if (losing !== null)
      throw new JournalFailure('No answer has come', { diskFull: false, outcome: 'unknown' });
  }

  /** Changes a byte of the batch with this first sequence. */
  damage(firstSequence: number): void {
    const at = this.batches.findIndex((bytes) => readBatchHeader(bytes).firstSequence === firstSequence);
    const bytes = Buffer.from(this.batches[at]!);
    bytes[bytes.length - 5]! ^= 1;
    this.batches[at] = bytes;
  }

  /** Drops what comes before a sequence, as is done with what lies in the mirrors. */
  drop(firstSequence: number): void {
    this.batches = this.batches.filter((bytes) => readBatchHeader(bytes).firstSequence >= firstSequence);
    this.firstSequence = firstSequence;
  }
}
