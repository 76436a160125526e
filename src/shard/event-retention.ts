// The retention of a shard's events, in service time. Events have none of their own, so the shard
// regularly marks the time of its newest id. When a mark is as old as the retention time, events up
// to its id are too old. They are removed in small portions, scope by scope. The id up to which
// events may be missing is stored before that, so that a check knows which events must exist.

import { idPrefixes } from '../contract/id-prefixes.ts';
import { idFloor } from '../core/ids.ts';
import { pieceSize } from '../core/piece-size.ts';
import { causes } from '../domain/cause.ts';
import { kindIndex, scopeOf } from '../domain/indexes.ts';
import type { CommitBatch } from './commit-batch.ts';
import { executeFor } from './execute-command.ts';
import type { RetentionMarks } from './metadata.ts';
import type { Scopes } from './scopes.ts';
import type { ShardState } from './shard-state.ts';

/** The number of marks in a retention time. Events stay longer by at most this fraction of it. */
const marksMax = 100;
/** How many scopes one commit batch looks at if they have nothing to remove. */
const scopesPerBatchMax = pieceSize(64);

type ScopeName = readonly [org: string, livemode: boolean];

export class EventRetention {
  readonly #state: ShardState;
  readonly #retentionMs: number;
  #stored: RetentionMarks;
  #marks: RetentionMarks;
  /** The scopes that may have events before the horizon, the next one last. */
  #sweep: ScopeName[] = [];
  /** The event of the next scope up to which all are removed. */
  #after: string | undefined;

  /** `stored` is what the last process stored. What that one did not finish is done again. */
  constructor(state: ShardState, retentionMs: number, stored: RetentionMarks) {
    this.#state = state;
    this.#retentionMs = retentionMs;
    this.#stored = stored;
    this.#marks = stored;
    if (stored.horizonMs > 0) this.#sweep = scopesOf(state.scopes);
  }

  /** When `run` is to be called next, in service time. */
  get dueMs(): number {
    const { marks } = this.#marks;
    if (this.#sweep.length > 0 && this.#marks === this.#stored) return 0;
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
  run(batch: CommitBatch): void {
    this.#note(batch.serviceMs);
    if (this.#marks.horizonMs !== this.#stored.horizonMs) return;
    const before = idFloor(idPrefixes.event, this.#marks.horizonMs + 1);
    for (let looked = 0; looked < scopesPerBatchMax; looked++) {
      const scope = this.#sweep.at(-1);
      if (scope === undefined) return;
      const [org, livemode] = scope;
      const index = kindIndex('event', scopeOf(org, livemode));
      const params = { after: this.#after, before };
      const [oldest] = this.#state.tasks.scan(index, { ...params, descending: false });
      this.#after = undefined;
      if (oldest !== undefined) {
        const given = { operation: 'prune_events', params, cause: causes.time } as const;
        const outcome = executeFor(this.#state, batch, oldest, given);
        // Where one of them is damaged, they stay, and those of the others go.
        this.#after = 'result' in outcome ? (outcome.result.after ?? undefined) : undefined;
        if (this.#after !== undefined) return;
      }
      this.#sweep.pop();
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
    if (isDue) left.push({ serviceMs, idMs: this.#state.ids.times.lastMs });
    const reached = Math.max(horizonMs, ...old.map(({ idMs }) => idMs));
    this.#marks = { horizonMs: reached, marks: left };
    if (reached === horizonMs) return;
    this.#sweep = scopesOf(this.#state.scopes);
    this.#after = undefined;
  }
}

/** All scopes, the last one first. */
function scopesOf({ organizations }: Scopes): ScopeName[] {
  return [...organizations].reverse().flatMap((org): ScopeName[] => [
    [org, true],
    [org, false],
  ]);
}
