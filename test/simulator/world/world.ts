// What outlives every process of the simulated service: the machine, its clocks, the networks and receivers outside, the
// clients' view of it all, and the judge.

import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import type { NetworkCall } from '../../../src/domain/network-call.ts';
import type { MachineClocks } from '../disk/clocks.ts';
import type { Damage } from '../disk/damage.ts';
import { Machine, useSimulation } from '../disk/machine.ts';
import { MachineDown } from '../disk/volume.ts';
import { Counts, Finding, Judge } from '../kernel/findings.ts';
import { type Lane, Simulation } from '../kernel/simulation.ts';
import { Trace } from '../kernel/trace.ts';
import { Answers } from '../oracle/answers.ts';
import { People } from '../oracle/people.ts';
import type { Settings } from '../plan.ts';
import { isOfModel } from '../planted/edits.ts';
import { Carrier } from './archive-process.ts';
import { Bank } from './bank.ts';
import { Facts } from './facts.ts';
import { History } from './history.ts';
import { HostedCards } from './hosted-cards.ts';
import type { Hosting } from './hosting.ts';
import { Receivers } from './receivers.ts';

const nodeNames = ['a', 'b', 'c'];

export class World {
  readonly simulation: Simulation;
  /** One for each node. */
  readonly machines: readonly Machine[];
  readonly judge: Judge;
  /** Faults that were injected, and what happened because of them. */
  readonly happened = new Counts();
  readonly trace: Trace;
  readonly settings: Settings;
  readonly bank: Bank;
  readonly carrier: Carrier;
  /** Null when cards are typed on the service's page in live mode, too. */
  readonly hostedCards: HostedCards | null;
  readonly receivers: Receivers;
  readonly people: People;
  readonly facts: Facts;
  readonly answers: Answers;
  /** Something on the disk was damaged without a word: what needs it may be refused from now on. */
  isDamaged = false;
  readonly damages: Damage[] = [];
  /** The data folder was restored, and nobody has resumed its service yet. */
  isPaused = false;
  /** It came back from a backup once. */
  wasRestored = false;
  /** Acknowledged writes are gone because the disk said that they were synced; what is left fits together. */
  isForgetful = false;
  /** What was sent to a network or a receiver while the service was paused. */
  readonly sentInPause: string[] = [];
  readonly #histories = new Map<string, History>();
  /** The data folder that the service has opened last; null: none, or it went with its machine. What another one held can't be lost any more. */
  folderInUse: DataFolder | null = null;
  /** The epoch of the lease, as PostgreSQL has it. */
  newestLease = () => 0;
  /** The epoch of a partition, as PostgreSQL has it. */
  newestOwner = (_partition: number) => 0;
  /** Nodes, each with a partition, whose mirrors have what a wrong promotion has lost. */
  readonly aheadOfLog = new Set<string>();
  /** What listens on a node for one that has partitions to lend; null: nothing. */
  hostingAt: (node: string) => Hosting | null = () => null;
  /** The run injects nothing any more. */
  isHealed = false;

  constructor(seed: string, settings: Settings, isKept: boolean) {
    this.simulation = new Simulation(seed, (error) => this.#uncaught(error));
    useSimulation(this.simulation);
    const names = settings.nodes === 0 ? [''] : nodeNames.slice(0, settings.nodes);
    this.machines = names.map((name) => new Machine(this.simulation, name));
    for (const { clocks } of this.machines) {
      clocks.drift = settings.drift;
      clocks.beginAt(settings.pastNoonMs ?? 0);
    }
    const unheard = isOfModel ? 'a shard does what the model does' : null;
    this.judge = new Judge(() => this.machines.some(({ isDown }) => isDown), unheard);
    this.settings = settings;
    this.trace = new Trace(() => this.simulation.nowMs, isKept);
    this.facts = new Facts(this.judge, () => this.simulation.nowMs);
    this.answers = new Answers(this);
    this.bank = new Bank(this);
    this.carrier = new Carrier(this.simulation.random('carrier'));
    this.hostedCards = settings.hasHostedCards ? new HostedCards(this) : null;
    this.receivers = new Receivers(this);
    this.people = new People(this);
  }

  /** Whether what the disk holds fits together, so that a model of it knows what must come of it. */
  get fitsTogether(): boolean {
    return !this.isDamaged || this.isForgetful;
  }

  /** Nodes share the service. */
  get hasNodes(): boolean {
    return this.settings.nodes > 0;
  }

  /** The machine of a service without nodes. */
  get machine(): Machine {
    return this.machines[0]!;
  }

  get clocks(): MachineClocks {
    return this.machine.clocks;
  }

  /** A disk has said that it had synced what it had not. */
  get hasLied(): boolean {
    return this.happened.get('fault: lying sync') > 0;
  }

  /** What a task throws that nobody takes ends a process; when it is not because the process has ended already, it is a bug. */
  #uncaught(error: unknown): void {
    if (error instanceof MachineDown) return;
    const what = (error as Error).stack ?? String(error);
    this.judge.found(new Finding('the service fails of what failed, and of nothing else', what));
  }

  /** What a shard has appended to its log; where several owners may, each of them. */
  historyOf(folder: Pick<DataFolder, 'id' | 'generation'>, shard: number, owner = ''): History {
    const name = `${prefixOf(folder)}${shard} ${owner}`;
    const history = this.#histories.get(name) ?? new History();
    this.#histories.set(name, history);
    return history;
  }

  /** Something leaves a node that has the lease of an epoch: no other node may have a newer one by then. */
  speaks(lease: number | null, what: string): void {
    if (lease === null) return;
    const newest = this.newestLease();
    this.judge.check(
      'nobody speaks for what another node has taken',
      newest <= lease,
      () => `${what} leaves the holder of epoch ${lease}, and that of epoch ${newest} has taken over`,
    );
  }

  /** A shard says something: nobody may run its partition under a newer epoch by then. */
  speaksFor(partition: number, epoch: number): void {
    if (!this.hasNodes) return;
    const newest = this.newestOwner(partition);
    this.judge.check(
      'nobody speaks for what another node has taken',
      newest <= epoch,
      () => `an answer leaves partition ${partition} of epoch ${epoch}, and ${newest} has taken over`,
    );
  }

  /** A node begins to serve a partition: where its mirror has what PostgreSQL has lost it must refuse. */
  serves(node: string, partition: number): void {
    this.judge.check(
      'a wrong promotion is refused and told',
      !this.aheadOfLog.has(`${node} ${partition}`),
      () => `${node} serves partition ${partition}, and has more of it than the standby that was promoted`,
    );
  }

  /** Something goes out to the world. */
  goesOut(what: string): void {
    if (this.isPaused) this.sentInPause.push(what);
  }

  /** A network is called by an owner of the log. */
  calls({ id, action }: Pick<NetworkCall, 'id' | 'action'>, owner: string): void {
    this.goesOut(`${action} ${id}`);
    const inUse = [...this.#histories].filter(
      ([name]) => name.startsWith(prefixOf(this.folderInUse!)) && name.endsWith(` ${owner}`),
    );
    this.judge.check(
      'a network is called for what is durable',
      !inUse.some(([, history]) => history.isPending(id)),
      () => `the call ${id} could still be lost`,
    );
  }

  /**
   * A thread, or a command, is over: the library must not be torn down with something open. Or it lets a folder go, in which
   * somebody else is going to write.
   */
  closesAll(machine: Machine, lane: Lane, folder = ''): void {
    const open = machine.openIn(lane, folder);
    const what = () => `${lane.name} leaves ${open} open${folder && ` in ${folder}`}`;
    this.judge.check('what was opened is closed', open === 0, what);
  }

  note(text: string): void {
    this.trace.note(text);
  }
}

function prefixOf({ id, generation }: Pick<DataFolder, 'id' | 'generation'>): string {
  return `${id} ${generation} `;
}
