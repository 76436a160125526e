// The node that has the lease has others run shards, put together as src/threads/lending-thread.ts and src/threads/lending.ts
// do it: it lends its trust over links, and whatever is lost with one is started anew once that trust is over.

import { TrustLender } from '../../../src/cluster/lent-trust.ts';
import type { ReachableNode } from '../../../src/cluster/node.ts';
import { isDialer } from '../../../src/cluster/wires.ts';
import type { KeyRingChange } from '../../../src/edge/api/authenticate.ts';
import type { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { Placement } from '../../../src/threads/placement.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Links } from '../net/links.ts';
import { LinkEnd } from '../net/node-link.ts';
import { type Path, within } from './channel.ts';
import type { Edge } from './edge.ts';
import type { HostEnds } from './host-links.ts';
import type { Hosting, LenderSide, LentShard } from './hosting.ts';
import type { ShardThread } from './shard-thread.ts';
import { attemptMsMax, timing } from './timing.ts';
import type { World } from './world.ts';

/** What hangs is given up. */
const unansweredMsMax = 5_000;

export interface LendingOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly links: Links;
  /** The lane of the process's main thread. */
  readonly main: Lane;
  readonly shards: number;
  readonly process: string;
  readonly lease: number;
  readonly board: OwnershipBoard;
  /** Lets a partition go that is followed here, and follows it again; both in the main lane. */
  readonly release: (number: number) => Promise<void>;
  readonly followAgain: (number: number, isWanted: () => boolean) => void;
  /** Stops the shard, wherever it runs: it is started again where it is to run. */
  readonly replace: (number: number) => void;
  readonly onReady: (number: number, thread: ShardThread) => void;
  readonly onEnded: (number: number, error: unknown) => void;
  /** What edges are to know now. */
  readonly keys: () => readonly KeyRingChange[];
  /** The shards that run, here or elsewhere. */
  readonly running: () => readonly (readonly [number: number, thread: ShardThread])[];
}

interface Host {
  readonly process: string;
  readonly hosting: Hosting;
  readonly near: LinkEnd;
  readonly far: LinkEnd;
}

/** The edge that a host runs. */
interface LentEdge {
  readonly host: Host;
  /** Null: it has not begun. Known where it runs. */
  edge: Edge | null;
  /** Resolved when it does not go by what it knows any more. */
  readonly ended: PromiseWithResolvers<void>;
}

export class Lending {
  readonly #options: LendingOptions;
  readonly #placement: Placement;
  /** By process. */
  readonly #hosts = new Map<string, Host>();
  readonly #dialed = new Set<string>();
  /** Who runs each shard that is lent. */
  readonly #lent = new Map<number, Host>();
  /** Until they have ended, and may go by what they know. */
  readonly #edges = new Set<LentEdge>();
  /** The ends of the links between other nodes, by the processes that have made them. */
  readonly #together = new Map<string, Map<string, HostEnds>>();
  readonly #quietUntilMs: number[];
  #isStopping = false;

  constructor(options: LendingOptions) {
    const { world, process, shards } = options;
    this.#options = options;
    this.#placement = new Placement(process, shards, () => world.simulation.nowMs);
    this.#quietUntilMs = Array.from({ length: shards }, () => 0);
  }

  /** The nodes that PostgreSQL has heard of lately, this one among them. */
  know(nodes: readonly ReachableNode[]): void {
    if (this.#isStopping) return;
    for (const node of nodes) if (node.process !== this.#options.process) this.#dial(node);
    if (this.#placement.know(nodes) !== null) this.#placement.spread();
    this.#move();
    this.#introduce();
  }

  /** Tells those that run something of each other: they link with each other, too. */
  #introduce(): void {
    const hosts = [...this.#hosts.values()];
    for (const host of hosts)
      for (const other of hosts)
        if (isDialer(host.process, other.process)) host.near.send(() => host.hosting.linkWith(other.hosting));
  }

  #dial({ node, process }: ReachableNode): void {
    const { world, machine, links, main, lease, board } = this.#options;
    const hosting = world.hostingAt(node);
    if (this.#dialed.has(process) || hosting?.process !== process) return;
    const there = { name: node, lane: hosting.lane };
    const [near, far] = LinkEnd.pair(links, { name: machine.name, lane: main }, there, timing.trustMs);
    const host: Host = { process, hosting, near, far };
    const trust = new TrustLender(board, timing.trustMs);
    this.#dialed.add(process);
    near.onEnded = () => this.#lost(host, trust);
    const lender: LenderSide = {
      beat: (answer) => {
        const trustMs = trust.grant();
        const untilMs = world.simulation.nowMs + board.trustLeftMs(timing.trustMs);
        near.send(() => answer(trustMs, untilMs));
      },
      linked: () => {
        if (this.#isStopping) return;
        this.#hosts.set(process, host);
        this.#placement.linked(process, { node, linkNumber: 0, edges: 0 });
        this.#placement.spread();
        this.#move();
        this.#lendEdge(host);
      },
      together: (other, ends) => this.#areTogether(host, other, ends),
      ready: (number, thread) => {
        if (this.#lent.get(number) === host) this.#options.onReady(number, thread);
      },
      ended: (number, error) => {
        if (this.#lent.get(number) !== host) return;
        if (error !== null) {
          this.#placement.failed(process);
          this.#placement.spread();
        }
        this.#over(number, error);
      },
    };
    near.send(() => hosting.accept(far, lease, lender));
  }

  #lost(host: Host, trust: TrustLender): void {
    const { world, main, machine } = this.#options;
    this.#dialed.delete(host.process);
    if (this.#hosts.delete(host.process)) {
      world.note(`${machine.name} loses the link to ${host.process}`);
      world.happened.add('a link over which partitions are lent is lost');
    }
    this.#placement.unlinked(host.process);
    this.#together.delete(host.process);
    for (const made of this.#together.values()) made.delete(host.process);
    this.#placement.spread();
    world.simulation.after(main, trust.overInMs, () => {
      for (const lent of this.#edges) if (lent.host === host) this.#edgeIsOver(lent);
      for (const [number, each] of [...this.#lent])
        if (each === host) this.#over(number, new Error('the link is lost'));
    });
  }

  #lendEdge(host: Host): void {
    const lent: LentEdge = { host, edge: null, ended: Promise.withResolvers() };
    this.#edges.add(lent);
    const keys = this.#options.keys();
    host.near.send(() => {
      lent.edge = host.hosting.takeEdge(host.far, keys);
    });
    for (const [number, thread] of this.#options.running()) this.#connectEdge(lent, number, thread);
  }

  #edgeIsOver(lent: LentEdge): void {
    this.#edges.delete(lent);
    lent.ended.resolve();
  }

  #connectEdge(lent: LentEdge, number: number, thread: ShardThread): void {
    const path = this.#pathFrom(lent.host, number);
    lent.host.near.send(() => lent.edge?.connect(number, thread, path));
  }

  #over(number: number, error: unknown): void {
    this.#lent.delete(number);
    this.#options.board.setHeld(number, false);
    this.#options.onEnded(number, error);
  }

  #move(): void {
    const number = this.#placement.misplaced(0);
    if (number !== null) this.#options.replace(number);
  }

  /** Prepares a start. Resolves with the process that is to run it; null: this one. */
  async place(number: number): Promise<string | null> {
    const { process: here, world, release, followAgain } = this.#options;
    const { process, before } = this.#placement.start(number);
    if (process !== before) this.#quietUntilMs[number] = world.simulation.nowMs + attemptMsMax;
    if (process === here) {
      await release(number);
      return null;
    }
    followAgain(number, () => !this.#isStopping && this.#placement.ranAt(number) !== here);
    return process;
  }

  /** For so long nobody may deliver webhooks of the partition who begins to run it. */
  quietMs(number: number): number {
    return Math.max(0, this.#quietUntilMs[number]! - this.#options.world.simulation.nowMs);
  }

  /** Has the process run the shard. */
  lend(process: string, shard: Omit<LentShard, 'lease' | 'quietMs'>): void {
    const { world, main, lease, onEnded } = this.#options;
    const host = this.#hosts.get(process);
    if (host === undefined) {
      world.simulation.soon(main, () => onEnded(shard.number, new Error('it is not linked any more')));
      return;
    }
    this.#lent.set(shard.number, host);
    const lent = { ...shard, lease, quietMs: this.quietMs(shard.number) };
    host.near.send(() => host.hosting.take(lent));
  }

  isLent(number: number): boolean {
    return this.#lent.has(number);
  }

  /** How what an edge of this node says to a shard gets there. */
  pathTo(number: number): Path {
    return this.#pathFrom(null, number);
  }

  /** `from`: the host of the edge; null: it is here. */
  #pathFrom(from: Host | null, number: number): Path {
    const to = this.#lent.get(number) ?? null;
    if (from === to) return within;
    const straight = from === null || to === null ? null : this.#between(from, to);
    if (straight !== null) return straight;
    const [outOf, into] = [from === null ? [] : [from], to === null ? [] : [to]];
    return {
      there: [...outOf.map(({ far }) => far), ...into.map(({ near }) => near)],
      back: [...into.map(({ far }) => far), ...outOf.map(({ near }) => near)],
    };
  }

  /** What does not pass this node; null: they have no link. */
  #between({ process }: Host, { process: other }: Host): Path | null {
    const ends = this.#together.get(process)?.get(other);
    if (ends !== undefined) return { there: [ends[0]], back: [ends[1]] };
    const others = this.#together.get(other)?.get(process);
    return others === undefined ? null : { there: [others[1]], back: [others[0]] };
  }

  /** The edges and shards of two other nodes are connected anew. */
  #areTogether({ process }: Host, other: string, ends: HostEnds | null): void {
    const made = this.#together.get(process) ?? new Map<string, HostEnds>();
    this.#together.set(process, made);
    if (ends === null) made.delete(other);
    else made.set(other, ends);
    this.#options.world.happened.add(`two other nodes are ${ends === null ? 'apart' : 'together'}`);
    for (const [number, thread] of this.#options.running())
      for (const lent of this.#edges) {
        const at = [this.#lent.get(number)?.process, lent.host.process];
        if (at.includes(process) && at.includes(other)) this.#connectEdge(lent, number, thread);
      }
  }

  /** Connects the edges of other nodes with a shard that has begun. */
  connectEdges(number: number, thread: ShardThread): void {
    for (const lent of this.#edges) this.#connectEdge(lent, number, thread);
  }

  /** A shard has ended. */
  disconnectEdges(number: number): void {
    for (const lent of this.#edges) lent.host.near.send(() => lent.edge?.disconnect(number));
  }

  /** Resolves when no edge of another node goes by the keys any more that were before the change. */
  async changed(change: KeyRingChange): Promise<void> {
    await Promise.all([...this.#edges].map((lent) => this.#changedAt(lent, change)));
  }

  #changedAt(lent: LentEdge, change: KeyRingChange): Promise<void> {
    const { world, main } = this.#options;
    const { near, far } = lent.host;
    const applied = Promise.withResolvers<void>();
    near.send(() => {
      const { edge } = lent;
      if (edge === null) far.send(applied.resolve);
      else
        world.simulation.soon(edge.lane, () => {
          edge.putKeys(change);
          far.send(applied.resolve);
        });
    });
    const giveUp = world.simulation.after(main, unansweredMsMax, () => near.end());
    return Promise.race([applied.promise, lent.ended.promise]).finally(giveUp);
  }

  stopShard(number: number): void {
    const { world, main } = this.#options;
    const host = this.#lent.get(number);
    host?.near.send(() => host.hosting.stopShard(number));
    world.simulation.after(main, unansweredMsMax, () => {
      if (host !== undefined && this.#lent.get(number) === host) host.near.end();
    });
  }

  /** `done` follows, in the main lane, when a lent shard has been told, or the node does not answer. */
  tell({ lane }: ShardThread, number: number, run: () => void, done: () => void = () => {}): void {
    const { simulation } = this.#options.world;
    const { near, far } = this.#lent.get(number)!;
    near.send(() =>
      simulation.soon(lane, () => {
        run();
        far.send(done);
      }),
    );
  }

  /** Resolves when no edge of another node takes requests any more. */
  async stopEdges(): Promise<void> {
    this.#isStopping = true;
    for (const lent of this.#edges) {
      const { near, far, hosting } = lent.host;
      const over = () => far.send(() => this.#edgeIsOver(lent));
      near.send(() => (lent.edge === null ? over() : hosting.endEdge(lent.edge, 0, over)));
    }
    await Promise.all([...this.#edges].map(({ ended }) => ended.promise));
  }

  /** Nothing is lent any more. */
  stop(): void {
    this.#isStopping = true;
    for (const { near } of this.#hosts.values()) near.end();
  }

  /** Nothing of this process runs any more. */
  cut(isSilent: boolean): void {
    this.#isStopping = true;
    for (const { near } of this.#hosts.values()) near.cut(isSilent);
  }
}
