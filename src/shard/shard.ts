// A shard is the actor that owns its organizations. It takes the messages in its mailbox as one turn, executes them, writes
// one log batch, and releases the answers when the batch is on disk. While it is being written the next turn is open: what
// arrives is executed on top of it at once, so the processor and the disk work at the same time, and is written as one batch
// as soon as the one before is on disk. When the disk keeps a batch waiting for long, nothing more is executed but queries
// (stalled-reads.ts).
//
// After a failed commit the shard is finished: nothing of the turn is answered, and the owner of the shard starts a new one
// from the journal.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import type { Now } from '../core/clock.ts';
import { breath } from '../core/scheduler.ts';
import type { ServiceClock } from '../core/service-clock.ts';
import { dueRecords } from '../domain/due.ts';
import type { NetworkCallRecord } from '../domain/record.ts';
import type { Journal } from '../journal/journal.ts';
import type { ShardAccount } from './account.ts';
import { answerWithdrawn } from './answer.ts';
import { leaseDeliveries, takeReports } from './deliver.ts';
import { EventRetention } from './event-retention.ts';
import { execute } from './execute.ts';
import { addressChecked } from './execute-command.ts';
import { executeInternal } from './execute-internal.ts';
import { SpareBuffers } from './frames.ts';
import type { IssuedCommand } from './issued-command.ts';
import { type Mail, Mailbox } from './mailbox.ts';
import type { InternalAnswer, InternalRequest, ToShard } from './protocol.ts';
import { openNetworkCalls, recover, storedClock } from './recover.ts';
import type { ShardOptions } from './shard-options.ts';
import { ShardState } from './shard-state.ts';
import {
  clockKey,
  encodeCounts,
  readRetention,
  retentionKey,
  writeClock,
  writeRetention,
} from './small-values.ts';
import { type Peer, Turn } from './turn.ts';
import { TurnsInFlight } from './turns-in-flight.ts';
import { Upkeep } from './upkeep.ts';
import type { Waiter } from './waiter.ts';

/** A turn takes at most this many requests, so that the first of them doesn't wait for a long queue. */
const turnSizeMax = 512;
/** How often `tick` is to be called while requests arrive, and how often at least. */
const busyTickMs = 100;
const idleTickMs = 1_000;
/** The clock is written this often even if nothing else has changed. */
const idleWriteMs = 60_000;
/** Segments of the log have the stored responses, so they stay an hour longer than those are needed. */
const segmentRetentionMs = idempotencyRetentionMs + 3_600_000;

export class Shard {
  readonly state: ShardState;
  readonly #options: ShardOptions;
  readonly #journal: Journal;
  readonly #spare = new SpareBuffers();
  readonly #mailbox = new Mailbox(this.#spare);
  readonly #clock: ServiceClock;
  /** The turn that executes what arrives, until nothing is being written. */
  #open: Turn | null = null;
  readonly #inFlight: TurnsInFlight;
  /** A turn is going to be taken, or has to wait for the recovery. */
  #scheduled = true;
  #finished = false;
  #lastDurable: Promise<void> = Promise.resolve();
  #lastCheckpointMs = 0;
  #checkpointing: Promise<void> | null = null;
  readonly #events: EventRetention;
  readonly #upkeep: Upkeep;
  #upkeepQueued = false;
  /** A turn took mail since the last tick. */
  #hasTurned = false;
  #writeAtMs = 0;

  /** Messages wait until `recover` has settled. */
  constructor(options: ShardOptions, accounts: Iterable<ShardAccount>) {
    this.#options = options;
    this.#journal = options.journal;
    this.#inFlight = new TurnsInFlight(options.scheduler, options.observer);
    const checkAddress = this.#checkAddress.bind(this);
    this.state = new ShardState({ ...options, checkAddress }, accounts);
    const marks = readRetention(this.#journal.checkpoint.getSmallValue(retentionKey));
    this.#events = new EventRetention(this.state, options.eventRetentionMs, marks);
    this.#upkeep = new Upkeep(this.state, this.#events, options.deliveryRetentionMs);
    this.#clock = storedClock(this.#journal, options.clocks, options.clockObserver);
  }

  /** Replays the journal. The shard is ready when this settles. Rejects with `JournalDamaged`. */
  async recover(): Promise<void> {
    await recover(this.state, this.#journal, this.#clock);
    this.#lastCheckpointMs = this.now().serviceMs;
    this.#scheduled = false;
    if (this.#hasWork) this.#schedule();
  }

  /** The network calls that have no final outcome. After a start, the networks are asked about them. */
  openNetworkCalls(): NetworkCallRecord[] {
    return openNetworkCalls(this.state);
  }

  get queued(): number {
    return this.#mailbox.length;
  }

  /** Takes a message of a peer. */
  receive(message: ToShard, peer: Peer): void {
    if (message instanceof ArrayBuffer) {
      this.#mailbox.pushBatch(message, peer);
    } else if ('withdrawn' in message) {
      this.#mailbox.withdraw(peer, new Set(message.withdrawn));
    } else if ('outbox' in message) {
      this.#mailbox.push({ kind: 'outbox', peer, message: message.outbox });
    } else {
      const to = { peer, correlation: message.correlation };
      this.#mailbox.push({ kind: 'internal', to, request: message.request });
    }
    this.#schedule();
  }

  /** Queues an internal request of this thread. Settles with its answer when that is durable. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    return new Promise((resolve) => {
      const peer: Peer = {
        post: (message) => {
          if ('answer' in message) resolve(message.answer);
        },
      };
      this.#mailbox.push({ kind: 'internal', to: { peer, correlation: 0 }, request });
      this.#schedule();
    });
  }

  putAccount(account: ShardAccount): void {
    this.state.putAccount(account, this.now());
  }

  /** Settles when everything that was taken so far is durable and answered. */
  async drained(): Promise<void> {
    const isBusy = () => this.#mailbox.length > 0 || this.#open !== null || this.#inFlight.length > 0;
    while (isBusy() && !this.#finished) {
      await this.#lastDurable;
      await breath(this.#options.scheduler);
    }
  }

  now(): Now {
    return this.#clock.read();
  }

  /** The difference of the machine's clock from wall time, in milliseconds. It is 0 unless a step is not accepted yet. */
  get clockOffMs(): number {
    return this.#clock.offMs;
  }

  /** The clock from which the next start continues. */
  #clockNow(): Uint8Array {
    this.now();
    return writeClock({ clock: this.#clock.stored(), ids: this.state.idTimes });
  }

  #schedule(): void {
    if (this.#scheduled || this.#finished) return;
    this.#scheduled = true;
    this.#options.scheduler.soon(() => {
      this.#scheduled = false;
      this.#guard(() => (this.#inFlight.isStalled ? this.#takeQueries() : this.#takeTurn()));
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

  /** Executes what has arrived as a part of the open turn, and ends the turn if nothing is being written. */
  #takeTurn(): void {
    const now = this.now();
    this.#open ??= new Turn(now, this.#spare);
    const turn = this.#open;
    turn.continueAt(now);
    if (!turn.hasUpkeep && (this.#upkeepQueued || this.#upkeep.isDue(turn.serviceMs))) {
      turn.hasUpkeep = true;
      this.#upkeepQueued = this.#upkeep.run(turn);
    }
    this.#takeMail(turn);
    if (this.#inFlight.length === 0) this.#endTurn();
    if (this.state.records.memtableBytes >= this.#options.memory.checkpointBytes) this.#beginCheckpoint();
  }

  /** Answers what can be answered during a stall. The other answers wait in the open turn. */
  #takeQueries(): void {
    const now = this.now();
    this.#open ??= new Turn(now, this.#spare);
    const reads = this.#inFlight.stalledReads(this.state, this.#open, this.#spare);
    const { turnBytesMax } = this.#options.memory;
    reads.take(this.#mailbox, now, turnBytesMax, (turn, mail) => this.#handle(turn, mail));
  }

  #takeMail(turn: Turn): void {
    while (turn.taken < turnSizeMax && turn.bytes < this.#options.memory.turnBytesMax) {
      const mail = this.#mailbox.take();
      if (mail === undefined) break;
      this.#handle(turn, mail);
      turn.taken++;
      this.#hasTurned = true;
    }
  }

  /** Ends the open turn, so that it is written. Another one begins with what arrives from now on. */
  #endTurn(): void {
    const turn = this.#open;
    this.#open = null;
    if (turn === null || (turn.taken === 0 && !turn.hasUpkeep)) return;
    if (leaseDeliveries(this.state, turn)) this.#upkeepQueued = true;
    if (turn.taken > 0) this.#options.observer.turnEnded(turn.taken, this.#mailbox.length);
    this.#commit(turn);
    if (this.#hasWork) this.#schedule();
  }

  get #hasWork(): boolean {
    return this.#mailbox.length > 0 || this.#upkeepQueued;
  }

  #handle(turn: Turn, mail: Mail): void {
    switch (mail.kind) {
      case 'request':
        turn.bytesTaken += mail.frame.body.length;
        execute(this.state, turn, mail.to, mail.frame);
        break;
      case 'withdrawn':
        answerWithdrawn(turn, mail.to);
        break;
      case 'internal':
        executeInternal(this.state, turn, mail.to, mail.request);
        break;
      case 'outbox':
        takeReports(this.state, turn, mail.peer, mail.message, this.#options.observer.attempted);
        break;
      case 'address':
        addressChecked(this.state, turn, mail);
        break;
    }
  }

  /** Does what became due while the shard was not running. To be awaited before the first request. */
  async catchUp(): Promise<void> {
    while (
      !this.#finished &&
      !this.state.readOnly &&
      dueRecords(this.state.tasks, this.now().serviceMs, 1).length > 0
    ) {
      this.#queueUpkeep();
      await breath(this.#options.scheduler);
    }
  }

  #queueUpkeep(): void {
    this.#upkeepQueued = true;
    this.#schedule();
  }

  /** Makes the turn durable, then releases its answers. A turn that changed nothing waits for those before it. */
  #commit(turn: Turn): void {
    this.#inFlight.push(turn);
    if (turn.entries.length > 0) this.#append(turn);
    this.#lastDurable.then(
      () => {
        const tookMs = this.#inFlight.shift();
        if (this.#finished) return;
        if (turn.entries.length > 0) this.#options.observer.committed(tookMs / 1000);
        turn.release();
        for (const call of turn.networkCalls) this.#options.callNetwork(call);
        if (this.#inFlight.length === 0 && (this.#open !== null || this.#hasWork)) {
          this.#guard(() => this.#takeTurn());
        }
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #append(turn: Turn): void {
    const { log } = this.#journal;
    const { nextSequence: firstSequence } = log;
    const { entries, serviceMs: timeMs, nowMs: wallMs } = turn;
    const { locations, changes, durable } = log.append({ firstSequence, timeMs, wallMs, entries });
    this.#lastDurable = durable;
    this.state.records.pack(entries, changes);
    this.state.remember(turn, locations);
  }

  #checkAddress(command: IssuedCommand, waiter: Waiter | null, url: string): void {
    const settle = (allowed: boolean | null) => {
      this.#mailbox.push({ kind: 'address', command, waiter, allowed });
      this.#schedule();
    };
    this.#options.checkAddress(url).then(settle, () => settle(null));
  }

  /**
   * Does what is due, and begins checkpoints. Returns the milliseconds after which it is to be called again: soon while
   * requests arrive, otherwise when something is due, or after a second.
   */
  tick(): number {
    const { serviceMs } = this.now();
    const isBusy = this.#hasTurned || this.#inFlight.length > 0;
    let nextMs = isBusy ? serviceMs + busyTickMs : serviceMs + idleTickMs;
    this.#hasTurned = false;
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

  /** Begins a checkpoint unless the disk is full. Then writes are refused, so little is left to write. */
  #beginCheckpoint(): void {
    if (this.#checkpointing !== null || this.state.readOnly) return;
    this.checkpoint().catch((error) => this.#fail(error));
  }

  /** Writes rate-limit counts that have changed, and the time with them; to be called once a second. */
  async writeSmallValues(): Promise<void> {
    if (this.state.readOnly) return;
    const { serviceMs } = this.now();
    const changed = this.state.takeCounts();
    const marks = this.#events.unstored;
    if (changed.size === 0 && marks === null && serviceMs < this.#writeAtMs) return;
    this.#writeAtMs = serviceMs + idleWriteMs;
    const values = new Map<string, Uint8Array>([[clockKey, this.#clockNow()]]);
    for (const [scope, counts] of changed) values.set(scope, encodeCounts(counts));
    if (marks !== null) values.set(retentionKey, writeRetention(marks));
    await this.#journal.checkpointer.putSmallValues(values);
    if (marks !== null) this.#events.stored(marks);
  }

  /** Has the changes since the last checkpoint written, and then drops what is no longer needed. One runs at a time. */
  checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#writeCheckpoint().finally(() => {
      this.#checkpointing = null;
    });
    return this.#checkpointing;
  }

  async #writeCheckpoint(): Promise<void> {
    const startedAt = this.#options.scheduler.elapsedMs();
    // What the open turn has changed is flushed, too, so it must be in the log.
    this.#endTurn();
    const { log, checkpointer } = this.#journal;
    const sequence = log.nextSequence - 1;
    this.state.records.beginFlush();
    // The checkpointer reads only what is on disk.
    await this.#lastDurable;
    // If the checkpoint has all turns, nothing in the log tells when the last one was.
    await checkpointer.putSmallValues(new Map([[clockKey, this.#clockNow()]]));
    const records = await checkpointer.write(sequence);
    this.state.records.endFlush();
    this.state.shareMemory();
    const { serviceMs } = this.now();
    this.#lastCheckpointMs = serviceMs;
    this.#options.observer.checkpointed(records, (this.#options.scheduler.elapsedMs() - startedAt) / 1000);
    await checkpointer.drop(serviceMs - segmentRetentionMs);
  }

  /** Takes no more mail, answers what was taken, writes a last checkpoint, and closes the journal. */
  async stop(): Promise<void> {
    await this.drained();
    if (this.#finished) return;
    this.#finished = true;
    await this.#checkpointing;
    await this.#lastDurable;
    // On a full disk the changes stay in the log.
    if (!this.state.readOnly) await this.#writeCheckpoint();
    await this.writeSmallValues();
    await this.#journal.close();
  }
}
