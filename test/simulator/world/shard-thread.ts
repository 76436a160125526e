// A shard's thread, put together as src/process/shard-thread.ts does it: the journal, the shard, the networks' runner, and
// what its timers do; all of it runs in a lane, with the checkpoint's lane beside it.

import { indexRowsOf } from '../../../src/domain/indexes.ts';
import { networkCallOf } from '../../../src/domain/network-call.ts';
import type { Change, NetworkCallRecord, StoredRecord } from '../../../src/domain/record.ts';
import type { Journal, OwnJournal } from '../../../src/journal/journal.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { createRunner, type Runner } from '../../../src/networks/runner.ts';
import { createSimulator } from '../../../src/networks/simulator.ts';
import type { DataFolder } from '../../../src/process/data-folder.ts';
import { hasRoom } from '../../../src/process/disk-space.ts';
import type { ShardAccount } from '../../../src/shard/account.ts';
import { memoryShares, shardMibMin } from '../../../src/shard/memory.ts';
import type { FromShard, ToShard } from '../../../src/shard/protocol.ts';
import { settlementOf } from '../../../src/shard/settlement.ts';
import { Shard } from '../../../src/shard/shard.ts';
import { shardOfOrganization } from '../../../src/shard/shard-map.ts';
import { directoryRevisionKey, writeRevision } from '../../../src/shard/small-values.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import { auditRecovery } from './audit-recovery.ts';
import type { End } from './channel.ts';
import { CheckpointLane } from './checkpoint-lane.ts';
import type { World } from './world.ts';

export const webhookRetryMs = [1_000, 4_000, 15_000];
const networkTimeoutMs = 20_000;
const on = { card: true, cash: true };
const availability = { test: on, live: on };

export interface ShardThreadOptions {
  readonly world: World;
  readonly number: number;
  readonly folder: DataFolder;
  readonly accounts: readonly ShardAccount[];
  /** The directory's. */
  readonly revision: number;
  readonly onFailure: (error: unknown) => void;
  readonly onCheckpoint: (sequence: number) => void;
}

export class ShardThread {
  readonly lane: Lane;
  readonly #options: ShardThreadOptions;
  readonly #checkpointer: CheckpointLane;
  readonly #random: Random;
  readonly #records = new Map<string, StoredRecord>();
  shard!: Shard;
  #journal!: OwnJournal;
  #runner!: Runner;
  #isStopping = false;
  #isIdle = false;
  #cancelTick = () => {};

  constructor(options: ShardThreadOptions) {
    const { world, number, folder } = options;
    const { simulation } = world;
    this.#options = options;
    this.lane = simulation.lane(`shard ${number}`);
    this.lane.onError = options.onFailure;
    this.#random = simulation.random(`shard ${number} at ${simulation.tasks}`);
    this.#checkpointer = new CheckpointLane(simulation, this.lane, `checkpoint ${number}`, {
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      segmentBytesMax: world.settings.segmentBytesMax,
      logBytesMax: world.settings.logBytesMax,
    });
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
    const { world, number, folder, accounts, revision, onFailure } = this.#options;
    const { simulation, machine, clocks, settings } = world;
    this.#journal = await openJournal({
      dir: folder.shardDir(number),
      identity: folder.shardIdentity(number),
      indexRowsOf,
      segmentBytesMax: settings.segmentBytesMax,
      checkpointer: this.#checkpointer,
      warn: (message, fields) => {
        world.note(`shard ${number} warns: ${message} ${JSON.stringify(fields)}`);
        world.judge.check('the service starts on what a crash leaves', world.isDamaged, () => message);
      },
    });
    const timers = { after: (ms: number, run: () => void) => simulation.after(this.lane, ms, run) };
    const scheduler = {
      soon: (run: () => void) => simulation.soon(this.lane, run),
      elapsedMs: () => simulation.nowMs,
    };
    const cashCodeMs = 3 * 86_400_000;
    const callOf = (call: NetworkCallRecord) => networkCallOf(this.shard.state.records, call, cashCodeMs);
    const test = createSimulator('test', {
      latencyMs: 20,
      refundSettleMs: 2_000,
      processingSettleMs: 3_000,
      now: clocks.wall,
      timers,
    });
    this.#runner = createRunner({
      networks: { test: world.bank.overhear(test), live: world.bank.connect() },
      timers,
      timeoutMs: networkTimeoutMs,
      onTrouble: () => {},
      settle: async (call, outcome) => {
        const answer = await this.shard.ask(settlementOf(call, outcome));
        if (!answer.ok && answer.code !== 'resource_missing') throw new Error(answer.message);
      },
    });
    const { cacheBytesMax, checkpointBytes, unwrittenBytesMax } = settings;
    const shares = memoryShares(shardMibMin);
    const journal = this.#remembering(this.#journal);
    this.shard = new Shard(
      {
        journal,
        settings: { baseUrl: 'https://pay.test', cardPageMs: 1_800_000, cashCodeMs, webhookRetryMs },
        availability,
        fillRandom: this.#random.fill,
        secrets: { seal: (secret) => `sealed ${secret}` },
        memory: { ...shares, cacheBytesMax, checkpointBytes, unwrittenBytesMax },
        clocks,
        scheduler,
        clockObserver: { jumped() {}, followed() {} },
        checkpointIntervalMs: settings.checkpointIntervalMs,
        callNetwork: (call) => this.#runner.run(callOf(call)),
        checkAddress: async (url) => {
          await simulation.wait(this.#random.skewed(1, 200));
          if (url.includes('unknown')) throw new Error('no such name');
          return !url.includes('private');
        },
        deliveryRetentionMs: 30 * 86_400_000,
        eventRetentionMs: 30 * 86_400_000,
        observer: {
          turnEnded() {},
          committed() {},
          attempted() {},
          checkpointed: () => this.#options.onCheckpoint(this.#journal.checkpoint.sequence),
        },
        onDamage: (reason) => this.#damaged(reason),
        onFailure,
      },
      accounts,
    );
    const open = this.shard.openNetworkCalls().map(callOf);
    const isHere = (org: string) => shardOfOrganization(org, folder.shards) === number;
    auditRecovery(world, this.shard, this.#records, isHere);
    this.#runner.recover(open);
    this.#watchDisk(true);
    this.#note(revision);
    this.#tick();
    this.#everySecond();
    await this.shard.catchUp();
    await this.shard.writeSmallValues();
    machine.step();
  }

  /** The journal, and what it holds: the records of the checkpoint, then the log's, then what is appended. */
  #remembering(journal: OwnJournal): Journal {
    const records = this.#records;
    if (!this.#options.world.isDamaged)
      for (const record of journal.checkpoint.records()) records.set(record.id, record);
    const remember = (changes: readonly Change[]) => {
      for (const change of changes) {
        if (change.removed) records.delete(change.id);
        else records.set(change.id, change);
      }
    };
    const { log, checkpoint, checkpointer } = journal;
    return {
      checkpoint,
      checkpointer,
      close: () => journal.close(),
      *replay() {
        for (const entry of journal.replay()) {
          remember(entry.changes);
          yield entry;
        }
      },
      log: {
        get nextSequence() {
          return log.nextSequence;
        },
        append(turn) {
          for (const { changes } of turn.entries) remember(changes);
          return log.append(turn);
        },
        readResponse: (location, keyDigest) => log.readResponse(location, keyDigest),
        close: () => log.close(),
      },
    };
  }

  /** Every record that the journal holds. */
  records(): ReadonlyMap<string, StoredRecord> {
    return this.#records;
  }

  #damaged(reason: string): void {
    const { world, onFailure } = this.#options;
    // An environment whose commit has failed refuses reads, too, until the shard has ended of it.
    if (reason.includes('MDB_PANIC')) return;
    world.happened.add('damage told');
    world.judge.check('damage is noticed', world.isDamaged, () => `${reason}, and nothing was damaged`);
    if (!world.isDamaged) onFailure(new Error(reason));
  }

  #tick(): void {
    const waitMs = this.shard.tick();
    this.#isIdle = waitMs > 100;
    this.#cancelTick = this.#options.world.simulation.after(this.lane, waitMs, () => {
      if (!this.#isStopping) this.#tick();
    });
  }

  #everySecond(): void {
    this.#options.world.simulation.after(this.lane, 1_000, () => {
      if (this.#isStopping) return;
      this.#watchDisk(false);
      this.shard.writeSmallValues().catch(this.#options.onFailure);
      this.#everySecond();
    });
  }

  #watchDisk(thorough: boolean): void {
    const { state } = this.shard;
    const { folder, number } = this.#options;
    state.readOnly = !hasRoom(folder.shardDir(number), thorough || state.readOnly);
  }

  /** Notes the newest change of the directory that the shard knows. */
  #note(revision: number): void {
    if (this.shard.state.readOnly) return;
    const values = new Map([[directoryRevisionKey, writeRevision(revision)]]);
    this.#journal.checkpointer.putSmallValues(values).catch(this.#options.onFailure);
  }

  putAccount(account: ShardAccount, revision: number): void {
    this.shard.putAccount(account);
    this.#note(revision);
  }

  connect(port: End<FromShard, ToShard>): void {
    const peer = { post: (message: FromShard) => port.postMessage(message) };
    port.on('message', (message) => {
      this.shard.receive(message, peer);
      // Something may be due soon.
      if (this.#isStopping || !this.#isIdle) return;
      this.#isIdle = false;
      this.#cancelTick();
      this.#cancelTick = this.#options.world.simulation.after(this.lane, 100, () => {
        if (!this.#isStopping) this.#tick();
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelTick();
    this.#runner.stop();
    await this.shard.stop();
  }
}
