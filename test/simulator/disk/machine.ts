// A machine that a node of the simulated service runs on: its disk, its clocks, and what befalls it. The stand-ins for `node:fs`
// and the storage library, which the sources are given in their place, do all that they do through the machine that the
// current lane runs on.

import { Counts } from '../kernel/findings.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane, Place, Simulation } from '../kernel/simulation.ts';
import { MachineClocks } from './clocks.ts';
import { type DiskFault, type EnvironmentFile, MachineDown, Volume } from './volume.ts';

/** How a commit fails that the run has asked to fail: before anything was written, or when all was. */
export interface CommitFault {
  readonly fault: DiskFault;
  readonly isWritten: boolean;
  /** The library then refuses everything on that environment. */
  readonly poisons: boolean;
  /** The part of a path that it hits. */
  readonly path: string;
}

/** The process ends in one of the first operations after a commit has begun. */
interface EndAtCommit {
  /** A part of the path of what is committed to. */
  readonly path: string;
  readonly operations: number;
}

/** A commit that the library writes in a thread of its own. */
export interface PendingCommit {
  readonly lane: Lane;
  readonly file: EnvironmentFile;
  /** The rows in it. */
  readonly rows: number;
  /** Writes it, synced or not. */
  finish(isSynced: boolean): void;
}

interface Open {
  readonly lane: Lane;
  readonly path: string;
  close(): void;
}

const errnoOf = { 'io-error': 5, full: 28 } as const;

export class Machine implements Place {
  readonly simulation: Simulation;
  readonly name: string;
  readonly clocks: MachineClocks;
  readonly volume = new Volume();
  readonly random: Random;
  readonly numbers: Random;
  /** The process, or the whole machine, has ended in the middle of an operation. */
  isDown = false;
  /** Nothing that runs on it goes on, while time passes. */
  isFrozen = false;
  restMs = 0;
  /** How many times longer than usual a commit takes. */
  slowness = 1;
  /** Disk operations so far. */
  operations = 0;
  /** The disk says that it has synced, and has not. */
  isLying = false;
  /** What it has lied about, and not synced since. */
  readonly #liedAbout = new Set<{ history: unknown[] }>();
  /** The next commits that fail. */
  readonly faults: CommitFault[] = [];
  /** Null: it does not. */
  endsAt: EndAtCommit | null = null;
  /** Is called once when a shard of this machine has appended to its log; null: nobody waits for that. */
  atAppend: (() => void) | null = null;
  /** What befell which part of the data, and whom. */
  readonly struck = new Counts();
  readonly pending = new Set<PendingCommit>();
  /** Those of them that arrive when somebody else has written to their file. */
  readonly #overtaken = new Set<PendingCommit>();
  readonly #open = new Set<Open>();
  /** Lanes of processes beside the service's own. */
  readonly #apart = new WeakSet<Lane>();
  #endsIn = Infinity;
  /** Who has met a write error inside the storage library in the task that runs. */
  failedLane: Lane | null = null;

  constructor(simulation: Simulation, name: string) {
    this.simulation = simulation;
    this.name = name;
    this.clocks = new MachineClocks(simulation, name === '' ? '' : ` of ${name}`);
    this.random = simulation.random(name === '' ? 'disk' : `disk of ${name}`);
    this.numbers = simulation.random(`numbers ${name}`);
  }

  /** A lane of the process that is the service. */
  lane(name: string): Lane {
    return this.simulation.lane(this.name === '' ? name : `${this.name} ${name}`, this);
  }

  /** A lane that is a process of its own. */
  processLane(name: string): Lane {
    const lane = this.lane(name);
    this.#apart.add(lane);
    return lane;
  }

  /** Whether the lane that runs now is a process of its own. */
  isApart(): boolean {
    return this.#apart.has(this.simulation.current);
  }

  /** The process ends in the middle of one of the next operations. */
  endIn(operations: number): void {
    this.#endsIn = operations;
  }

  /** The process ends itself, here and now. */
  endHere(why: string): never {
    this.isDown = true;
    this.struck.add(`the process ends itself: ${why}`);
    throw new MachineDown('the process ends itself');
  }

  /** To be called before every operation: throws when whoever wants to do it is no more. */
  step(): void {
    if (this.isDown || this.simulation.current.isCut) throw new MachineDown('the process has ended');
    this.operations++;
    if (--this.#endsIn > 0) return;
    this.isDown = true;
    this.struck.add(`end in the middle: ${this.simulation.current.name.replace(/ \d+$/, '')}`);
    throw new MachineDown('the process ends here');
  }

  /** What was written is on disk now, unless the disk lies. */
  sync(file: { history: unknown[] }): void {
    if (this.isLying) this.#liedAbout.add(file);
    else {
      this.#liedAbout.delete(file);
      file.history.splice(0, file.history.length - 1);
    }
  }

  /** Milliseconds until a write is on disk. */
  writeMs(): number {
    return this.random.skewed(0.1, 25) * this.slowness;
  }

  /** A commit to this path begins. Takes the fault that hits it, if one does. */
  takeFault(path: string): CommitFault | undefined {
    if (this.endsAt !== null && path.includes(this.endsAt.path)) {
      this.#endsIn = this.endsAt.operations;
      this.endsAt = null;
    }
    const at = this.faults.findIndex((fault) => path.includes(fault.path));
    if (at >= 0) {
      this.struck.add(`failed commit of the ${placeOf(path)}`);
      return this.faults.splice(at, 1)[0];
    }
    if (!this.volume.isFull) return undefined;
    this.struck.add(`no room for the ${placeOf(path)}`);
    return { fault: 'full', isWritten: false, poisons: false, path };
  }

  opened(path: string, close: () => void): () => void {
    const handle = { lane: this.simulation.current, path, close };
    this.#open.add(handle);
    return () => {
      if (this.#open.delete(handle)) close();
    };
  }

  /** How much of what was opened in a lane, in this folder or anywhere, is open still. */
  openIn(lane: Lane, folder = ''): number {
    return [...this.#open].filter((handle) => handle.lane === lane && handle.path.startsWith(folder)).length;
  }

  /**
   * A thread has ended: what it had open is closed, and what the library was writing for it may be written or not. Or that is
   * overtaken by what its successor writes.
   */
  released(lanes: readonly Lane[], isOvertaken: boolean): void {
    for (const pending of [...this.pending]) {
      if (!lanes.includes(pending.lane)) continue;
      this.pending.delete(pending);
      if (isOvertaken && pending.rows === 1) this.#finishOvertaken(pending);
      else if (this.random.chance(0.5)) pending.finish(true);
      else if (pending.rows === 1 && this.random.chance(0.4)) this.#finishLate(pending);
    }
    for (const handle of [...this.#open]) {
      if (!lanes.includes(handle.lane)) continue;
      this.#open.delete(handle);
      handle.close();
    }
  }

  /** A write that is on its way when its owner ends may arrive when the next owner is at work. */
  #finishLate(pending: PendingCommit): void {
    const lane = this.lane('late write');
    const late = { ...pending, lane };
    this.pending.add(late);
    this.simulation.after(lane, this.random.skewed(10, 2_000), () => {
      this.simulation.cut(lane);
      if (!this.pending.delete(late)) return;
      this.struck.add('late write of an owner that has ended');
      late.finish(true);
    });
  }

  #finishOvertaken(pending: PendingCommit): void {
    const late = { ...pending, lane: this.lane('late write') };
    this.pending.add(late);
    this.#overtaken.add(late);
  }

  /** Something of an owner that has ended is to arrive behind its successor's writes. */
  get isOvertaking(): boolean {
    return this.#overtaken.size > 0;
  }

  /** A commit to a file is on disk. */
  committed(file: EnvironmentFile): void {
    for (const late of this.#overtaken) {
      if (late.file !== file) continue;
      this.#overtaken.delete(late);
      this.simulation.cut(late.lane);
      if (!this.pending.delete(late)) continue;
      this.struck.add('late write behind that of a successor');
      late.finish(true);
    }
  }

  /**
   * The process has ended, and with the power everything that was not synced: `lost` says how many files have lost something,
   * `lied` whether one of them was said to be synced.
   */
  ended(withPower: boolean): { readonly lost: number; readonly lied: boolean } {
    for (const pending of this.pending)
      if (this.random.chance(0.5)) pending.finish(!withPower && this.random.chance(0.5));
    this.pending.clear();
    this.#overtaken.clear();
    this.#open.clear();
    this.faults.length = 0;
    this.endsAt = null;
    this.volume.release();
    const promised = [...this.#liedAbout].map((file) => [file, file.history.at(-1)] as const);
    const lost = withPower
      ? this.volume.cutPower(this.random, (path) => this.struck.add(`writes lost of the ${placeOf(path)}`))
      : 0;
    const lied = promised.some(([file, state]) => file.history.at(-1) !== state);
    if (withPower) this.#liedAbout.clear();
    this.#endsIn = Infinity;
    this.isDown = false;
    return { lost, lied };
  }
}

/** The part of the data that a path belongs to. */
export function placeOf(path: string): string {
  if (path.startsWith('/vault/archive')) return 'archive';
  if (path.startsWith('/vault')) return 'backup';
  for (const place of ['log', 'state', 'directory']) if (path.includes(`/${place}`)) return place;
  return 'folder';
}

let inUse: Simulation | null = null;

/** What runs from now on runs in the lanes of this simulation. */
export function useSimulation(simulation: Simulation): void {
  inUse = simulation;
}

/** The machine that the current lane runs on. */
export function theMachine(): Machine {
  const place = inUse?.current.place;
  if (place instanceof Machine) return place;
  throw new Error(`the lane "${inUse?.current.name}" runs on no machine`);
}

/** What the library, or the system, throws. */
export function diskError(fault: DiskFault): Error {
  const message = fault === 'full' ? 'No space left on device' : 'Input/output error';
  return Object.assign(new Error(message), { code: errnoOf[fault] });
}

/** What Node's functions throw. */
export function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
