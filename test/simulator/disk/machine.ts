// The machine that the simulated service runs on: its disk, and what befalls it. The stand-ins for `node:fs` and the storage
// library, which the sources are given in their place, do all that they do through the machine that is in use.

import type { Random } from '../kernel/random.ts';
import type { Lane, Simulation } from '../kernel/simulation.ts';
import { type DiskFault, MachineDown, Volume } from './volume.ts';

/** How a commit fails that the run has asked to fail: before anything was written, or when all was. */
export interface CommitFault {
  readonly fault: DiskFault;
  readonly isWritten: boolean;
  /** The library then refuses everything on that environment. */
  readonly poisons: boolean;
  /** The part of a path that it hits. */
  readonly path: string;
}

/** A commit that the library writes in a thread of its own. */
export interface PendingCommit {
  readonly lane: Lane;
  /** Writes it, synced or not. */
  finish(isSynced: boolean): void;
}

interface Open {
  readonly lane: Lane;
  close(): void;
}

const errnoOf = { 'io-error': 5, full: 28 } as const;

export class Machine {
  readonly simulation: Simulation;
  readonly volume = new Volume();
  readonly random: Random;
  /** The process, or the whole machine, has ended in the middle of an operation. */
  isDown = false;
  /** How many times longer than usual a commit takes. */
  slowness = 1;
  /** Disk operations so far. */
  operations = 0;
  /** The next commits that fail. */
  readonly faults: CommitFault[] = [];
  /** Commits that have failed because they were to. */
  failedCommits = 0;
  readonly pending = new Set<PendingCommit>();
  readonly #open = new Set<Open>();
  #endsIn = Infinity;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.random = simulation.random('disk');
  }

  /** The process ends in the middle of one of the next operations. */
  endIn(operations: number): void {
    this.#endsIn = operations;
  }

  /** To be called before every operation: throws when whoever wants to do it is no more. */
  step(): void {
    if (this.isDown || this.simulation.current.isCut) throw new MachineDown('the process has ended');
    this.operations++;
    if (--this.#endsIn > 0) return;
    this.isDown = true;
    throw new MachineDown('the process ends here');
  }

  /** Milliseconds until a write is on disk. */
  writeMs(): number {
    return this.random.skewed(0.1, 25) * this.slowness;
  }

  /** Takes the fault that hits the next commit to this path, if one does. */
  takeFault(path: string): CommitFault | undefined {
    const at = this.faults.findIndex((fault) => path.includes(fault.path));
    if (at >= 0) {
      this.failedCommits++;
      return this.faults.splice(at, 1)[0];
    }
    if (!this.volume.isFull) return undefined;
    return { fault: 'full', isWritten: false, poisons: false, path };
  }

  opened(close: () => void): () => void {
    const handle = { lane: this.simulation.current, close };
    this.#open.add(handle);
    return () => {
      if (this.#open.delete(handle)) close();
    };
  }

  /** A thread has ended: what it had open is closed, and what the library was writing for it may be written or not. */
  released(lanes: readonly Lane[]): void {
    for (const pending of [...this.pending]) {
      if (!lanes.includes(pending.lane)) continue;
      this.pending.delete(pending);
      if (this.random.chance(0.5)) pending.finish(true);
    }
    for (const handle of [...this.#open]) {
      if (!lanes.includes(handle.lane)) continue;
      this.#open.delete(handle);
      handle.close();
    }
  }

  /** The process has ended, and with the power everything that was not synced. Returns what was lost, see `cutPower`. */
  ended(withPower: boolean): number {
    for (const pending of this.pending)
      if (this.random.chance(0.5)) pending.finish(!withPower && this.random.chance(0.5));
    this.pending.clear();
    this.#open.clear();
    this.faults.length = 0;
    this.volume.release();
    const lost = withPower ? this.volume.cutPower(this.random) : 0;
    this.#endsIn = Infinity;
    this.isDown = false;
    return lost;
  }
}

let inUse: Machine | null = null;

export function useMachine(machine: Machine): void {
  inUse = machine;
}

export function theMachine(): Machine {
  if (inUse === null) throw new Error('no machine is in use');
  return inUse;
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
