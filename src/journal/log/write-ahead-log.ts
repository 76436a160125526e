// The write-ahead log as its shard sees it: commit batches are appended and become durable in
// order. A batch is encoded once, and the engine stores the bytes (log-engine.ts).

import { assert } from '../../core/assert.ts';
import { type ShardIdentity, tagOf } from '../../disk/identity.ts';
import type { Log, LogBatch, ResponseLocation, StoredResponse } from '../journal.ts';
import type { Ownership } from '../ownership.ts';
import { encodeBatch } from './codec.ts';
import type { LogEngine } from './log-engine.ts';

export class WriteAheadLog implements Log {
  readonly #engine: LogEngine;
  readonly #partition: ShardIdentity;
  readonly #tag: Buffer;
  /** Null until `start`. */
  #nextSequence: number | null = null;
  #epoch = 0;

  constructor(engine: LogEngine, partition: ShardIdentity) {
    this.#engine = engine;
    this.#partition = partition;
    this.#tag = tagOf(partition);
  }

  /** The next entry has this sequence. */
  start(nextSequence: number, { epoch }: Ownership): void {
    this.#nextSequence = nextSequence;
    this.#epoch = epoch;
  }

  get nextSequence(): number {
    assert(this.#nextSequence !== null, 'the log is replayed before anything else');
    return this.#nextSequence;
  }

  get durableEnd(): Log['durableEnd'] {
    return this.#engine.durableEnd;
  }

  append(batch: LogBatch): ReturnType<Log['append']> {
    const { firstSequence, entries } = batch;
    assert(entries.length > 0, 'a commit batch has entries');
    assert(firstSequence === this.nextSequence, 'a commit batch follows the one before');
    const { bytes, locations, changes } = encodeBatch(batch, this.#tag, this.#epoch);
    this.#nextSequence = firstSequence + entries.length;
    const durable = this.#engine.append(this.#partition, this.#epoch, firstSequence, bytes);
    return { locations, changes, durable };
  }

  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined {
    return this.#engine.readResponse(location, keyDigest);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
