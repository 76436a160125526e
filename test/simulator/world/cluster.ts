// Nodes that share a service over PostgreSQL, and whoever runs them: each is started again after it has ended, and requests go
// to any of them. A node that stands by passes them on to the one that it takes for the holder of the lease.

import type { StoredRecord } from '../../../src/domain/record.ts';
import { Folder } from '../disk/volume.ts';
import type { Random } from '../kernel/random.ts';
import { Links } from '../net/links.ts';
import type { Target } from '../net/relay.ts';
import { Databases } from '../postgresql/databases.ts';
import { useDatabases } from '../postgresql/pg.ts';
import type { PostgresServers } from '../postgresql/servers.ts';
import type { PartitionRow } from '../postgresql/tables.ts';
import { dataDir } from './backups.ts';
import { ClusterNode } from './cluster-node.ts';
import type { Entry } from './edge.ts';
import type { Runs } from './runs.ts';
import type { Entrance } from './service.ts';
import { ServiceWatch } from './service-watch.ts';
import type { World } from './world.ts';

const nothing = () => {};

export class Cluster implements Runs {
  readonly #world: World;
  readonly links: Links;
  readonly databases: Databases;
  readonly nodes: readonly ClusterNode[];
  onShardStart: () => void = () => {};
  readonly watch: ServiceWatch;

  constructor(world: World) {
    const { simulation, machines, settings } = world;
    this.#world = world;
    this.links = new Links(simulation);
    this.databases = new Databases(this.links, settings);
    useDatabases(this.databases);
    if (settings.clocksDiffer)
      for (const { name, clocks } of [...machines, ...this.databases.servers])
        clocks.differ(simulation.random(`clocks of ${name}`));
    world.newestLease = () => this.databases.first.primary.tables.lease?.epoch ?? 0;
    world.newestOwner = (partition) => this.#rowOf(partition)?.epoch ?? 0;
    world.hostingAt = (node) => this.named(node)?.service?.hosting ?? null;
    for (const { volume } of machines) {
      volume.put(dataDir, new Folder());
      volume.root.history = [volume.root.entries];
    }
    this.nodes = machines.map((machine) => new ClusterNode(world, machine, this.databases, this));
    this.watch = new ServiceWatch(world, this);
  }

  /** The first node makes the service, and the others join it. */
  start(): void {
    const [first, ...others] = this.nodes;
    first!.onReady = () => {
      first!.onReady = () => {};
      for (const node of others) node.start();
      this.disturbed();
      this.watch.start();
    };
    first!.start();
  }

  get starts(): number {
    return this.nodes.reduce((sum, { starts }) => sum + starts, 0);
  }

  /** Something was injected, or is over: the service may need its time. */
  disturbed(): void {
    this.watch.disturbed();
  }

  named(name: string): ClusterNode | undefined {
    return this.nodes.find(({ machine }) => machine.name === name);
  }

  /** The node that serves: the one of the newest lease. */
  get serving(): ClusterNode | null {
    return this.nodes.find((node) => node.isServing) ?? null;
  }

  get isReady(): boolean {
    return this.serving !== null;
  }

  get openWork(): number {
    return this.serving?.service?.openWork ?? Infinity;
  }

  get isIdle(): boolean {
    return this.openWork === 0;
  }

  records(): Map<string, StoredRecord> {
    return this.serving?.service?.records() ?? new Map();
  }

  #rowOf(partition: number): PartitionRow | undefined {
    return this.databases.of(partition).primary.tables.partition(partition);
  }

  /** The standby of a database that was promoted lacks what was acknowledged: nodes whose mirrors have that may not serve it. */
  lost(database: PostgresServers): void {
    for (const { machine, service } of this.nodes)
      for (const [partition, { sequence }] of service?.mirrorEnds.entries() ?? [])
        if (
          this.databases.of(partition) === database &&
          sequence >= (this.#rowOf(partition)?.next_sequence ?? 1)
        )
          this.#world.aheadOfLog.add(`${machine.name} ${partition}`);
  }

  /** The way in: any node that runs. A load balancer leaves out those that refuse connections. */
  get service(): Entrance | null {
    const running = this.nodes.filter(({ service }) => service !== null);
    return running.length === 0 ? null : this.through(this.links.random.pick(running));
  }

  /** A node as others know it that pass requests on to it. */
  targetAt(name: string | null): Target<Entry> | null {
    const node = name === null ? undefined : this.named(name);
    if (node === undefined) return null;
    return { side: node.side, edge: () => node.edge };
  }

  /** The way in by a node: its edge, or what passes everything on to that of another node. */
  through(node: ClusterNode): Entrance {
    const via = <T>(
      give: (edge: Entry, answer: (answer: T) => void) => () => void,
      done: (answer: T) => void,
      refused: () => void = () => {},
    ) => {
      const { edge } = node;
      return edge === null ? node.relay.take(give, done, refused) : give(edge, done);
    };
    return {
      request(request, done) {
        const give = (edge: Entry, answer: typeof done) => {
          const call = edge.request(request, answer);
          return () => edge.giveUp(call);
        };
        return { withdraw: via(give, done, () => done(null)) };
      },
      giveUp: (call) => call.withdraw(),
      ask: (org, request, done) => {
        via((edge, answer) => {
          edge.ask(org, request, answer);
          return nothing;
        }, done);
      },
      handOver: (org, request, done) => {
        via((edge, answer) => {
          edge.handOver(org, request, answer);
          return nothing;
        }, done);
      },
      // An operator goes to a machine whose service takes commands.
      operate: (command) => {
        const listening = this.nodes.filter(({ service }) => service?.isListening);
        if (listening.length > 0) this.links.random.pick(listening).service!.operate(command);
      },
    };
  }

  /** To be called after every task. */
  afterTask(): void {
    for (const node of this.nodes) node.afterTask();
    this.#onlyOneBelieves();
  }

  /** Once the lease or a partition is taken, nobody else may believe to have it any more, whether or not they say something. */
  #onlyOneBelieves(): void {
    const { judge, newestLease, newestOwner } = this.#world;
    const newest = newestLease();
    for (const { service, machine } of this.nodes)
      for (const believer of [service, service?.hosting ?? null]) {
        if (believer === null) continue;
        if (believer.lease !== null && believer.lease < newest)
          judge.check(
            'nobody believes to have what another node has taken',
            !believer.isTrusted,
            () =>
              `${machine.name} believes to speak by the lease of epoch ${believer.lease} when that of ${newest} is taken`,
          );
        for (const [number, epoch] of believer.owned)
          if (epoch < newestOwner(number))
            judge.check(
              'nobody believes to have what another node has taken',
              !believer.isHeld(number),
              () =>
                `${machine.name} believes to have partition ${number} with epoch ${epoch} when that of ${newestOwner(number)} is taken`,
            );
      }
  }

  /** Nothing is injected any more. */
  heal(): void {
    this.links.healAll();
    this.databases.heal();
    for (const node of this.nodes) node.heal();
    this.disturbed();
  }

  /** Stops the node that serves, as an operator does: another one takes over. */
  stop(): void {
    this.disturbed();
    this.serving?.stop();
  }

  crash(withPower: boolean, afterMs: number): void {
    this.disturbed();
    this.serving?.crash(withPower, afterMs);
  }

  compact(): void {
    this.serving?.service?.compact();
  }

  /** The node that runs the shard of an organization; null: none does. */
  runs(shard: number | undefined): ClusterNode | null {
    const isRun = (node: ClusterNode) =>
      [node.service, node.service?.hosting].some((each) => each?.owned.some(([number]) => number === shard));
    return this.nodes.find(isRun) ?? null;
  }

  /** On the same node or another one. */
  startAnew(org: string, random: Random): () => boolean {
    const { happened, settings } = this.#world;
    const shard = this.serving?.service?.shardOf(org);
    const runs = this.runs(shard);
    const downMs = random.between(100, 8_000);
    const others = this.nodes.filter((node) => node !== runs && node.service !== null);
    const ways = ['the node that serves ends', 'the node that serves stops'] as const;
    const way = random.pick(
      settings.lends ? ([...ways, 'its node ends', 'it moves', 'it moves'] as const) : ways,
    );
    happened.add(`a count of a day goes on when ${way}`);
    this.disturbed();
    if (way === 'it moves' && shard !== undefined && others.length > 0) {
      const other = random.pick(others);
      this.databases.of(shard).primary.wantAt(shard, other.service!.process);
      return () => this.runs(shard) === other;
    }
    if (way === 'the node that serves stops') this.stop();
    else if (way === 'its node ends' && runs !== null) runs.crash(random.chance(0.5), downMs);
    else this.crash(random.chance(0.5), downMs);
    return () => this.isReady && this.runs(shard) !== null;
  }

  end(): void {
    this.watch.end();
    for (const node of this.nodes) node.end();
  }

  /** Whether each mirror holds what the log holds, by the end of each partition. */
  get strayMirror(): string | null {
    for (const { machine, service } of this.nodes) {
      for (const [partition, end] of service?.mirrorEnds.entries() ?? []) {
        const row = this.#rowOf(partition);
        const isSame =
          row !== undefined &&
          end.sequence === row.next_sequence - 1 &&
          (end.checksum === null || end.sequence === 0 || end.checksum === row.checksum);
        if (!isSame)
          return `${machine.name} has partition ${partition} up to ${end.sequence}, and PostgreSQL up to ${(row?.next_sequence ?? 1) - 1}`;
      }
    }
    return null;
  }
}
