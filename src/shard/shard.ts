// A shard is the actor that owns its organizations. It executes the messages in its mailbox as one
// commit batch and answers them when that is on disk. While one is being written the next is open:
// what arrives is executed on top of it at once, so processor and disk work at the same time. When
// the disk keeps a batch waiting for long, only queries are executed (batches-in-flight.ts). After
// a failed commit nothing is answered, and the owner of the shard starts a new one from the
// journal.

import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import { pieceSize } from '../core/piece-size.ts';
import { breath } from '../core/scheduler.ts';
import type { ServiceClock } from '../core/service-clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { ShardAccount } from './account.ts';
import { answerWithdrawn } from './answer.ts';
import { BatchesInFlight } from './batches-in-flight.ts';
import { type AddressChecked, CommitBatch, type Peer } from './commit-batch.ts';
import { leaseDeliveries, takeReports } from './deliver.ts';
import { drain } from './drain.ts';
import { EventRetention } from './event-retention.ts';
import { execute } from './execute.ts';
import { executeInternal } from './execute-internal.ts';
import { SpareBuffers } from './frames.ts';
import { type Mail, Mailbox, type OwnMail } from './mailbox.ts';
import {
  clockKey,
  readRetention,
  retentionKey,
  segmentRetentionMs,
  writeClock,
  writeCounts,
  writeRetention,
} from './metadata.ts';
import type { InternalAnswer, InternalRequest, ToShard } from './protocol.ts';
import { recover, storedClock } from './recover.ts';
import type { ShardOptions } from './shard-options.ts';
import { ShardState } from './shard-state.ts';
import { Upkeep } from './upkeep.ts';

/** So many requests at most: the first of a commit batch doesn't wait for a long queue. */
const batchSizeMax = pieceSize(512);
/** How often `tick` is to be called while requests arrive, and how often at least. */
const busyTickMs = 100;
const idleTickMs = 1_000;
/** The clock is written this often even if nothing else has changed. */
const idleWriteMs = 60_000;

export class Shard {
  readonly state: ShardState;
  readonly #options: ShardOptions;
  readonly #journal: Journal;
  readonly #spare = new SpareBuffers();
  readonly #mailbox = new Mailbox(this.#spare);
  readonly #clock: ServiceClock;
  /** Executes what arrives, until nothing is being written. */
  #open: CommitBatch | null = null;
  readonly #inFlight: BatchesInFlight;
  /** Mail is going to be taken, or has to wait for the recovery. */
  #scheduled = true;
  #finished = false;
  #lastDurable: Promise<void> = Promise.resolve();
  #lastCheckpointMs = 0;
  #checkpointing: Promise<void> | null = null;
  readonly #events: EventRetention;
  readonly #upkeep: Upkeep;
  #upkeepQueued = false;
  /** Mail was taken since the last tick. */
  #hasTaken = false;
  #writeAtMs = 0;

  /** Messages wait until `recover` has resolved. */
  constructor(options: ShardOptions, accounts: Iterable<ShardAccount>) {
    this.#options = options;
    this.#journal = options.journal;
    this.#inFlight = new BatchesInFlight(options.scheduler, options.observer);
    const checkAddress = this.#checkAddress.bind(this);
    this.state = new ShardState({ ...options, checkAddress }, accounts);
    const marks = readRetention(this.#journal.checkpoint.getMetadata(retentionKey));
    this.#events = new EventRetention(this.state, options.eventRetentionMs, marks);
    this.#upkeep = new Upkeep(this.state, this.#events, options.deliveryRetentionMs);
    this.#clock = storedClock(this.#journal, options.clocks, options.clockObserver);
  }

  /** Replays the journal. The shard is ready when this resolves. Rejects with `JournalDamaged`. */
  async recover(): Promise<void> {
    await recover(this.state, this.#journal, this.#clock);
    this.#lastCheckpointMs = this.now().serviceMs;
    this.#scheduled = false;
    if (this.#hasWork) this.#schedule();
  }

  get queued(): number {
    return this.#mailbox.length;
  }

  receive(message: ToShard, peer: Peer): void {
    if (message instanceof ArrayBuffer) this.#mailbox.pushFrames(message, peer);
    else if ('withdrawn' in message) this.#mailbox.withdraw(peer, new Set(message.withdrawn));
    else if ('outbox' in message) this.#mailbox.push({ kind: 'outbox', peer, message: message.outbox });
    else {
      const to = { peer, correlation: message.correlation };
      this.#mailbox.push({ kind: 'internal', to, request: message.request });
    }
    this.#schedule();
  }

  /** A peer has gone, and sends nothing more. What it has sent is taken before. */
  disconnected(peer: Peer): void {
    this.#push({ kind: 'disconnected', peer });
  }

  /** Queues an internal request of this thread. Resolves with its answer when that is durable. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    return new Promise((resolve) => {
      const peer: Peer = {
        post: (message) => {
          if ('answer' in message) resolve(message.answer);
        },
      };
      this.#push({ kind: 'internal', to: { peer, correlation: 0 }, request });
    });
  }

  #push(mail: OwnMail): void {
    this.#mailbox.push(mail);
    this.#schedule();
  }

  putAccount(account: ShardAccount): void {
    this.state.scopes.putAccount(account, this.now());
  }

  now(): Now {
    return this.#clock.read();
  }

  /** The machine's clock less wall time, in milliseconds: 0 unless a step is not accepted yet. */
  get clockOffMs(): number {
    return this.#clock.offMs;
  }

  #clockNow(): Uint8Array {
    this.now();
    return writeClock({ clock: this.#clock.stored(), ids: this.state.ids.times });
  }

  #schedule(): void {
    if (this.#scheduled || this.#finished) return;
    this.#scheduled = true;
    this.#options.scheduler.soon(() => {
      this.#scheduled = false;
      this.#guard(() => (this.#inFlight.isStalled ? this.#takeQueries() : this.#takeBatch()));
    });
  }

  /** For how long the oldest commit has waited for the disk, in milliseconds. */
  get oldestCommitMs(): number {
    return this.#inFlight.oldestMs;
  }

  /** Runs `step`. An exception ends the shard. */
  #guard(step: () => void): void {
    if (this.#finished) return;
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#options.onFailure(error);
  }

  /** Executes what has arrived. The open batch ends if nothing is being written. */
  #takeBatch(): void {
    const now = this.now();
    const batch = this.#openAt(now);
    batch.continueAt(now);
    if (!batch.hasUpkeep && (this.#upkeepQueued || this.#upkeep.isDue(batch.serviceMs))) {
      batch.hasUpkeep = true;
      this.#upkeepQueued = this.#upkeep.run(batch);
    }
    this.#takeMail(batch);
    if (this.#inFlight.length === 0) this.#endBatch();
    if (this.state.records.memtableBytes >= this.#options.memory.checkpointBytes) this.#beginCheckpoint();
  }

  #openAt(now: Now): CommitBatch {
    this.#open ??= new CommitBatch(now, this.state.records, this.#spare);
    return this.#open;
  }

  /** Answers what can be answered during a stall. The other answers wait in the open batch. */
  #takeQueries(): void {
    const now = this.now();
    const { ownership } = this.#journal;
    this.#inFlight.stalledReads(this.state.records, this.#openAt(now), this.#spare).take({
      ownership,
      mailbox: this.#mailbox,
      now,
      bytesMax: this.#options.memory.batchBytesMax,
      handle: (batch, mail) => this.#handle(batch, mail),
    });
  }

  #takeMail(batch: CommitBatch): void {
    while (batch.taken < batchSizeMax && batch.bytes < this.#options.memory.batchBytesMax) {
      const mail = this.#mailbox.take();
      if (mail === undefined) break;
      this.#handle(batch, mail);
      batch.taken++;
      this.#hasTaken = true;
    }
  }

  /** Has the open batch written. Another one begins with what arrives from now on. */
  #endBatch(): void {
    const batch = this.#open;
    this.#open = null;
    if (batch === null || (batch.taken === 0 && !batch.hasUpkeep)) return;
    if (leaseDeliveries(this.state, batch)) this.#upkeepQueued = true;
    if (batch.taken > 0) this.#options.observer.batchEnded(batch.taken, this.#mailbox.length);
    this.#commit(batch);
    if (this.#hasWork) this.#schedule();
  }

  get #hasWork(): boolean {
    return this.#mailbox.length > 0 || this.#upkeepQueued;
  }

  #handle(batch: CommitBatch, mail: Mail): void {
    switch (mail.kind) {
      case 'request':
        batch.bytesTaken += mail.frame.body.length;
        execute(this.state, batch, mail.to, mail.frame);
        break;
      case 'withdrawn':
        answerWithdrawn(batch, mail.to);
        break;
      case 'internal':
        executeInternal(this.state, batch, mail.to, mail.request);
        break;
      case 'disconnected':
        this.state.scopes.disconnected(mail.peer);
        break;
      case 'outbox':
        takeReports(this.state, batch, mail.peer, mail.message, this.#options.observer.attempted);
        break;
      case 'address':
        mail.checked(batch, mail.allowed);
        break;
    }
  }

  /** Does what became due while the shard did not run. Awaited before the first request. */
  async catchUp(): Promise<void> {
    const isBehind = () => this.state.tasks.due(this.now().serviceMs, 1).length > 0;
    while (!this.#finished && !this.state.readOnly && isBehind()) {
      this.#queueUpkeep();
      await breath(this.#options.scheduler);
      await this.#lastDurable.catch(() => {});
    }
  }

  #queueUpkeep(): void {
    this.#upkeepQueued = true;
    this.#schedule();
  }

  /** Makes a batch durable, then answers it. One that changed nothing waits for those before it. */
  #commit(batch: CommitBatch): void {
    this.#inFlight.push(batch);
    if (batch.entries.length > 0) this.#append(batch);
    this.#lastDurable.then(
      () => {
        const tookMs = this.#inFlight.shift(batch);
        if (this.#finished) return;
        if (batch.entries.length > 0) this.#options.observer.committed(tookMs / 1000);
        this.#guard(() => {
          batch.release(this.#journal.ownership);
          for (const call of batch.networkCalls) this.#options.callNetwork(call);
        });
        if (this.#inFlight.length === 0 && (this.#open !== null || this.#hasWork))
          this.#guard(() => this.#takeBatch());
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #append(batch: CommitBatch): void {
    const { log } = this.#journal;
    const { nextSequence: firstSequence } = log;
    const { entries, serviceMs: timeMs, nowMs: wallMs } = batch;
    const { locations, changes, durable } = log.append({ firstSequence, timeMs, wallMs, entries });
    assert(log.nextSequence === firstSequence + entries.length, 'each entry has a sequence number');
    this.#lastDurable = durable;
    this.state.records.pack(entries, changes);
    this.state.keys.remember(batch, locations);
  }

  #checkAddress(url: string, checked: AddressChecked): void {
    const push = (allowed: boolean | null) => this.#push({ kind: 'address', checked, allowed });
    this.#options.checkAddress(url).then(push, () => push(null));
  }

  /**
   * Does what is due, and begins checkpoints. Returns after how many milliseconds to call it again:
   * soon while requests arrive, otherwise when something is due, or after a second.
   */
  tick(): number {
    const { serviceMs } = this.now();
    const isBusy = this.#hasTaken || this.#inFlight.length > 0;
    let nextMs = isBusy ? serviceMs + busyTickMs : serviceMs + idleTickMs;
    this.#hasTaken = false;
    this.#guard(() => {
      this.#inFlight.tell();
      if (this.#inFlight.isStalled && this.#mailbox.length > 0) this.#schedule();
      if (this.#upkeep.isDue(serviceMs)) this.#queueUpkeep();
      const { log, checkpoint } = this.#journal;
      const isChanged = log.nextSequence - 1 > checkpoint.sequence && !this.state.readOnly;
      const dueMs = isChanged ? this.#lastCheckpointMs + this.#options.checkpointIntervalMs : Infinity;
      if (serviceMs >= dueMs) this.#beginCheckpoint();
      else nextMs = Math.min(nextMs, dueMs);
    });
    return Math.max(busyTickMs, Math.min(nextMs, this.#upkeep.dueMs) - serviceMs);
  }

  /** Begins a checkpoint unless the disk is full: then writes are refused, so little is left. */
  #beginCheckpoint(): void {
    if (this.#checkpointing !== null || this.state.readOnly) return;
    this.checkpoint().catch((error) => this.#fail(error));
  }

  /** Writes the metadata that has changed, and the time with it; to be called once a second. */
  async writeMetadata(): Promise<void> {
    if (this.state.readOnly) return;
    const { serviceMs } = this.now();
    const changed = this.state.scopes.takeCounts();
    const marks = this.#events.unstored;
    if (changed.size === 0 && marks === null && serviceMs < this.#writeAtMs) return;
    this.#writeAtMs = serviceMs + idleWriteMs;
    const values = new Map<string, Uint8Array>([[clockKey, this.#clockNow()]]);
    for (const [scope, counts] of changed) values.set(scope, writeCounts(counts));
    if (marks !== null) values.set(retentionKey, writeRetention(marks));
    await this.#journal.checkpointer.putMetadata(values);
    if (marks !== null) this.#events.stored(marks);
  }

  /** Has what has changed written, and drops what is no longer needed. One runs at a time. */
  checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#writeCheckpoint().finally(() => {
      this.#checkpointing = null;
    });
    return this.#checkpointing;
  }

  async #writeCheckpoint(): Promise<void> {
    const startedAt = this.#options.scheduler.elapsedMs();
    // What the open batch has changed is flushed, too, so it must be in the log.
    this.#endBatch();
    const { log, checkpointer } = this.#journal;
    const sequence = log.nextSequence - 1;
    this.state.records.beginFlush();
    // The checkpointer reads only what is on disk.
    await this.#lastDurable;
    // If the checkpoint has everything, nothing in the log tells when the last commit was.
    await checkpointer.putMetadata(new Map([[clockKey, this.#clockNow()]]));
    const records = await checkpointer.write(sequence);
    this.state.records.endFlush();
    this.state.shareMemory();
    const { serviceMs } = this.now();
    this.#lastCheckpointMs = serviceMs;
    this.#options.observer.checkpointed(records, (this.#options.scheduler.elapsedMs() - startedAt) / 1000);
    await checkpointer.drop(serviceMs - segmentRetentionMs);
  }

  /**
   * Answers what was taken, writes a last checkpoint, and closes the journal. Resolves with false
   * when other machines have left a commit without an answer, which nobody knows the outcome of.
   */
  async stop(): Promise<boolean> {
    const { ownership } = this.#journal;
    const hasTaken = () => this.#mailbox.length > 0 || this.#open !== null || this.#inFlight.length > 0;
    const isBusy = () => !this.#finished && hasTaken();
    const isDrained = await drain({ ...this.#options, ownership, isBusy, durable: () => this.#lastDurable });
    if (this.#finished) return true;
    this.#finished = true;
    if (isDrained) {
      await this.#checkpointing;
      // On a full disk the changes stay in the log.
      if (!this.state.readOnly) await this.#writeCheckpoint();
      await this.writeMetadata();
    }
    await this.#journal.close();
    return isDrained;
  }
}
