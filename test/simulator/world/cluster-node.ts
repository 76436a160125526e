// A node of a cluster: a machine, and the process of the service on it, which is started again after it has ended.

import { JournalDamaged } from '../../../src/journal/journal.ts';
import type { Machine } from '../disk/machine.ts';
import { Finding } from '../kernel/findings.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Side } from '../net/node-link.ts';
import { Relay } from '../net/relay.ts';
import type { Databases } from '../postgresql/databases.ts';
import type { Cluster } from './cluster.ts';
import type { Entry } from './edge.ts';
import { isOfDisk, judgeFenced } from './failures.ts';
import { Service } from './service.ts';
import type { World } from './world.ts';

const restartMs = 500;

export class ClusterNode {
  readonly machine: Machine;
  readonly #world: World;
  readonly #databases: Databases;
  readonly #cluster: Cluster;
  readonly #lane: Lane;
  service: Service | null = null;
  /** Where its connections with other nodes end. */
  readonly side: Side;
  /** Takes what no edge of this node takes. */
  readonly relay: Relay<Entry>;
  isReady = false;
  starts = 0;
  onReady = () => {};
  /** Why an operator has to look; null: nobody has to. */
  refusal: string | null = null;
  /** How the process ends that ends in the middle of an operation. */
  #withPower = false;
  #isOver = false;

  constructor(world: World, machine: Machine, databases: Databases, cluster: Cluster) {
    this.#world = world;
    this.machine = machine;
    this.#databases = databases;
    this.#cluster = cluster;
    this.#lane = world.simulation.lane(`host of ${machine.name}`);
    this.side = { name: machine.name, lane: machine.lane('connections') };
    this.relay = new Relay(cluster.links, this.side);
  }

  /** What takes the next request that comes to this node; null: it passes that on. */
  get edge(): Entry | null {
    const { service } = this;
    if (service?.isListening) return service;
    const listening = service?.hosting?.listening ?? [];
    return listening.length === 0 ? null : this.#cluster.links.random.pick(listening);
  }

  /** It has the lease, and may believe so. */
  get isServing(): boolean {
    return this.isReady && !this.machine.isFrozen && this.service?.isTrusted === true;
  }

  start(): void {
    if (this.service !== null || this.#isOver || this.refusal !== null) return;
    const { simulation } = this.#world;
    const { name } = this.machine;
    this.starts++;
    this.#world.note(`${name}: start ${this.starts}`);
    const service: Service = new Service(this.#world, this.machine, this.#databases, (error) =>
      simulation.soon(this.#lane, () => {
        if (this.service === service) this.#couldNotGoOn(error);
      }),
    );
    this.service = service;
    service.onShardStart = this.#cluster.onShardStart;
    service.onHolder = (holder) => this.relay.passTo(this.#cluster.targetAt(holder));
    service.start(() =>
      simulation.soon(this.#lane, () => {
        if (this.service !== service || this.isReady) return;
        this.isReady = true;
        this.#world.note(`${name} serves`);
        this.onReady();
      }),
    );
  }

  #couldNotGoOn(error: unknown): void {
    const { name, message, stack } = error as Error;
    const { judge, isDamaged, happened } = this.#world;
    this.#world.note(`${this.machine.name}: the process ends: ${message}`);
    if (error instanceof JournalDamaged) {
      // An operator has to promote the right standby, or to accept the loss.
      judge.check('the service starts on what a crash leaves', isDamaged, () => message);
      // A standby may have had nothing at all.
      const isTold =
        /PostgreSQL has (lost what it had acknowledged of|no log of partition)|has no log, and this service has one/.test(
          message,
        );
      judge.check('a wrong promotion is refused and told', isTold, () => message);
      happened.add('a node refuses what PostgreSQL has lost');
      this.refusal = message;
      this.#end();
      return;
    }
    judgeFenced(this.#world, error, this.#world.newestLease() > (this.service?.lease ?? 0));
    if (!isOfDisk(error) && name !== 'ServiceCrash')
      judge.found(new Finding('the service fails of what failed, and of nothing else', stack ?? message));
    this.#end();
    this.#startIn(restartMs);
  }

  #end(): void {
    this.service?.cut();
    this.relay.cut(false);
    this.machine.ended(false);
    this.service = null;
    this.isReady = false;
  }

  #startIn(ms: number): void {
    this.#world.simulation.after(this.#lane, ms, () => this.start());
  }

  /** The process ends now, and with the power what was not synced. */
  crash(withPower: boolean, afterMs: number): void {
    if (this.service === null || this.#isOver) return;
    this.#world.note(`${this.machine.name}: ${withPower ? 'the power fails' : 'the process is killed'}`);
    this.service.cut(withPower);
    this.relay.cut(withPower);
    this.service = null;
    this.isReady = false;
    this.machine.isFrozen = false;
    this.#withPower = false;
    this.machine.ended(withPower);
    if (withPower) this.machine.clocks.reboot();
    this.#startIn(afterMs);
  }

  /** The process ends in one of the first operations after a commit to a path has begun. */
  crashAtCommit(path: string, operations: number, withPower: boolean): void {
    this.#withPower = withPower;
    this.machine.endsAt = { path, operations };
  }

  /** Stops as it is told to, and is started again. */
  stop(): void {
    const { service } = this;
    if (service === null || this.machine.isFrozen) return;
    this.#world.note(`${this.machine.name}: stop`);
    this.isReady = false;
    const stopped = () =>
      this.#world.simulation.soon(this.#lane, () => {
        if (this.service !== service) return;
        this.#end();
        this.#startIn(restartMs);
      });
    service.stop(stopped);
    // What does not end within five seconds is ended.
    this.#world.simulation.after(this.#lane, 4_500, () => {
      if (this.service === service) this.crash(false, restartMs);
    });
  }

  /** Nothing goes on for a while. `isSuspended`: with the machine, whose clock stands still meanwhile. */
  freeze(ms: number, isSuspended: boolean): void {
    const { machine } = this;
    if (this.service === null || machine.isFrozen) return;
    const { service } = this;
    machine.isFrozen = true;
    this.#world.note(`${machine.name} ${isSuspended ? 'is suspended' : 'is frozen'}`);
    this.#world.simulation.after(this.#lane, ms, () => {
      if (isSuspended) machine.clocks.slept(ms);
      if (this.service === service) this.thaw();
    });
  }

  thaw(): void {
    if (!this.machine.isFrozen) return;
    this.machine.isFrozen = false;
    this.#world.note(`${this.machine.name} goes on`);
    this.#cluster.disturbed();
  }

  heal(): void {
    this.thaw();
    for (const lane of this.service?.lanes ?? []) lane.isStuck = false;
    this.machine.clocks.correct();
    this.machine.slowness = 1;
    this.machine.restMs = 0;
    this.machine.endsAt = null;
    this.start();
  }

  /** To be called after every task: a process that has ended in its middle is gone now. */
  afterTask(): void {
    if (!this.machine.isDown) return;
    this.#cluster.disturbed();
    this.crash(this.#withPower, restartMs);
  }

  end(): void {
    this.#isOver = true;
    this.#end();
  }
}
