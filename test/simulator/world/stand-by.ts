// A node stands by until it has the lease, put together as src/node/stand-by.ts and the threads of the lease and of a standby do
// it: each is a lane. Then the service of the node opens what the lease gives it.

import { LeaseKeeper } from '../../../src/cluster/lease-keeper.ts';
import type { ReachableNode } from '../../../src/cluster/node.ts';
import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import { shardNumbers } from '../../../src/data-folder/data-folder.ts';
import { DiskRoom } from '../../../src/data-folder/disk-space.ts';
import { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { hasLog } from '../../../src/postgresql/database.ts';
import { type LeaseNotes, PostgresLease } from '../../../src/postgresql/lease-table.ts';
import { LogFollower } from '../../../src/postgresql/log-follower.ts';
import { PostgresNodes } from '../../../src/postgresql/node-table.ts';
import type { OwnerOptions } from '../../../src/postgresql/owner-connection.ts';
import { PartitionTables } from '../../../src/postgresql/partition-table.ts';
import { followUntilDone } from '../../../src/threads/follow-again.ts';
import {
  type FollowedShard,
  followedShard,
  StandbyPartitions,
} from '../../../src/threads/standby-partitions.ts';
import type { Machine } from '../disk/machine.ts';
import { Finding } from '../kernel/findings.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Databases } from '../postgresql/databases.ts';
import { Hosting } from './hosting.ts';
import { ownersOf } from './owners.ts';
import { attemptMsMax, timing } from './timing.ts';
import type { World } from './world.ts';

/** The first node has the lease at once, and needs to follow nobody. */
const aloneMs = 1_000;
const noteMs = 1_000;

/** What a process may believe itself to own. */
export interface Claim {
  readonly ownership: SharedArrayBuffer;
  /** Null where no nodes share the service. */
  readonly lease: number | null;
  readonly quietMs: number;
}

/** Nobody else can own anything. */
export function aloneClaim(shards: number): Claim {
  return { ownership: OwnershipBoard.memory(shards), lease: null, quietMs: 0 };
}

export interface StandByOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly databases: Databases;
  readonly main: Lane;
  readonly folder: DataFolder;
  /** Tells processes of a node apart. */
  readonly process: string;
  /** Hears why the process can't go on. */
  readonly onEnded: (error: unknown) => void;
  /** Hears which node has the lease, when that changes; null: none, or this one. */
  readonly onHolder: (holder: string | null) => void;
  /** Hears of all nodes, once this one has the lease. */
  readonly onNodes: (nodes: readonly ReachableNode[]) => void;
}

export class StandBy {
  readonly #options: StandByOptions;
  readonly #lease: Lane;
  readonly #standby: Lane;
  readonly #ownership: SharedArrayBuffer;
  readonly #taken = Promise.withResolvers<Claim>();
  readonly #followed: number[];
  readonly #lagging = new Set<OwnerOptions>();
  #keeper: LeaseKeeper | null = null;
  /** Those of each database: one that does not answer holds up no other. */
  #standbys: readonly { readonly owner: OwnerOptions; readonly standby: StandbyPartitions }[] = [];
  /** The epoch of the lease that it has; null: it has none. */
  #held: number | null = null;
  #isStopping = false;
  /** What this node runs for another; null: it stands by for nobody, or nothing is lent. */
  hosting: Hosting | null = null;

  constructor(options: StandByOptions) {
    const { machine, folder, onEnded } = options;
    this.#options = options;
    this.#lease = machine.lane('lease');
    this.#standby = machine.lane('standby');
    this.#standby.onError = onEnded;
    this.#ownership = OwnershipBoard.memory(folder.shards);
    this.#followed = shardNumbers(folder).map(() => 0);
    machine.simulation.soon(this.#lease, () => this.#keep());
  }

  /** The thread that keeps the lease. */
  get leaseLane(): Lane {
    return this.#lease;
  }

  get lanes(): readonly Lane[] {
    return [this.#lease, this.#standby, ...(this.hosting?.lanes ?? [])];
  }

  #keep(): void {
    const { world, machine, databases, main, folder, process, onEnded } = this.#options;
    const { simulation } = world;
    const told = (run: () => void) => simulation.soon(main, run);
    const board = new OwnershipBoard(this.#ownership, machine.clocks.trust);
    const identity = { node: machine.name, process, release: 'simulated' };
    const owners = ownersOf(world, databases, this.#lease, folder, null);
    const tables = new PartitionTables(owners);
    let notedEpoch = 0;
    const notes: LeaseNotes = {
      get notedEpoch() {
        return tables.notedEpoch;
      },
      async lookForEpoch() {
        const found = await tables.lookForEpoch();
        notedEpoch = tables.notedEpoch;
        return found;
      },
    };
    const table = new PostgresLease(owners[0]!, identity, notes);
    const nodes = new PostgresNodes(owners[0]!, identity);
    this.#keeper = new LeaseKeeper({
      table,
      ...identity,
      ...timing,
      attemptMs: attemptMsMax,
      lends: world.settings.lends === true,
      timers: { after: (ms, run) => simulation.after(this.#lease, ms, run) },
      now: () => board.now(),
      comesLast: () => this.#lagging.size > 0,
      onTrusted: (sent, ms) => board.trust(sent, ms),
      isTrusted: () => board.isTrusted(),
      onTaken: ({ epoch: lease, isClean, quietMs }) => {
        world.note(`${machine.name} has the lease of epoch ${lease}${isClean ? '' : ', which was not left'}`);
        world.happened.add(isClean ? 'takeover of a lease that was left' : 'takeover');
        world.judge.check(
          'the lease is taken above what is noted of it',
          lease > notedEpoch,
          () => `${machine.name} has taken it with epoch ${lease}, and ${notedEpoch} was noted`,
        );
        this.#held = lease;
        told(() => {
          this.#options.onHolder(null);
          this.#taken.resolve({ ownership: this.#ownership, lease, quietMs });
        });
      },
      refusalOf: () => null,
      onRefused: (reason) => told(() => onEnded(new ServiceCrash(reason))),
      onLost: (why) => {
        if (why !== 'another node has taken it')
          world.happened.add('a lease is given up that another database knows a later one of');
        told(() => onEnded(new ServiceCrash(`the lease is lost: ${why}`)));
      },
      onHolder: (address) =>
        told(() => {
          if (this.#held === null) this.#options.onHolder(address);
        }),
      onWanted: (successor) => told(() => onEnded(new ServiceCrash(`the lease moves to ${successor}`))),
      onTrouble: (trouble) =>
        world.note(`${machine.name}: the lease ${trouble === null ? 'is seen' : `is not seen: ${trouble}`}`),
    });
    this.#keeper.start();
    const link = world.settings.lends ? machine.name : null;
    const noteNode = async () => {
      const followed = Object.fromEntries(this.#followed.entries());
      await nodes.note({ address: machine.name, link, linksBy: 'secrets key' }, followed, []).catch(() => {});
      await tables.look();
      if (this.#held !== null && link !== null)
        await nodes.reachable(tables.partitions).then(
          (reachable) => told(() => this.#options.onNodes(reachable)),
          () => {},
        );
      if (!this.#isStopping) simulation.after(this.#lease, noteMs, () => void noteNode());
    };
    void noteNode();
  }

  /** Resolves, in the main lane, when the node has the lease. */
  async claim(): Promise<Claim> {
    const { world, main, machine } = this.#options;
    const alone = new Promise<null>((resolve) => {
      world.simulation.after(main, aloneMs, () => resolve(null));
    });
    const first = await Promise.race([this.#taken.promise, alone]);
    if (first !== null) return first;
    world.note(`${machine.name} stands by`);
    const { folder } = this.#options;
    const shards = shardNumbers(folder).map((number) => followedShard(folder, number));
    world.simulation.soon(this.#standby, () => this.#follow(shards));
    if (world.settings.lends) this.#host();
    const claim = await this.#taken.promise;
    await this.#stopHosting();
    await this.#stopFollowing();
    return claim;
  }

  /** Follows, for the time that it has the lease, what others run for it. */
  followLent(): void {
    this.#options.world.simulation.soon(this.#standby, () => this.#follow([]));
  }

  #host(): void {
    const { world, machine, databases, folder, process } = this.#options;
    const release = (number: number, hosting: Lane) => this.release(number, hosting);
    const followAgain = (number: number, isWanted: () => boolean) => this.followAgain(number, isWanted);
    this.hosting = new Hosting({ world, machine, databases, folder, process, release, followAgain });
    this.hosting.lane.onError = this.#options.onEnded;
  }

  async #stopHosting(): Promise<void> {
    const { hosting } = this;
    if (hosting === null) return;
    await this.#inLane(hosting.lane, () => hosting.stop());
    this.#options.world.simulation.cut(hosting.lane);
    this.hosting = null;
  }

  /** Nobody follows the partition any more when it resolves, in the lane `back`. */
  release(number: number, back: Lane): Promise<void> {
    const { world, machine, folder } = this.#options;
    const release = async () => {
      await this.#standbyOf(number)?.release(number);
      world.closesAll(machine, this.#standby, folder.shardDir(number));
    };
    return this.#inLane(this.#standby, release, back);
  }

  /** The partition is followed again, as soon as that goes, unless it is not wanted any more. */
  followAgain(number: number, isWanted: () => boolean): void {
    const { world, folder } = this.#options;
    const { simulation } = world;
    const lane = this.#standby;
    const ask = (_: string, { shard }: { readonly shard: FollowedShard }) =>
      this.#standbyOf(number)?.follow(shard) ?? Promise.reject(new Error('nothing is followed yet'));
    const logger = { error: (trouble: string) => world.note(trouble) };
    const timers = { after: (ms: number, run: () => void) => simulation.after(lane, ms, run) };
    simulation.soon(lane, () => {
      const isStill = () => isWanted() && !this.#isStopping;
      void followUntilDone({ ask } as never, followedShard(folder, number), isStill, logger as never, timers);
    });
  }

  #standbyOf(number: number): StandbyPartitions | undefined {
    return this.#standbys.find(({ owner }) => hasLog(owner, number))?.standby;
  }

  #follow(shards: readonly FollowedShard[]): void {
    const { world, databases, folder, onEnded, main } = this.#options;
    const { simulation } = world;
    const owners = ownersOf(world, databases, this.#standby, folder, null);
    this.#standbys = owners.map((owner) => {
      const here = shards.filter(({ identity }) => hasLog(owner, identity.shard));
      const standby = this.#standbyAt(owner, here);
      standby.start((error) => simulation.soon(main, () => onEnded(error)));
      return { owner, standby };
    });
  }

  #standbyAt(owner: OwnerOptions, shards: readonly FollowedShard[]): StandbyPartitions {
    const { world, folder } = this.#options;
    const { simulation, settings } = world;
    const lane = this.#standby;
    const room = new DiskRoom(folder.path);
    const onTrouble = (trouble: string | null) => {
      if (trouble !== null && owner.division !== null) this.#lagging.delete(owner);
    };
    return new StandbyPartitions({
      shards,
      follower: new LogFollower({ ...owner, onTrouble }),
      segmentBytesMax: settings.segmentBytesMax,
      logBytesMax: settings.logBytesMax,
      checkpointIntervalMs: settings.checkpointIntervalMs,
      timers: { after: (ms, run) => simulation.after(lane, ms, run) },
      scheduler: { soon: (run) => simulation.soon(lane, run), elapsedMs: () => simulation.nowMs },
      isDiskFull: () => room.isFull(),
      onWhole() {},
      // No fault damages the disk of a node: what looks like that was refused wrongly, or hides what PostgreSQL has lost.
      onDamaged: (_, message) =>
        world.judge.found(new Finding('a wrong promotion is refused and told', message)),
      onFollowed: (partition, sequence) => {
        this.#followed[partition] = sequence;
      },
      onBehind() {},
      onLagging: (isLagging) => {
        if (isLagging) this.#lagging.add(owner);
        else this.#lagging.delete(owner);
      },
    });
  }

  /** Up to which sequence each partition is followed. */
  get followed(): readonly number[] {
    return this.#followed;
  }

  #stopFollowing(): Promise<void> {
    const { world, machine } = this.#options;
    return this.#inLane(this.#standby, async () => {
      await Promise.all(this.#standbys.map(({ standby }) => standby.stop()));
      world.closesAll(machine, this.#standby);
    });
  }

  /** Ends what was begun, and leaves the lease. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#stopHosting();
    await this.#stopFollowing();
    await this.#inLane(this.#lease, async () => this.#keeper?.stop());
  }

  /** The promise is settled in the lane `back`. */
  #inLane(lane: Lane, task: () => Promise<void>, back = this.#options.main): Promise<void> {
    const { world } = this.#options;
    return new Promise((resolve, reject) => {
      world.simulation.soon(lane, () => {
        task().then(
          () => world.simulation.soon(back, resolve),
          (error) => world.simulation.soon(back, () => reject(error)),
        );
      });
    });
  }
}

/** The process ends, and is started again. */
export class ServiceCrash extends Error {
  override name = 'ServiceCrash';
}
