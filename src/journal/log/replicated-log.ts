// The engine of a log that other machines hold, too (see remote-log.ts). A batch goes there first,
// and is acknowledged when it is durable there. Then it goes into the mirror, the log on LMDB,
// which the checkpoint, the archive and everybody who reads stored responses go on to read. So the
// mirror is never ahead; it is when it has what the remote log has lost.

import { assert } from '../../core/assert.ts';
import type { ShardIdentity } from '../../disk/identity.ts';
import { JournalFailure, type LogEnd, type ResponseLocation, type StoredResponse } from '../journal.ts';
import type { Ownership } from '../ownership.ts';
import type { AcquiredLog, AppendedBatch, RemoteLog } from '../remote-log.ts';
import { endOfBatch, readBatchHeader, readResponse } from './codec.ts';
import type { SegmentedLog } from './log.ts';
import type { LogEngine } from './log-engine.ts';
import { type Mirrored, mirrorBatch, mirroredEnd, refuseDivergence } from './mirror.ts';

interface Waiting extends AppendedBatch {
  readonly partition: ShardIdentity;
  readonly resolve: () => void;
  readonly reject: (failure: JournalFailure) => void;
}

export interface ReplicatedLogOptions {
  /** Hears at once when the partition is acquired, and when it may be lost. */
  readonly onOwnership?: (isHeld: boolean) => void;
  /** An owner that is not trusted says nothing, although it has lost nothing that it knows of. */
  readonly isTrusted?: () => boolean;
  /**
   * Called when the partition is acquired, and after each portion that the mirror lacked: nothing
   * is being written then, so the thread may end.
   */
  readonly onPortion?: () => void;
}

export class ReplicatedLog implements LogEngine {
  readonly #remote: RemoteLog;
  readonly #mirror: SegmentedLog;
  readonly #partition: ShardIdentity;
  #epoch = 0;
  /** Batches that are not acknowledged, by first sequence, oldest first. */
  readonly #waiting = new Map<number, Waiting>();
  #sending: Promise<void> | null = null;
  #nextSequence: number | null = null;
  #acknowledged = 0;
  /** What the mirror had when the partition was acquired. */
  #acquired = 0;
  #failure: JournalFailure | null = null;
  /** Metadata that is not on its way yet; null: nothing is to be noted. */
  #metadata: Map<string, Uint8Array> | null = null;
  #noting: Promise<void> | null = null;
  #noted: ReadonlyMap<string, Uint8Array> = new Map();
  readonly #onOwnership: (isHeld: boolean) => void;
  readonly #isTrusted: () => boolean;
  readonly #onPortion: () => void;

  constructor(
    remote: RemoteLog,
    mirror: SegmentedLog,
    partition: ShardIdentity,
    { onOwnership = () => {}, isTrusted = () => true, onPortion = () => {} }: ReplicatedLogOptions = {},
  ) {
    this.#isTrusted = isTrusted;
    this.#onOwnership = onOwnership;
    this.#onPortion = onPortion;
    this.#remote = remote;
    this.#mirror = mirror;
    this.#partition = partition;
  }

  /** Takes the partition, and brings the mirror up to date. */
  async acquire(checkpointed: number): Promise<Ownership> {
    const acquired = await this.#remote.acquire(this.#mirror.lastEpoch);
    this.#epoch = acquired.epoch;
    this.#onPortion();
    await this.#catchUp(acquired, mirroredEnd(this.#mirror, checkpointed));
    this.#mirror.noteEpoch(acquired.epoch);
    this.#acknowledged = acquired.end.sequence;
    this.#acquired = acquired.end.sequence;
    this.#noted = acquired.metadata;
    this.#onOwnership(true);
    const isHeld = () => this.#failure === null && this.#isTrusted();
    const confirm = () => this.#remote.confirm(acquired.epoch);
    return { epoch: acquired.epoch, isHeld, lostBy: () => this.#failure, confirm };
  }

  async #catchUp(acquired: AcquiredLog, mirrored: Mirrored): Promise<void> {
    await refuseDivergence(this.#partition.shard, mirrored, acquired, (sequence) =>
      this.#remote.checksumAt(sequence),
    );
    const { sequence } = acquired.end;
    this.#mirror.start(mirrored.sequence + 1);
    if (mirrored.sequence === sequence) return;
    for await (const portion of this.#remote.read(mirrored.sequence)) {
      const found = portion.filter((bytes) => readBatchHeader(bytes).epoch <= acquired.epoch);
      await Promise.all(found.map((bytes) => mirrorBatch(this.#mirror, this.#partition, bytes)));
      // Whoever has appended since has taken the partition, and may lose what it has appended.
      if (found.length < portion.length) throw fencedBy(this.#partition.shard, acquired.epoch, null);
      this.#onPortion();
    }
    assert(this.#mirror.end().sequence === sequence, 'the mirror ends where the log does');
  }

  start(nextSequence: number): void {
    assert(nextSequence === this.#acknowledged + 1, 'recovery has read the log to its end');
    this.#nextSequence = nextSequence;
  }

  append(partition: ShardIdentity, epoch: number, expectedSequence: number, bytes: Buffer): Promise<void> {
    if (epoch < this.#epoch) this.#fail(fencedBy(partition.shard, epoch, this.#epoch));
    if (this.#failure !== null) return Promise.reject(this.#failure);
    assert(expectedSequence === this.#nextSequence, 'a batch follows the one before');
    const { firstSequence, lastSequence, timeMs } = readBatchHeader(bytes);
    assert(firstSequence === expectedSequence, 'a batch lies under its first sequence');
    this.#nextSequence = lastSequence + 1;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = endOfBatch(bytes);
    this.#waiting.set(firstSequence, { partition, firstSequence, timeMs, end, bytes, resolve, reject });
    this.#sending ??= this.#sendAll(epoch);
    return promise;
  }

  async #sendAll(epoch: number): Promise<void> {
    try {
      for (const [firstSequence, batch] of this.#waiting) {
        await this.#remote.append(epoch, batch);
        this.#acknowledged = batch.end.sequence;
        // Whoever needs the mirror waits for it: see `durable`.
        this.#mirror
          .append(batch.partition, epoch, firstSequence, batch.bytes)
          .catch((error) => this.#fail(error));
        this.#waiting.delete(firstSequence);
        batch.resolve();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#sending = null;
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure =
      error instanceof JournalFailure
        ? error
        : new JournalFailure(`The log can't be appended to: ${(error as Error).message}`, {
            diskFull: false,
            outcome: 'unknown',
            cause: error,
          });
    this.#onOwnership(false);
    for (const batch of this.#waiting.values()) batch.reject(this.#failure);
    this.#waiting.clear();
  }

  read(after: number, upTo?: number): ReturnType<LogEngine['read']> {
    return this.#mirror.read(after, upTo);
  }

  /** Of the mirror, which is what this machine has on disk. */
  get durableEnd(): LogEnd | null {
    return this.#mirror.durableEnd;
  }

  /** Resolves when the mirror has it, too. */
  async durable(sequence: number): Promise<void> {
    while (this.#waiting.size > 0 && this.#acknowledged < sequence) await this.#sending;
    if (this.#failure !== null) throw this.#failure;
    await this.#mirror.durable(sequence);
  }

  /** What earlier owners have noted. */
  get notedMetadata(): ReadonlyMap<string, Uint8Array> {
    return this.#noted;
  }

  /**
   * Has metadata stored by the other machines, one time after the other, and with it how far the
   * mirror has come. Nobody waits for it.
   */
  noteMetadata(values: ReadonlyMap<string, Uint8Array>): void {
    this.#metadata = new Map([...(this.#metadata ?? []), ...values]);
    this.#noting ??= this.#noteAll();
  }

  async #noteAll(): Promise<void> {
    try {
      for (let noted = this.#metadata; noted !== null && this.#failure === null; noted = this.#metadata) {
        this.#metadata = null;
        const mirrored = this.#mirror.durableEnd?.sequence ?? this.#acquired;
        await this.#remote.note(this.#epoch, noted, mirrored);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#noting = null;
    }
  }

  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    const waiting = this.#waiting.get(location.record);
    if (waiting !== undefined) return readResponse(waiting.bytes, location.offset, keyDigest) ?? undefined;
    return this.#mirror.readResponse(location, keyDigest);
  }

  async close(): Promise<void> {
    // What is noted comes behind the batches that wait, and those are given up.
    await this.#remote.close(this.#waiting.size > 0 ? null : this.#noting);
    this.#fail(
      new JournalFailure('The log is closed', { diskFull: false, outcome: 'unknown', isRemote: true }),
    );
    await this.#sending;
    await this.#mirror.close();
  }
}

export function fencedBy(shard: number, epoch: number, newest: number | null): JournalFailure {
  const owner = newest === null ? 'a newer owner' : `a newer owner, whose epoch is ${newest}`;
  return new JournalFailure(`Partition ${shard} has ${owner}: a batch of epoch ${epoch} is refused`, {
    diskFull: false,
    outcome: 'fenced',
    isRemote: true,
  });
}
