// A node stands by until it has the lease, put together as src/main/stand-by.ts and the threads of the lease and of a standby do
// it: each is a lane. Then the service of the node opens what the lease gives it.

import { LeaseKeeper } from '../../../src/cluster/lease-keeper.ts';
import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import { shardNumbers } from '../../../src/data-folder/data-folder.ts';
import { DiskRoom } from '../../../src/data-folder/disk-space.ts';
import { serviceOf } from '../../../src/data-folder/mirrored-directory.ts';
import { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { PostgresLease } from '../../../src/postgresql/lease-table.ts';
import { LogFollower } from '../../../src/postgresql/log-follower.ts';
import type { OwnerOptions } from '../../../src/postgresql/owner-connection.ts';
import { HostedStandby } from '../../../src/threads/hosted-standby.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { PostgresServers } from '../postgresql/servers.ts';
import type { World } from './world.ts';

/** As src/config has it. */
const timing = { beatMs: 500, trustMs: 2_000, takeMs: 2_500 };
/** The first node has the lease at once, and needs to follow nobody. */
const aloneMs = 1_000;
const noteMs = 1_000;
/** The longest time of an attempt of a webhook. */
export const attemptMsMax = 10_000;

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

export function ownerOptions(
  { simulation }: World,
  servers: PostgresServers,
  lane: Lane,
  folder: DataFolder,
  lease: number | null,
  onTrouble: OwnerOptions['onTrouble'] = () => {},
): OwnerOptions {
  return {
    address: { hosts: servers.hosts, user: 'payments', database: 'payments' },
    password: null,
    ca: null,
    timers: { after: (ms, run) => simulation.after(lane, ms, run) },
    service: serviceOf(folder),
    lease,
    node: null,
    isSingle: false,
    onTrouble,
  };
}

export interface StandByOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly servers: PostgresServers;
  readonly main: Lane;
  readonly folder: DataFolder;
  /** Tells processes of a node apart. */
  readonly process: string;
  /** Hears why the process can't go on. */
  readonly onEnded: (error: unknown) => void;
}

export class StandBy {
  readonly #options: StandByOptions;
  readonly #lease: Lane;
  readonly #standby: Lane;
  readonly #ownership: SharedArrayBuffer;
  readonly #taken = Promise.withResolvers<Claim>();
  readonly #followed: number[];
  #keeper: LeaseKeeper | null = null;
  #hosted: HostedStandby | null = null;
  #isStopping = false;
  /** The node that has the lease, as far as this one knows. */
  holder: string | null = null;

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

  get lanes(): readonly Lane[] {
    return [this.#lease, this.#standby];
  }

  #keep(): void {
    const { world, machine, servers, main, folder, process, onEnded } = this.#options;
    const { simulation } = world;
    const told = (run: () => void) => simulation.soon(main, run);
    const board = new OwnershipBoard(this.#ownership, machine.clocks.trust);
    const identity = { node: machine.name, process, release: 'simulated' };
    const open = () => new PostgresLease(ownerOptions(world, servers, this.#lease, folder, null), identity);
    const [table, notes] = [open(), open()];
    this.#keeper = new LeaseKeeper({
      table,
      ...identity,
      ...timing,
      timers: { after: (ms, run) => simulation.after(this.#lease, ms, run) },
      now: () => board.now(),
      onTrusted: (sent, ms) => board.trust(sent, ms),
      onTaken: (lease, isClean) => {
        world.note(`${machine.name} has the lease of epoch ${lease}${isClean ? '' : ', which was not left'}`);
        world.happened.add(isClean ? 'takeover of a lease that was left' : 'takeover');
        const quietMs = isClean ? 0 : attemptMsMax;
        told(() => this.#taken.resolve({ ownership: this.#ownership, lease, quietMs }));
      },
      refusalOf: () => null,
      onRefused: (reason) => told(() => onEnded(new ServiceCrash(reason))),
      onLost: () => told(() => onEnded(new ServiceCrash('another node has taken the lease'))),
      onHolder: (address) => {
        this.holder = address;
      },
      onWanted: (successor) => told(() => onEnded(new ServiceCrash(`the lease moves to ${successor}`))),
      onTrouble: (trouble) =>
        world.note(`${machine.name}: the lease ${trouble === null ? 'is seen' : `is not seen: ${trouble}`}`),
    });
    this.#keeper.start();
    const noteNode = () => {
      if (this.#isStopping) return;
      const again = () => void simulation.after(this.#lease, noteMs, noteNode);
      notes
        .noteNode({ address: machine.name, link: null }, Object.fromEntries(this.#followed.entries()))
        .then(again, again);
    };
    noteNode();
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
    world.simulation.soon(this.#standby, () => this.#follow());
    const claim = await this.#taken.promise;
    await this.#stopFollowing();
    return claim;
  }

  #follow(): void {
    const { world, servers, folder, onEnded, main } = this.#options;
    const { simulation, settings } = world;
    const lane = this.#standby;
    const room = new DiskRoom(folder.path);
    this.#hosted = new HostedStandby({
      shards: shardNumbers(folder).map((number) => ({
        dir: folder.shardDir(number),
        identity: folder.shardIdentity(number),
      })),
      follower: new LogFollower(ownerOptions(world, servers, lane, folder, null)),
      segmentBytesMax: settings.segmentBytesMax,
      logBytesMax: settings.logBytesMax,
      checkpointIntervalMs: settings.checkpointIntervalMs,
      timers: { after: (ms, run) => simulation.after(lane, ms, run) },
      scheduler: { soon: (run) => simulation.soon(lane, run), elapsedMs: () => simulation.nowMs },
      isDiskFull: () => room.isFull(),
      onWhole() {},
      onFollowed: (partition, sequence) => {
        this.#followed[partition] = sequence;
      },
      onBehind() {},
    });
    this.#hosted.start((error) => simulation.soon(main, () => onEnded(error)));
  }

  /** Up to which sequence each partition is followed. */
  get followed(): readonly number[] {
    return this.#followed;
  }

  #stopFollowing(): Promise<void> {
    return this.#inLane(this.#standby, async () => this.#hosted?.stop());
  }

  /** Ends what was begun, and leaves the lease. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#stopFollowing();
    await this.#inLane(this.#lease, async () => this.#keeper?.stop());
  }

  #inLane(lane: Lane, task: () => Promise<void>): Promise<void> {
    const { world, main } = this.#options;
    return new Promise((resolve, reject) => {
      world.simulation.soon(lane, () => {
        task().then(
          () => world.simulation.soon(main, resolve),
          (error) => world.simulation.soon(main, () => reject(error)),
        );
      });
    });
  }
}

/** The process ends, and is started again. */
export class ServiceCrash extends Error {
  override name = 'ServiceCrash';
}
