// The node that has the lease has others run shards, put together as src/threads/lending-thread.ts and src/threads/lending.ts
// do it: it lends its trust over links, and whatever is lost with one is started anew once that trust is over.

import { TrustLender } from '../../../src/cluster/lent-trust.ts';
import type { ReachableNode } from '../../../src/cluster/node.ts';
import type { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { Placement } from '../../../src/threads/placement.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Links } from '../net/links.ts';
import { LinkEnd } from '../net/node-link.ts';
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
}

interface Host {
  readonly process: string;
  readonly hosting: Hosting;
  readonly near: LinkEnd;
  readonly far: LinkEnd;
}

export class Lending {
  readonly #options: LendingOptions;
  readonly #placement: Placement;
  /** By process. */
  readonly #hosts = new Map<string, Host>();
  readonly #dialed = new Set<string>();
  /** Who runs each shard that is lent. */
  readonly #lent = new Map<number, Host>();
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
        this.#hosts.set(process, host);
        this.#placement.linked(process, { node, linkNumber: 0, edges: 0 });
        this.#placement.spread();
        this.#move();
      },
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
    this.#placement.spread();
    world.simulation.after(main, trust.overInMs, () => {
      for (const [number, each] of [...this.#lent])
        if (each === host) this.#over(number, new Error('the link is lost'));
    });
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

  /** The ends of the link to whoever runs a shard that is lent. */
  linkOf(number: number): readonly [near: LinkEnd, far: LinkEnd] {
    const { near, far } = this.#lent.get(number)!;
    return [near, far];
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
    const [near, far] = this.linkOf(number);
    near.send(() =>
      simulation.soon(lane, () => {
        run();
        far.send(done);
      }),
    );
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
