// A shard's thread: the journal and the shard, wired as the service wires them (src/threads/running-shard.ts). It runs in a lane,
// with the checkpoint's lane beside it.

import { ownerOfLog } from '../../../src/config/postgresql.ts';
import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import type { NotedEnd } from '../../../src/data-folder/sequence-notes.ts';
import { indexRowsOf } from '../../../src/domain/indexes.ts';
import type { Change, StoredRecord } from '../../../src/domain/record.ts';
import type { Journal, LogBatch, OwnJournal } from '../../../src/journal/journal.ts';
import { foldersOfJournal, openJournal } from '../../../src/journal/open-journal.ts';
import type { OwnershipBoard } from '../../../src/journal/ownership.ts';
import type { RemoteLog } from '../../../src/journal/remote-log.ts';
import { createSimulator } from '../../../src/networks/simulator.ts';
import { PostgresLog } from '../../../src/postgresql/partition-log.ts';
import type { ShardAccount } from '../../../src/shard/account.ts';
import type { Peer } from '../../../src/shard/commit-batch.ts';
import { memoryShares, shardMibMin } from '../../../src/shard/memory.ts';
import { type PackedOutbox, receivedByShard, sendFromShard } from '../../../src/shard/packed-outbox.ts';
import type { FromShard, ToShard } from '../../../src/shard/protocol.ts';
import type { Shard } from '../../../src/shard/shard.ts';
import { shardOfOrganization } from '../../../src/shard/shard-map.ts';
import { RunningShard } from '../../../src/threads/running-shard.ts';
import type { Machine } from '../disk/machine.ts';
import { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import { Layers } from '../oracle/layers.ts';
import { Oracle } from '../oracle/oracle.ts';
import type { Databases } from '../postgresql/databases.ts';
import { batchesIn, syncedEnd } from '../tools/stored-log.ts';
import type { Admission } from './admission.ts';
import { auditRecovery } from './audit-recovery.ts';
import { CheckpointLane } from './checkpoint-lane.ts';
import { networksOf } from './networks.ts';
import { ownersOf } from './owners.ts';
import { Undurable } from './prompt-reads.ts';
import { ShardTools } from './shard-tools.ts';
import { pageMs } from './timing.ts';
import { webhookThreads } from './webhook-thread.ts';
import type { World } from './world.ts';

export const webhookRetryMs = [1_000, 4_000, 15_000];
const dayMs = 86_400_000;
const eventRetentionMs = 30 * dayMs;

/** In some runs chance comes upon numbers that were drawn before, as for a cash code. */
function hasFewNumbers(seed: string): boolean {
  return new Random(`${seed}/few numbers`).chance(0.06);
}

export interface ShardThreadOptions {
  readonly world: World;
  readonly machine: Machine;
  /** Null where the data folder alone holds the log. */
  readonly databases: Databases | null;
  readonly lease: number | null;
  readonly board: OwnershipBoard;
  /** That of the link that it came by; 0: the process that has the lease runs it. */
  readonly term: number;
  readonly number: number;
  readonly folder: DataFolder;
  readonly accounts: readonly ShardAccount[];
  /** The directory's. */
  readonly revision: number;
  readonly onFailure: (error: unknown) => void;
  /** Hears that the partition can't be taken for now: its database may be away for long. */
  readonly onWaits: () => void;
  readonly onDurable: (end: NotedEnd) => void;
}

/** The shard's end of a channel to an edge, or to a webhook thread, which gets what it gets as bytes. */
interface ShardPort {
  postMessage(message: FromShard | PackedOutbox): void;
  on(event: 'message', listener: (message: ToShard | PackedOutbox) => void): void;
  on(event: 'close', listener: () => void): void;
}

export class ShardThread {
  readonly lane: Lane;
  readonly undurable: Undurable;
  readonly #options: ShardThreadOptions;
  readonly #checkpointer: CheckpointLane;
  readonly #random: Random;
  readonly #records = new Map<string, StoredRecord>();
  #journal!: OwnJournal;
  #tools!: ShardTools;
  #running: RunningShard | undefined;
  #isStopping = false;
  #hasFailed = false;
  #oracle: Oracle | null = null;
  /** Of the edges that are connected. */
  readonly #admissions = new Set<Admission>();
  readonly #peers = new Set<Peer>();
  /** Where several may append to a log, each has a history of its own. */
  readonly #owner: string;

  constructor(options: ShardThreadOptions) {
    const { world, machine, number, folder } = options;
    const { simulation } = world;
    this.#options = options;
    this.lane = machine.lane(`shard ${number}`);
    this.undurable = new Undurable(simulation, this.lane);
    this.#owner = options.databases === null ? '' : this.lane.name + simulation.tasks;
    this.lane.onError = options.onFailure;
    this.#random = simulation.random(`shard ${number} at ${simulation.tasks}`);
    this.#checkpointer = new CheckpointLane(machine, this.lane, `checkpoint ${number}`, {
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      segmentBytesMax: world.settings.segmentBytesMax,
      logBytesMax: world.settings.logBytesMax,
      isArchived: world.settings.archiveAgeMs > 0,
    });
  }

  /** The epoch of the lease that it runs by. */
  get lease(): number | null {
    return this.#options.lease;
  }

  /** The epoch by which it has taken its partition; null: it has not, or its thread has ended. */
  get epoch(): number | null {
    return this.lane.isCut || this.#running === undefined ? null : this.#journal.ownership.epoch;
  }

  /** Whether somebody else has taken its partition, as far as it had it. */
  get isOvertaken(): boolean {
    const { world, number } = this.#options;
    return this.#running === undefined || world.newestOwner(number) > this.#journal.ownership.epoch;
  }

  get lanes(): readonly Lane[] {
    return [this.lane, this.#checkpointer.lane];
  }

  /** Opens the journal and recovers, in the thread's lane; `ready` follows. */
  start(ready: () => void): void {
    this.#options.world.simulation.soon(this.lane, () => {
      this.#open().then(ready, this.#options.onFailure);
    });
  }

  async #open(): Promise<void> {
    const { world, machine, databases, board, term, lease, number, folder, accounts, revision, onFailure } =
      this.#options;
    const { simulation, settings } = world;
    const { clocks } = machine;
    this.#journal = await openJournal({
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      indexRowsOf,
      segmentBytesMax: settings.segmentBytesMax,
      checkpointer: this.#checkpointer,
      ...this.#remote(),
      onOwnership: (isHeld) => board.setHeld(number, isHeld),
      isTrusted: () => board.isTrustedIn(term),
    });
    this.#tools = new ShardTools({
      ...this.#options,
      lane: this.lane,
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      journal: this.#journal,
      history: this.#history,
    });
    const timers = { after: (ms: number, run: () => void) => simulation.after(this.lane, ms, run) };
    const scheduler = {
      soon: (run: () => void) => simulation.soon(this.lane, run),
      elapsedMs: () => simulation.nowMs,
    };
    const test = createSimulator('test', {
      latencyMs: 20,
      refundSettleMs: 2_000,
      processingSettleMs: 3_000,
      now: clocks.wall,
      timers,
    });
    const shares = memoryShares(shardMibMin);
    const { cacheBytesMax, checkpointBytes, unwrittenBytesMax } = settings;
    const { outboxBytesMax = shares.outboxBytesMax } = settings;
    const running = new RunningShard({
      dir: folder.shardDir(number),
      journal: this.#remembering(this.#journal),
      accounts,
      revision,
      paused: folder.paused !== null && world.isPaused,
      networks: networksOf(
        world.bank.overhear(test, this.#owner),
        world.bank.connect(this.#owner, lease),
        settings.hasHostedCards,
      ),
      timers,
      settings: {
        baseUrl: 'https://pay.test',
        cardPageMs: settings.hasHostedCards || settings.decidesLate ? pageMs : 1_800_000,
        cashCodeMs: 3 * dayMs,
        webhookRetryMs,
        attemptsKeptMax: settings.receiversRefuse ? 24 : 1_000_000,
        answersKeptMax: settings.receiversRefuse ? 9 : 64,
      },
      fillRandom: hasFewNumbers(simulation.seed) ? this.#random.fillWithFew : this.#random.fill,
      secrets: { seal: (secret) => `sealed ${secret}` },
      memory: { ...shares, cacheBytesMax, checkpointBytes, unwrittenBytesMax, outboxBytesMax },
      webhookThreads,
      clocks,
      scheduler,
      clockObserver: { jumped() {}, followed() {} },
      checkpointIntervalMs: settings.checkpointIntervalMs,
      checkAddress: async (url) => {
        await simulation.wait(this.#random.skewed(1, 200));
        if (url.includes('unknown')) throw new Error('no such name');
        return !url.includes('private');
      },
      deliveryRetentionMs: 30 * dayMs,
      eventRetentionMs,
      observer: {
        batchEnded() {},
        committed() {},
        attempted() {},
        stalled: (stalledMs) => {
          for (const peer of this.#peers) peer.post({ stalledMs }, []);
        },
        checkpointed() {},
      },
      onNetworkTrouble() {},
      onCallback() {},
      onDurable: this.#options.onDurable,
      onDisk() {},
      onDamage: (reason) => this.#damaged(reason),
      onVisitFailed: onFailure,
      onFailure: (error) => {
        this.#hasFailed = true;
        onFailure(error);
      },
    });
    const { records } = running.shard.state;
    this.undurable.watch(records);
    const cold = this.#journal.checkpoint;
    const chance = simulation.random(`layers of shard ${number} at ${simulation.tasks}`);
    const layers = new Layers(world, chance, this.#records.values(), cold, records, cacheBytesMax);
    // What the shard has seen right before its checkpoint is written must not be what it sees afterwards.
    this.#checkpointer.onWriting = () => layers.look();
    await running.recover();
    this.#running = running;
    // Of what another owner has done since then it may know nothing, and it says nothing.
    const isNewest = databases === null || world.newestOwner(number) <= this.#journal.ownership.epoch;
    const isHere = (org: string) => isNewest && shardOfOrganization(org, folder.shards) === number;
    auditRecovery(world, running.shard, this.#records, isHere);
    const stored = batchesIn(machine.volume, foldersOfJournal(folder.shardDir(number)).log);
    this.#history.recovered(this.#journal.log.nextSequence, this.#records, stored);
    const [{ serviceMs }, { newestMs }] = [running.shard.now(), this.#history];
    world.judge.check(
      'the time of a shard does not go back',
      serviceMs >= newestMs || world.isDamaged,
      () => `shard ${number} goes on at ${serviceMs}, and its newest entry is of ${newestMs}`,
    );
    world.serves(machine.name, number);
    this.#auditMirror();
    const { state } = running.shard;
    const { checkpoint } = this.#journal;
    const now = () => running.shard.now();
    const oracle = new Oracle(
      world,
      this.#records.values(),
      state,
      accounts,
      checkpoint,
      this.undurable,
      now,
    );
    this.#oracle = oracle;
    const tick = running.shard.tick.bind(running.shard);
    running.shard.tick = () => {
      oracle.promptness.ticked(running.shard);
      return tick();
    };
    const { serviceMs: startedMs } = running.shard.now();
    await running.start();
    if (!state.readOnly) oracle.promptness.judgeDue(startedMs);
    machine.step();
  }

  /** What was recovered is what PostgreSQL has, unless somebody else has taken the partition meanwhile. */
  #auditMirror(): void {
    const { world, databases, number } = this.#options;
    const row = databases?.of(number).primary.tables.partition(number);
    if (row === undefined || row.epoch !== this.#journal.ownership.epoch) return;
    const { nextSequence } = this.#journal.log;
    world.judge.check(
      'a mirror holds what the log holds',
      nextSequence === row.next_sequence,
      () =>
        `partition ${number} is recovered up to ${nextSequence - 1} and ends with ${row.next_sequence - 1}`,
    );
  }

  /** The checkpoint knows of the segment, so that its loss is noticed. Where PostgreSQL has the log it need not be there yet. */
  #auditNoted(last: number): void {
    const { world, databases } = this.#options;
    if (databases !== null) return;
    const isNoted = last < this.#checkpointer.unnoted;
    world.judge.check('damage is noticed', isNoted, () => `nobody would miss the segment that has ${last}`);
  }

  /** What counts as durable is what PostgreSQL has of this owner. */
  #auditStored(first: number, last: number): void {
    const { world, databases, number } = this.#options;
    if (databases === null || world.isDamaged) return;
    const { epoch } = this.#journal.ownership;
    const [row] = databases.of(number).primary.tables.logAfter(number, first - 1, 1);
    world.judge.check(
      'nothing acknowledged is lost',
      row?.first === first && row.last === last && row.epoch === epoch,
      () =>
        `partition ${number} has entries ${first} to ${last} of epoch ${epoch}, and PostgreSQL has others or none`,
    );
  }

  #remote(): { readonly remote?: RemoteLog } {
    const { world, databases, folder, lease, number, onWaits } = this.#options;
    if (databases === null) return {};
    const tell = (trouble: string | null) => {
      if (trouble !== null) onWaits();
    };
    const owners = ownersOf(world, databases, this.lane, folder, lease, tell);
    const remote = new PostgresLog({ ...ownerOfLog(owners, number), partition: number });
    const note = remote.note.bind(remote);
    remote.note = (epoch, metadata, mirrored) => {
      this.#auditMirrored(mirrored);
      return note(epoch, metadata, mirrored);
    };
    return { remote };
  }

  /** What is noted as mirrored is on this machine's disk. */
  #auditMirrored(sequence: number): void {
    const { world, machine, folder, number } = this.#options;
    const { log } = foldersOfJournal(folder.shardDir(number));
    const synced = Math.max(this.#journal.checkpoint.sequence, syncedEnd(machine.volume, log));
    world.judge.check(
      'a mirror holds what the log holds',
      sequence <= synced,
      () =>
        `partition ${number} is noted as mirrored up to ${sequence}, and a power cut leaves it up to ${synced}`,
    );
  }

  /** Undefined while it has not recovered, once it stops, and when it has ended, wherever it ran. */
  get shard(): Shard | undefined {
    return this.#isStopping || this.lane.isCut ? undefined : this.#running?.shard;
  }

  /** The journal, and what it holds: the records of the checkpoint, then the log's, then what is appended. */
  #remembering(journal: OwnJournal): Journal {
    const records = this.#records;
    const { machine } = this.#options;
    if (this.#options.world.fitsTogether)
      for (const record of journal.checkpoint.records()) records.set(record.id, record);
    const remember = (changes: readonly Change[]) => {
      for (const change of changes) {
        if (change.removed) records.delete(change.id);
        else records.set(change.id, change);
      }
    };
    const { log, checkpoint } = journal;
    const history = this.#history;
    return {
      ownership: journal.ownership,
      checkpoint,
      checkpointer: this.#tools.checkpointer,
      close: () => journal.close(),
      async *replay() {
        for await (const entries of journal.replay()) {
          for (const { changes } of entries) remember(changes);
          yield entries;
        }
      },
      log: {
        get nextSequence() {
          return log.nextSequence;
        },
        get durableEnd() {
          return log.durableEnd;
        },
        append: (turn) => {
          for (const { changes } of turn.entries) remember(changes);
          this.#auditPruned(turn);
          const appended = log.append(turn);
          const { atAppend } = machine;
          machine.atAppend = null;
          atAppend?.();
          history.appended(turn, journal.ownership.epoch, appended.locations);
          this.undurable.appended(appended.durable);
          for (const admission of this.#admissions) admission.appended(turn);
          const last = log.nextSequence - 1;
          appended.durable.then(
            () => {
              history.durable = Math.max(history.durable, last);
              this.#auditNoted(last);
              this.#auditStored(turn.firstSequence, last);
            },
            () => {},
          );
          return appended;
        },
        readResponse: (location, keyDigest) => log.readResponse(location, keyDigest),
        close: () => log.close(),
      },
    };
  }

  /** Events go when they are past their retention, and not before. */
  #auditPruned({ timeMs, entries }: LogBatch): void {
    for (const { kind, id, removed } of entries.flatMap(({ changes }) => changes)) {
      if (!removed || kind !== 'event') continue;
      const madeMs = this.#history.madeMs(id);
      this.#options.world.judge.check(
        'what is within its retention stays',
        madeMs === null || timeMs - madeMs >= eventRetentionMs,
        () => `${id} of ${madeMs} is gone at ${timeMs}`,
      );
    }
  }

  get #history() {
    const { world, folder, number } = this.#options;
    return world.historyOf(folder, number, this.#owner);
  }

  /** The data folder is not paused any more. */
  resume(): void {
    this.#running?.resume();
  }

  /** Every record that the journal holds. */
  records(): ReadonlyMap<string, StoredRecord> {
    return this.#records;
  }

  #damaged(reason: string): void {
    const { world, onFailure } = this.#options;
    world.happened.add('damage told');
    world.judge.check('damage is noticed', world.isDamaged, () => `${reason}, and nothing was damaged`);
    if (!world.isDamaged) onFailure(new Error(reason));
  }

  /** How far the log has come on this machine; null: it is not open yet. */
  get mirrorEnd(): { readonly sequence: number; readonly checksum: number | null } | null {
    if (this.#running === undefined) return null;
    const { durableEnd, nextSequence } = this.#journal.log;
    return durableEnd ?? { sequence: nextSequence - 1, checksum: null };
  }

  putAccount(account: ShardAccount): void {
    this.#running!.shard.putAccount(account);
  }

  noteDirectory(revision: number): void {
    this.#running!.noteDirectory(revision);
  }

  /** `admission` hears what happens to the requests of the port. */
  connect(port: ShardPort, admission: Admission | null = null): void {
    if (admission !== null) this.#admissions.add(admission);
    const { world, lease, number } = this.#options;
    const post = (message: FromShard) => {
      admission?.leaves(message, (requestId) => this.#oracle?.requests.answered(requestId));
      if (message instanceof ArrayBuffer) {
        world.speaks(lease, 'an answer');
        world.speaksFor(number, this.#journal.ownership.epoch);
      }
      if ('outbox' in message) sendFromShard(port, message.outbox);
      else port.postMessage(message);
    };
    const peer = { post };
    this.#peers.add(peer);
    port.on('close', () => {
      this.#peers.delete(peer);
      this.#oracle?.requests.goes(peer);
      this.#running!.shard.disconnected(peer);
    });
    port.on('message', (message) => {
      const received = 'packedOutbox' in message ? { outbox: receivedByShard(message) } : message;
      admission?.arrived(received, (requestId) => {
        // What comes while it stops may be left to its successor.
        if (!this.#isStopping) this.#oracle?.requests.arrived(requestId);
      });
      this.#running!.receive(received, peer);
    });
  }

  /** An operator has the checkpoint compacted. */
  compact(): void {
    this.#tools.compact();
  }

  /** The scrubber reads all that is stored. */
  scrub(): void {
    this.#tools.scrub(this.#checkpointer);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    // It tells nobody of a stall any more.
    this.undurable.isOver = true;
    const isFinished = await this.#running!.stop();
    const { world, machine, databases } = this.#options;
    // PostgreSQL may leave a shard without an answer, a disk does not.
    const isExcused = this.#hasFailed || world.isDamaged || (databases !== null && !isFinished);
    const unanswered = isExcused ? [] : (this.#oracle?.requests.unanswered ?? []);
    world.judge.check(
      'a stop leaves nobody without an answer',
      unanswered.length === 0,
      () => `${unanswered.join(' and ')} had arrived, and are not answered at a stop`,
    );
    // The thread of one that has failed meanwhile ends as it is.
    if (!this.#hasFailed) for (const lane of this.lanes) world.closesAll(machine, lane);
  }
}
