// Whether the service is there again in time after it was disturbed: somebody reads and creates, through each node that is
// connected and for each organization, until the answer is not that one should try again.

import { shardOfOrganization } from '../../../src/shard/shard-map.ts';
import type { PostgresServers } from '../postgresql/servers.ts';
import type { Shop } from './clients.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import { type Answer, type Request, reading } from './edge.ts';
import type { World } from './world.ts';

/** So long after the last disturbance the service must be there. */
const backMsMax = 5_000;
const watchMs = 250;
/** A takeover takes that long at least, so nobody asks before. */
const quietMs = 1_500;

/** What somebody asks until it is answered; what it makes has the key, which is another one after each disturbance. */
interface Question {
  readonly shop: Shop;
  readonly request: (key: string) => Request;
}

export class ServiceWatch {
  readonly #world: World;
  readonly #cluster: Cluster;
  #questions: readonly Question[] = [];
  /** When something was last injected, or was over. */
  #disturbedMs = 0;
  /** Of two databases: when each was last not as it should be, or not connected with every node. */
  readonly #lostMs = new Map<PostgresServers, number>();
  /** When each node was last not connected as it should be. */
  readonly #unfitMs = new Map<ClusterNode, number>();
  /** What was answered through each node since then. */
  readonly #answered = new Map<ClusterNode, Set<Question>>();
  #isOver = false;

  constructor(world: World, cluster: Cluster) {
    this.#world = world;
    this.#cluster = cluster;
  }

  /** Shops, one of each organization, ask from now on. */
  askFor(shops: readonly Shop[]): void {
    this.#questions = shops.flatMap((shop) => {
      const { apiKey } = shop;
      return [
        { shop, request: () => reading(apiKey, '/v1/account') },
        { shop, request: (key) => creating(apiKey, key) },
      ];
    });
  }

  /** Something was injected, or is over: the service may need its time. */
  disturbed(): void {
    this.#disturbedMs = this.#world.simulation.nowMs;
    this.#answered.clear();
  }

  end(): void {
    this.#isOver = true;
  }

  start(): void {
    const { simulation, isDamaged } = this.#world;
    const lane = simulation.lane('watch');
    const beganMs = simulation.nowMs;
    simulation.after(lane, watchMs, () => {
      simulation.cut(lane);
      if (this.#isOver) return;
      // All stood still, and leases have run out.
      const hasSlept = simulation.nowMs > beganMs + 2 * watchMs;
      if (hasSlept || !this.#hasQuorum || isDamaged) this.disturbed();
      for (const database of this.#cluster.databases.all) {
        if (this.#isThere(database)) continue;
        this.#lostMs.set(database, simulation.nowMs);
        for (const answered of this.#answered.values())
          for (const question of answered)
            if (this.#databaseOf(question.shop) === database) answered.delete(question);
      }
      for (const node of this.#cluster.nodes) {
        if (!this.#isFit(node)) {
          this.#unfitMs.set(node, simulation.nowMs);
          this.#answered.delete(node);
        }
        for (const question of this.#questions) this.#look(node, question);
      }
      this.start();
    });
  }

  #look(node: ClusterNode, question: Question): void {
    const { simulation, judge } = this.#world;
    const { shop } = question;
    const { name } = node.machine;
    const lostMs = this.#lostMs.get(this.#databaseOf(shop)) ?? 0;
    const sinceMs = Math.max(this.#disturbedMs, this.#unfitMs.get(node) ?? 0, lostMs);
    const calmMs = simulation.nowMs - sinceMs;
    const answered = this.#answered.get(node) ?? new Set();
    this.#answered.set(node, answered);
    if (calmMs < quietMs || answered.has(question)) return;
    const request = question.request(`watch ${name} ${sinceMs}`);
    judge.check(
      'the service is back within five seconds',
      calmMs <= backMsMax,
      () =>
        `${name} answers no ${request.method} of ${shop.org} ${Math.floor(calmMs)} ms after the last disturbance`,
    );
    this.#cluster.through(node).request(request, (answer) => {
      // A disturbance since then has begun another set.
      if (answer !== null && isAnswer(answer)) answered.add(question);
    });
  }

  /** The one that has the log of the shop's partition. */
  #databaseOf({ org }: Shop): PostgresServers {
    const { databases } = this.#cluster;
    return databases.of(shardOfOrganization(org, this.#world.settings.shards));
  }

  /** Every node that runs can reach it, so that any of them can run its partitions. Where there is one only, the lease tells that. */
  #isThere(database: PostgresServers): boolean {
    const { databases, nodes } = this.#cluster;
    const reaches = ({ service, machine }: ClusterNode) =>
      service === null || this.#areConnected(machine.name, database.primary.name);
    return databases.all.length === 1 || (database.isWhole && nodes.every(reaches));
  }

  /** The database of the lease is whole, and a node can reach it. */
  get #hasQuorum(): boolean {
    const { databases, nodes } = this.#cluster;
    return databases.first.isWhole && nodes.some((node) => this.#isAtWork(node));
  }

  /** It can reach the database of the lease. */
  #isAtWork({ service, machine: { isFrozen, name, slowness, restMs } }: ClusterNode): boolean {
    return (
      service !== null &&
      !isFrozen &&
      slowness === 1 &&
      restMs === 0 &&
      this.#areConnected(name, this.#cluster.databases.first.primary.name)
    );
  }

  /** It can serve itself, or pass requests on to the node that does. */
  #isFit(node: ClusterNode): boolean {
    const serving = this.#cluster.serving ?? node;
    return (
      this.#isAtWork(node) &&
      (serving === node || this.#areConnected(node.machine.name, serving.machine.name))
    );
  }

  #areConnected(one: string, other: string): boolean {
    const { links } = this.#cluster;
    return !links.isCut(one, other) && !links.isCut(other, one);
  }
}

/** A customer, of whom no webhook tells and whom nobody needs. */
function creating(apiKey: string, key: string): Request {
  return { apiKey, method: 'POST', path: '/v1/customers', query: '', key, body: '{"name":"Nobody"}' };
}

/** The same request, sent before, may be under way still. */
function isAnswer({ status }: Answer): boolean {
  return status !== 503 && status !== 409;
}
