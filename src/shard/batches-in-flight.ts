// The commit batches that are not durable yet, oldest first, and the queries during a stall, while
// the disk keeps the oldest one waiting. Nobody may be told what could still be lost, so in general
// an answer waits for all commits before it. But a stall executes no command, so it is known what
// could be lost: what the batches in flight and the open one have changed. A query that reads none
// of that is answered at once. The answers to the others wait with the open batch.

import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import type { Scheduler } from '../core/scheduler.ts';
import { scopeOf } from '../domain/indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import type { Ownership } from '../journal/ownership.ts';
import { CommitBatch, type Peer } from './commit-batch.ts';
import type { AnswerWriter, SpareBuffers } from './frames.ts';
import type { Mail, Mailbox } from './mailbox.ts';
import type { FromShard } from './protocol.ts';
import type { ShardObserver } from './shard-options.ts';

/** The newest values. It notes whether a query has read one that is not durable yet. */
class DurabilityView implements View {
  readonly #records: View;
  readonly #changed = new Set<string>();
  /** The lists that a changed record may belong to: those of its kind in its scope. */
  readonly #lists = new Set<string>();
  /** What was read since this was set is durable. */
  isDurable = true;

  constructor(records: View, changes: Iterable<Change>) {
    this.#records = records;
    for (const { id, kind, org, livemode } of changes) {
      this.#changed.add(id);
      this.#lists.add(`${kind}/${scopeOf(org, livemode)}`);
    }
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    if (this.#changed.has(id)) this.isDurable = false;
    return this.#records.get(kind, id);
  }

  scan(index: string, range: ScanRange): Iterable<StoredRecord> {
    const list = listOf(index);
    if (list === null ? this.#changed.size > 0 : this.#lists.has(list)) this.isDurable = false;
    return this.#records.scan(index, range);
  }
}

/** The list of a kind in a scope that an index is a part of; null for an index of another form. */
function listOf(index: string): string | null {
  return /^[a-z_]+\/org_[^/]+\/[tl](?=\/|$)/.exec(index)?.[0] ?? null;
}

class StalledBatch extends CommitBatch {
  override readonly view: DurabilityView;
  readonly #open: CommitBatch;

  constructor(now: Now, view: DurabilityView, spare: SpareBuffers, open: CommitBatch) {
    super(now, view, spare);
    this.view = view;
    this.#open = open;
  }

  override get bytes(): number {
    return super.bytes + this.#open.bytes;
  }

  override answersTo(peer: Peer): AnswerWriter {
    return this.view.isDurable ? super.answersTo(peer) : this.#open.answersTo(peer);
  }

  override post(peer: Peer, message: FromShard): void {
    if (this.view.isDurable) super.post(peer, message);
    else this.#open.post(peer, message);
  }
}

interface StalledReadsOptions {
  readonly ownership: Ownership;
  readonly mailbox: Mailbox;
  readonly now: Now;
  readonly bytesMax: number;
  readonly handle: (batch: CommitBatch, mail: Mail) => void;
}

/** The reads of one stall. It is over when a batch in flight becomes durable. */
class StalledReads {
  /** The batch with which the answers wait that can't be sent yet. */
  readonly open: CommitBatch;
  readonly #spare: SpareBuffers;
  readonly #view: DurabilityView;

  /** `inFlight` are being written, and `open` was executed since. */
  constructor(records: View, inFlight: readonly CommitBatch[], open: CommitBatch, spare: SpareBuffers) {
    this.open = open;
    this.#spare = spare;
    const entries = [...inFlight, open].flatMap((batch) => batch.entries);
    const changes = entries.flatMap((entry) => entry.changes);
    this.#view = new DurabilityView(records, changes);
  }

  /** Has the queries in the mailbox handled, and answers those that saw durable values only. */
  take({ ownership, mailbox, now, bytesMax, handle }: StalledReadsOptions): void {
    const batch = new StalledBatch(now, this.#view, this.#spare, this.open);
    mailbox.takeQueries((mail) => {
      this.#view.isDurable = true;
      handle(batch, mail);
      if (!this.#view.isDurable) this.open.taken++;
      return batch.bytes < bytesMax;
    });
    assert(batch.entries.length === 0, 'no command is executed during a stall');
    batch.release(ownership);
  }
}

/** A commit that takes longer is a stall of the disk. */
const stalledMs = 100;

export class BatchesInFlight {
  readonly #scheduler: Scheduler;
  readonly #observer: ShardObserver;
  readonly #batches: { readonly batch: CommitBatch; readonly sinceMs: number }[] = [];
  #isTold = false;
  #reads: StalledReads | null = null;

  constructor(scheduler: Scheduler, observer: ShardObserver) {
    this.#scheduler = scheduler;
    this.#observer = observer;
  }

  get length(): number {
    return this.#batches.length;
  }

  /** For how long the oldest has waited, in milliseconds; 0 when there is none. */
  get oldestMs(): number {
    const [oldest] = this.#batches;
    return oldest === undefined ? 0 : this.#scheduler.elapsedMs() - oldest.sinceMs;
  }

  get isStalled(): boolean {
    return this.oldestMs >= stalledMs;
  }

  push(batch: CommitBatch): void {
    this.#batches.push({ batch, sinceMs: this.#scheduler.elapsedMs() });
  }

  /** The oldest is durable. Returns how long that has taken, in milliseconds. */
  shift(batch: CommitBatch): number {
    const tookMs = this.oldestMs;
    assert(this.#batches.shift()?.batch === batch, 'batches become durable in their order');
    this.#reads = null;
    if (this.#isTold) this.tell();
    return tookMs;
  }

  /** The reads of the stall that is now; `open` was executed since. */
  stalledReads(records: View, open: CommitBatch, spare: SpareBuffers): StalledReads {
    const inFlight = this.#batches.map(({ batch }) => batch);
    // A checkpoint ends the open batch also in a stall. Answers then wait with the next one.
    if (this.#reads?.open !== open) this.#reads = new StalledReads(records, inFlight, open, spare);
    return this.#reads;
  }

  /** Tells of a stall; to be called now and then. */
  tell(): void {
    const { oldestMs } = this;
    const isStalled = oldestMs >= stalledMs;
    if (isStalled || this.#isTold) this.#observer.stalled(isStalled ? oldestMs : null);
    this.#isTold = isStalled;
  }
}
