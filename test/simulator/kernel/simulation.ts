// The clockwork of a run: one thread, virtual time, and a scheduler that decides by chance what runs next.
//
// Whatever would be a thread of the service, or a program beside it, is a lane. A lane runs its tasks in the order in which
// they were given, as an event loop does; which lane goes next is random. Time passes only when no lane has anything to do:
// then it is the time of the next timer. A lane that is cut never runs again, and whatever it waits for never comes.

import { Random } from './random.ts';
import { TimerHeap } from './timer-heap.ts';

/** What lanes run on: while it is frozen none of them goes on, and what comes for them waits. */
export interface Place {
  readonly isFrozen: boolean;
  /** So long each of its lanes rests after a task, as those of a slow processor do; 0, or nothing: it goes on at once. */
  readonly restMs?: number;
}

export class Lane {
  readonly name: string;
  readonly place: Place | null;
  readonly ready: (() => void)[] = [];
  isCut = false;
  /** It stands still, and others on the same place go on. */
  isStuck = false;
  isResting = false;
  /** Hears what a task throws. */
  onError: (error: unknown) => void;

  constructor(name: string, place: Place | null, onError: (error: unknown) => void) {
    this.name = name;
    this.place = place;
    this.onError = onError;
  }

  get isWaiting(): boolean {
    return this.ready.length > 0 && !this.isStuck && !this.isResting && this.place?.isFrozen !== true;
  }
}

export class Simulation {
  /** Milliseconds since the run began, with fractions. Nothing in the service sees this clock. */
  nowMs = 0;
  /** The lane whose task runs. What a task leaves behind in promises runs before the next task. */
  current: Lane;
  /** Tasks that were run. */
  tasks = 0;
  readonly seed: string;
  readonly #onError: (error: unknown) => void;
  readonly #order: Random;
  /** Whoever looks on between two tasks. */
  readonly #outside: Lane;
  readonly #lanes: Lane[] = [];
  /** Those of them that have something to do, gathered anew for each task. */
  readonly #waiting: Lane[] = [];
  readonly #timers = new TimerHeap<{ readonly lane: Lane; readonly action: () => void }>();

  /** `onError` hears what tasks throw on lanes that have nobody else to hear it. */
  constructor(seed: string, onError: (error: unknown) => void) {
    this.seed = seed;
    this.#onError = onError;
    this.#order = this.random('order');
    this.#outside = this.lane('outside');
    this.current = this.#outside;
  }

  /** A stream of chance of its own. */
  random(name: string): Random {
    return new Random(`${this.seed}/${name}`);
  }

  /** `place`: what it runs on, where that may be frozen. */
  lane(name: string, place: Place | null = null): Lane {
    const lane = new Lane(name, place, this.#onError);
    this.#lanes.push(lane);
    return lane;
  }

  /** Ends a lane. */
  cut(lane: Lane): void {
    lane.isCut = true;
    lane.ready.length = 0;
    const at = this.#lanes.indexOf(lane);
    if (at >= 0) this.#lanes.splice(at, 1);
  }

  /** Gives a lane a task. */
  soon(lane: Lane, action: () => void): void {
    if (!lane.isCut) lane.ready.push(action);
  }

  /** Gives a lane a task when so many milliseconds have passed; returns the function that takes it back. */
  after(lane: Lane, delayMs: number, action: () => void): () => void {
    return this.#timers.add(this.nowMs + Math.max(0, delayMs), { lane, action });
  }

  /** A promise of the current lane that is settled by a task of that lane, `delayMs` from now. */
  wait(delayMs: number): Promise<void> {
    const lane = this.current;
    return new Promise((resolve) => void this.after(lane, delayMs, resolve));
  }

  /**
   * Runs until `untilMs`, or until `isOver` says so between two tasks; false when nothing is left to run. `onTask` is
   * called after each task, when what it left in promises has run, too.
   */
  async run(untilMs: number, isOver: () => boolean, onTask: () => void): Promise<boolean> {
    while (!isOver()) {
      const waiting = this.#waiting;
      waiting.length = 0;
      for (const lane of this.#lanes) if (lane.isWaiting) waiting.push(lane);
      if (waiting.length === 0) {
        const next = this.#timers.next;
        if (next === undefined) return false;
        if (next.atMs > untilMs) {
          this.nowMs = Math.max(this.nowMs, untilMs);
          return true;
        }
        this.#timers.take();
        this.nowMs = Math.max(this.nowMs, next.atMs);
        this.soon(next.value.lane, next.value.action);
        continue;
      }
      this.current = waiting.length === 1 ? waiting[0]! : this.#order.pick(waiting);
      this.tasks++;
      this.#runTask(this.current);
      await settled();
      this.current = this.#outside;
      onTask();
    }
    return true;
  }

  #runTask(lane: Lane): void {
    try {
      lane.ready.shift()!();
    } catch (error) {
      lane.onError(error);
    }
    const restMs = lane.place?.restMs ?? 0;
    if (restMs > 0) this.#rest(lane, restMs);
  }

  #rest(lane: Lane, ms: number): void {
    lane.isResting = true;
    this.after(this.#outside, ms, () => {
      lane.isResting = false;
    });
  }
}

/**
 * How many tasks run in one turn of Node's event loop: it asks the system for events in each turn, which takes a sixth of a run
 * with a turn for each task.
 */
const tasksInTurn = 64;

let turnsLeft = 0;
let resume: (() => void) | null = null;

/** Settles when the promises of a task have run, as all do between two immediates of the same turn. */
export function settled(): Promise<void> {
  if (turnsLeft === 0) for (; turnsLeft < tasksInTurn; turnsLeft++) setImmediate(goOn);
  return new Promise((resolve) => {
    resume = resolve;
  });
}

function goOn(): void {
  turnsLeft--;
  const go = resume;
  resume = null;
  go?.();
}
