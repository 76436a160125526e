// A node that stands by runs shards for the one that has the lease, put together as src/threads/hosting-thread.ts and
// src/threads/hosting.ts do it: it asks for trust by beats, and what it was lent ends with the link.

import { TrustBorrower } from '../../../src/cluster/lent-trust.ts';
import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import type { KeyRingChange } from '../../../src/edge/api/authenticate.ts';
import { OwnershipBoard } from '../../../src/journal/ownership.ts';
import type { ShardAccount } from '../../../src/shard/account.ts';
import { ownDriftMax } from '../disk/clocks.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { LinkEnd } from '../net/node-link.ts';
import type { Databases } from '../postgresql/databases.ts';
import { Edge } from './edge.ts';
import { judgeFenced, judgeShardFailure } from './failures.ts';
import { HostLinks, type OnTogether } from './host-links.ts';
import { ShardThread } from './shard-thread.ts';
import { timing } from './timing.ts';
import { WebhookThread, webhookThreads } from './webhook-thread.ts';
import type { World } from './world.ts';

/** For so long an edge may go on that has lost its link: its thread may be busy. */
const busyMsMax = 3_000;

/** Clocks tell whole milliseconds, and run a little wrong. */
const roundingMs = 3;

export interface LentShard {
  readonly number: number;
  /** The epoch of the lender's lease. */
  readonly lease: number;
  readonly accounts: readonly ShardAccount[];
  readonly revision: number;
  /** Attempts of webhooks that another node has made may be under way for so long. */
  readonly quietMs: number;
}

/** What the node with the lease hears over a link. */
export interface LenderSide {
  /**
   * `answer` is to be called where the beat came from, with the milliseconds of trust, and until when the lender may believe
   * itself.
   */
  beat(answer: (trustMs: number, untilMs: number) => void): void;
  linked(): void;
  readonly together: OnTogether;
  ready(number: number, thread: ShardThread): void;
  /** Null: it was told to stop. */
  ended(number: number, error: unknown): void;
}

export interface HostingOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly databases: Databases;
  readonly folder: DataFolder;
  /** Tells processes of a node apart. */
  readonly process: string;
  /** Nobody follows the partition any more when it resolves, in the lane of `hosting`. */
  readonly release: (number: number, hosting: Lane) => Promise<void>;
  /** The partition is followed again, unless it is not wanted any more. */
  readonly followAgain: (number: number, isWanted: () => boolean) => void;
}

/** The node that this one runs shards for. */
interface Lender {
  readonly link: LinkEnd;
  /** The epoch of its lease. */
  readonly lease: number;
  readonly side: LenderSide;
}

interface Running {
  readonly thread: ShardThread;
  readonly lender: Lender;
  readonly ended: PromiseWithResolvers<void>;
  hasBegun: boolean;
  isStopping: boolean;
}

export class Hosting {
  readonly lane: Lane;
  readonly process: string;
  readonly #options: HostingOptions;
  readonly #board: OwnershipBoard;
  readonly #trust: TrustBorrower;
  /** With others that run something for the same node. */
  readonly #hosts: HostLinks;
  readonly #shards = new Map<number, Running>();
  /** What was lent and is not to stop. */
  readonly #wanted = new Map<number, LentShard>();
  readonly #webhooks: WebhookThread[] = [];
  #lender: Lender | null = null;
  /** It takes the requests that come to this node; null: they are passed on. */
  #edge: Edge | null = null;
  /** Those of earlier links, which take some, too. */
  readonly #endingEdges = new Set<Edge>();
  /** What is done to each partition, one after the other. */
  readonly #work = new Map<number, Promise<void>>();
  /** The partitions that are let go to be started. */
  readonly #starting = new Set<number>();
  #isStopping = false;

  constructor(options: HostingOptions) {
    const { machine, databases, folder, process } = options;
    this.#options = options;
    this.process = process;
    this.lane = machine.lane('hosting');
    this.#board = new OwnershipBoard(OwnershipBoard.untrusted(folder.shards), machine.clocks.trust);
    this.#trust = new TrustBorrower(this.#board, timing.trustMs);
    this.#hosts = new HostLinks(databases.links, machine.name, this.lane, process);
  }

  /** A node with the lease of this epoch has connected. */
  accept(link: LinkEnd, lease: number, side: LenderSide): void {
    if (this.#isStopping || !this.#trust.accepts(lease)) {
      link.end();
      return;
    }
    this.#auditLender(lease);
    this.#lender?.link.end();
    this.#lender = { link, lease, side };
    this.#trust.begin(lease);
    link.onEnded = () => this.#lost(link);
    const beat = () => {
      if (link.isEnded) return;
      const sent = this.#trust.beat();
      const granted = (trustMs: number, untilMs: number) => {
        if (this.#lender?.link !== link) return;
        this.#trust.granted(sent, trustMs);
        this.#auditTrust(untilMs);
      };
      link.send(() => side.beat(granted));
      this.#options.world.simulation.after(this.lane, timing.beatMs, beat);
    };
    beat();
    link.send(() => side.linked());
  }

  /** Who wakes up late takes nobody from the one that lends by now. */
  #auditLender(lease: number): void {
    const before = this.#lender?.lease ?? 0;
    this.#options.world.judge.check(
      'nobody believes to have what another node has taken',
      before <= lease,
      () => `${this.process} is lent something by the lease of epoch ${lease}, and was by that of ${before}`,
    );
  }

  /** The lender may believe itself until then, and this node no longer. */
  #auditTrust(untilMs: number): void {
    const { simulation, judge } = this.#options.world;
    const leftMs = this.#board.trustLeftMs(timing.trustMs);
    const overMs = simulation.nowMs + leftMs;
    judge.check(
      'nobody believes itself for longer than its lender',
      leftMs === 0 || overMs <= untilMs + roundingMs + 2 * ownDriftMax * timing.trustMs,
      () => `${this.process} believes itself until ${overMs}, and its lender until ${untilMs}`,
    );
  }

  #lost(link: LinkEnd): void {
    if (this.#lender?.link !== link) return;
    this.#lender = null;
    this.#hosts.end();
    this.#trust.lost();
    const { simulation } = this.#options.world;
    const chance = simulation.random(`edges of ${this.process} at ${simulation.tasks}`);
    if (this.#edge !== null) this.endEdge(this.#edge, chance.below(busyMsMax));
    this.#wanted.clear();
    for (const number of this.#shards.keys()) this.stopShard(number);
  }

  /** Links with another node that runs something for the same one. */
  linkWith(other: Hosting): void {
    const lender = this.#lender;
    if (lender === null || this.#isStopping) return;
    this.#hosts.make(other.#hosts, (process, ends) =>
      lender.link.send(() => lender.side.together(process, ends)),
    );
  }

  /** Runs an edge for as long as the link is there; null: it is not any more. */
  takeEdge(link: LinkEnd, keys: readonly KeyRingChange[]): Edge | null {
    if (this.#lender?.link !== link || this.#isStopping) return null;
    const { world, machine, folder } = this.#options;
    const { shards } = folder;
    const edge = new Edge({ world, machine, shards, keys, board: this.#board, term: this.#trust.term });
    this.#edge = edge;
    world.happened.add('an edge on another node');
    return edge;
  }

  /** Those that listen, any of which may take a request; null: what passes it on. */
  get listening(): readonly (Edge | null)[] {
    return [...this.#endingEdges, this.#edge];
  }

  /** Ends an edge in so many milliseconds. */
  endEdge(edge: Edge, inMs = 0, onEnded = () => {}): void {
    const { simulation } = this.#options.world;
    if (this.#edge === edge) this.#edge = null;
    this.#endingEdges.add(edge);
    simulation.after(edge.lane, inMs, () => {
      edge.end();
      this.#endingEdges.delete(edge);
      simulation.cut(edge.lane);
      onEnded();
    });
  }

  /** Runs a shard for as long as the link is there. */
  take(lent: LentShard): void {
    const lender = this.#lender;
    if (lender === null) return;
    const { term } = this.#trust;
    this.#wanted.set(lent.number, lent);
    const before = this.#work.get(lent.number) ?? Promise.resolve();
    const work = before
      .then(() => this.#start(lent, lender, term))
      .catch((error) => this.lane.onError(error));
    this.#work.set(lent.number, work);
  }

  async #start(lent: LentShard, lender: Lender, term: number): Promise<void> {
    const { world, machine, databases, folder, release } = this.#options;
    const { simulation } = world;
    const { number, lease, accounts, revision, quietMs } = lent;
    const mayStart = () => this.#wanted.get(number) === lent && !this.#isStopping;
    await this.#shards.get(number)?.ended.promise;
    this.#starting.add(number);
    if (mayStart()) await release(number, this.lane);
    this.#starting.delete(number);
    if (!mayStart()) {
      lender.link.send(() => lender.side.ended(number, null));
      return this.#followAgain(number);
    }
    const thread: ShardThread = new ShardThread({
      world,
      machine,
      databases,
      lease,
      board: this.#board,
      term,
      number,
      folder,
      accounts,
      revision,
      onDurable() {},
      onWaits() {},
      onFailure: (error) => simulation.soon(this.lane, () => this.#ended(number, thread, error)),
    });
    const ended = Promise.withResolvers<void>();
    const running: Running = { thread, lender, ended, hasBegun: false, isStopping: false };
    this.#shards.set(number, running);
    world.note(`partition ${number} is run by ${machine.name}`);
    world.happened.add('a partition that is lent');
    thread.start(() =>
      simulation.soon(this.lane, () => {
        running.hasBegun = true;
        lender.link.send(() => lender.side.ready(number, thread));
        simulation.after(this.lane, quietMs, () => this.#deliver(number, thread));
      }),
    );
  }

  #deliver(number: number, thread: ShardThread): void {
    const running = this.#shards.get(number);
    if (running?.thread !== thread || running.isStopping) return;
    const { world, machine } = this.#options;
    while (this.#webhooks.length < webhookThreads)
      this.#webhooks.push(
        new WebhookThread({
          world,
          machine,
          thread: this.#webhooks.length,
          board: this.#board,
          quietMs: 0,
        }),
      );
    for (const webhooks of this.#webhooks) webhooks.connect(number, thread);
  }

  /** The node with the lease has it stop, or the link is lost. */
  stopShard(number: number): void {
    this.#wanted.delete(number);
    const running = this.#shards.get(number);
    if (running === undefined || running.isStopping) return;
    running.isStopping = true;
    const { simulation } = this.#options.world;
    const { thread, hasBegun } = running;
    const over = () => simulation.soon(this.lane, () => this.#ended(number, thread, null));
    // One that waits for its partition in PostgreSQL has nothing to finish.
    if (hasBegun) simulation.soon(thread.lane, () => void thread.stop().then(over, over));
    else over();
  }

  #ended(number: number, thread: ShardThread, error: unknown): void {
    const running = this.#shards.get(number);
    if (running?.thread !== thread) return;
    const { world, machine } = this.#options;
    const { lender, ended, isStopping } = running;
    if (error !== null && !isStopping) judgeShardFailure(world, error);
    judgeFenced(world, error, thread.isOvertaken);
    for (const lane of thread.lanes) world.simulation.cut(lane);
    machine.released(thread.lanes, false);
    this.#board.setHeld(number, false);
    this.#shards.delete(number);
    for (const webhooks of this.#webhooks) webhooks.disconnected(number);
    if (this.#shards.size === 0) for (const webhooks of this.#webhooks.splice(0)) webhooks.cut();
    world.note(`partition ${number} is not run by ${machine.name} any more`);
    lender.link.send(() => lender.side.ended(number, error));
    ended.resolve();
    this.#followAgain(number);
  }

  #followAgain(number: number): void {
    const isWanted = () => !this.#isStopping && !this.#shards.has(number) && !this.#starting.has(number);
    this.#options.followAgain(number, isWanted);
  }

  /** The epoch of the lease by which it speaks for what it holds; null: it holds nothing. One of an earlier lease may be stopping still. */
  get lease(): number | null {
    for (const [number, { thread, hasBegun }] of this.#shards)
      if (hasBegun && this.isHeld(number)) return thread.lease;
    return null;
  }

  get isTrusted(): boolean {
    return this.owned.some(([number]) => this.isHeld(number));
  }

  /** The partitions that it runs, with the epochs by which it has taken them. */
  get owned(): readonly (readonly [number: number, epoch: number])[] {
    return [...this.#shards].flatMap(([number, { thread, hasBegun }]) =>
      hasBegun && thread.epoch !== null ? [[number, thread.epoch] as const] : [],
    );
  }

  /** Whether it may speak for a partition. */
  isHeld(partition: number): boolean {
    return this.#board.isHeld(partition);
  }

  /** How far the log of a shard that runs here has come; null: it does not run here. */
  mirrorEnd(number: number): ShardThread['mirrorEnd'] | null {
    return this.#shards.get(number)?.thread.mirrorEnd ?? null;
  }

  /** Resolves, in its own lane, when every shard has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const edge of this.listening) if (edge !== null) this.endEdge(edge);
    await Promise.all(this.#work.values());
    const running = [...this.#shards];
    for (const [number] of running) this.stopShard(number);
    await Promise.all(running.map(([, { ended }]) => ended.promise));
    this.#lender?.link.end();
  }

  get lanes(): readonly Lane[] {
    const edges = this.listening.flatMap((edge) => (edge === null ? [] : [edge.lane]));
    return [this.lane, ...edges, ...[...this.#shards.values()].flatMap(({ thread }) => thread.lanes)];
  }

  /** Nothing of this process runs any more. `isSilent`: its machine ends, and nobody is told. */
  cut(isSilent: boolean): void {
    this.#lender?.link.cut(isSilent);
    this.#hosts.cut(isSilent);
    for (const webhooks of this.#webhooks) webhooks.cut(isSilent);
  }
}
