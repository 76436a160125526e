// The retention of a shard's events, in service time. Events have no service time of their own, so the shard regularly marks
// the time of its newest id. When a mark is as old as the retention time, all events up to its id are too old. They are removed
// in small portions, one organization and mode after the other. The id up to which events may be missing is stored before the
// first of them is removed, so that a check of the folder knows which events must exist.

import { idPrefixes } from '../contract/id-prefixes.ts';
import { idFloor } from '../core/ids.ts';
import { causes } from '../domain/cause.ts';
import { kindIndex, scopeOf } from '../domain/indexes.ts';
import { about, executeCommand } from './execute-command.ts';
import type { ShardState } from './shard-state.ts';
import type { RetentionMarks } from './small-values.ts';
import type { Turn } from './turn.ts';

/** The number of marks in a retention time. Events stay longer by at most this fraction of it. */
const marksMax = 100;
/** How many organizations are looked at in one turn if they have nothing to remove. */
const scopesPerTurnMax = 64;

type ScopeName = readonly [org: string, livemode: boolean];

export class EventRetention {
  readonly #state: ShardState;
  readonly #retentionMs: number;
  #stored: RetentionMarks;
  #marks: RetentionMarks;
  /** Organizations and modes that may have events before the horizon; null: none. */
  #sweep: Iterator<ScopeName> | null = null;
  #current: ScopeName | null = null;

  /** `stored` is what the last process stored. What that one did not finish is done again. */
  constructor(state: ShardState, retentionMs: number, stored: RetentionMarks) {
    this.#state = state;
    this.#retentionMs = retentionMs;
    this.#stored = stored;
    this.#marks = stored;
    if (stored.horizonMs > 0) this.#sweep = scopesOf(state);
  }

  /** When `run` is to be called next, in service time. */
  get dueMs(): number {
    const { marks } = this.#marks;
    if (this.#sweep !== null && this.#marks === this.#stored) return 0;
    const [oldest, newest] = [marks[0], marks.at(-1)];
    if (oldest === undefined || newest === undefined) return 0;
    return Math.min(oldest.serviceMs + this.#retentionMs, newest.serviceMs + this.#retentionMs / marksMax);
  }

  /** What is not stored yet; null when all is. */
  get unstored(): RetentionMarks | null {
    return this.#marks === this.#stored ? null : this.#marks;
  }

  stored(marks: RetentionMarks): void {
    this.#stored = marks;
  }

  /** Marks the newest id if a mark is due, and removes some events that are too old. */
  run(turn: Turn): void {
    this.#note(turn.serviceMs);
    if (this.#sweep === null || this.#marks.horizonMs !== this.#stored.horizonMs) return;
    const before = idFloor(idPrefixes.event, this.#marks.horizonMs + 1);
    for (let looked = 0; looked < scopesPerTurnMax; looked++) {
      this.#current ??= this.#next();
      if (this.#current === null) return;
      const [org, livemode] = this.#current;
      const index = kindIndex('event', scopeOf(org, livemode));
      const [oldest] = this.#state.tasks.scan(index, { before, descending: false });
      if (oldest !== undefined) {
        const command = about(this.#state, turn, oldest, 'prune_events', { before }, causes.time);
        const outcome = executeCommand(this.#state, turn, command, null);
        // Where one of them is damaged, they stay, and those of the others go.
        if ('result' in outcome && outcome.result.more) return;
      }
      this.#current = null;
      if (oldest !== undefined) return;
    }
  }

  #note(serviceMs: number): void {
    const { marks, horizonMs } = this.#marks;
    const old = marks.filter((mark) => mark.serviceMs + this.#retentionMs <= serviceMs);
    const newest = marks.at(-1);
    const isDue = newest === undefined || newest.serviceMs + this.#retentionMs / marksMax <= serviceMs;
    if (old.length === 0 && !isDue) return;
    const left = marks.slice(old.length);
    if (isDue) left.push({ serviceMs, idMs: this.#state.idTimes.lastMs });
    const reached = Math.max(horizonMs, ...old.map(({ idMs }) => idMs));
    this.#marks = { horizonMs: reached, marks: left };
    if (reached === horizonMs) return;
    this.#sweep = scopesOf(this.#state);
    this.#current = null;
  }

  #next(): ScopeName | null {
    const { done, value } = this.#sweep!.next();
    if (done !== true) return value;
    this.#sweep = null;
    return null;
  }
}

function* scopesOf(state: ShardState): Generator<ScopeName> {
  for (const org of [...state.organizations]) {
    yield [org, false];
    yield [org, true];
  }
}
