// The reads of one shard while its disk stalls, watched from outside. What is not durable yet is known from what the shard
// executes and appends, so it is known of a read, too, whether its answer could show something that a power cut would lose. A
// read that shows nothing of that kind, and for which there is room on the way to the shard, must not wait for the disk.

import type { Change } from '../../../src/domain/record.ts';
import type { FromShard } from '../../../src/shard/protocol.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';
import type { Lane, Simulation } from '../kernel/simulation.ts';
import type { World } from './world.ts';

/** The shard notices after this time that a commit waits for the disk. */
const noticedMs = 100;
/** Then a read has its answer within this time: that of a tick of the shard. */
const promptMs = 100;
/** By then the edge was told: a shard that has nothing to do ticks once a second. */
const toldMs = 1_500;

/** What a turn has changed. */
export class Changed {
  readonly ids = new Set<string>();
  /** The payment intents whose charges were changed: each may be shown with what its charge asks of the customer. */
  readonly intents = new Set<string>();
  readonly scopes = new Set<string>();
  /** When the turn was appended. */
  sinceMs = 0;
}

const scopeOf = ({ org, livemode }: { readonly org: string; readonly livemode: boolean }) =>
  `${org} ${livemode}`;

/** What a shard has executed and the disk does not have for certain. */
export class Undurable {
  readonly #simulation: Simulation;
  /** That of the shard. */
  readonly #lane: Lane;
  /** The turns that were appended, oldest first. */
  readonly #turns: Changed[] = [];
  /** The shard stops. */
  isOver = false;
  /** The one that is executed now. */
  #open = new Changed();

  constructor(simulation: Simulation, lane: Lane) {
    this.#simulation = simulation;
    this.#lane = lane;
  }

  /** Hears of every change that is executed in these records from now on. */
  watch(records: RecordStore): void {
    const apply = records.apply.bind(records);
    records.apply = (change: Change) => {
      this.#open.ids.add(change.id);
      if (change.kind === 'charge') this.#open.intents.add(change.payment_intent);
      this.#open.scopes.add(scopeOf(change));
      apply(change);
    };
  }

  /** What was executed is appended, and `durable` settles when it is on disk. */
  appended(durable: Promise<void>): void {
    const turn = this.#open;
    turn.sinceMs = this.#simulation.nowMs;
    this.#open = new Changed();
    this.#turns.push(turn);
    durable.then(
      () => void this.#turns.splice(this.#turns.indexOf(turn), 1),
      () => {},
    );
  }

  /** The turn that the disk has kept waiting for so long that the shard has noticed; null: none, or the shard stands still, is slow, or stops. */
  get stalled(): Pick<Changed, 'sinceMs'> | null {
    const { isStuck, place } = this.#lane;
    if (isStuck || this.isOver || (place?.restMs ?? 0) > 0) return null;
    const [oldest] = this.#turns;
    return oldest !== undefined && this.#simulation.nowMs - oldest.sinceMs >= noticedMs ? oldest : null;
  }

  /** Whether a read by this id, or of a list when it is empty, may come upon one of the changes. */
  concerns(scope: Parameters<typeof scopeOf>[0], id: string): boolean {
    const isIn = ({ scopes, ids, intents }: Changed) =>
      id === '' ? scopes.has(scopeOf(scope)) : ids.has(id) || intents.has(id);
    return [...this.#turns, this.#open].some(isIn);
  }

  /** The turns that have changed one of these. */
  with(ids: readonly string[]): Changed[] {
    return [...this.#turns, this.#open].filter((changed) => ids.some((id) => changed.ids.has(id)));
  }

  /** Whether the disk has a turn by now. */
  isDurable(changed: Changed): boolean {
    return changed !== this.#open && !this.#turns.includes(changed);
  }
}

interface Read {
  readonly org: string;
  readonly livemode: boolean;
  /** Of the record that is retrieved; empty for a list. */
  readonly id: string;
}

export class PromptReads {
  readonly #world: World;
  readonly #lane: Lane;
  readonly #undurable: Undurable;
  /** The requests whose answers must come soon. */
  readonly #due = new Set<string>();
  #isTold = false;
  #isClosed = false;

  /** `lane` is that of the edge, or that of a shard which another node runs. */
  constructor(world: World, lane: Lane, undurable: Undurable) {
    this.#world = world;
    this.#lane = lane;
    this.#undurable = undurable;
  }

  /** A read for which there is room is about to be sent, or has arrived. */
  asked(requestId: string, read: Read): void {
    const { stalled } = this.#undurable;
    const { simulation, judge } = this.#world;
    if (this.#isClosed || stalled === null || this.#undurable.concerns(read, read.id)) return;
    this.#due.add(requestId);
    simulation.after(this.#lane, promptMs, () => {
      const isWaiting = this.#due.delete(requestId);
      if (this.#isClosed || this.#undurable.stalled !== stalled) return;
      judge.check(
        'a read is prompt while the disk stalls',
        !isWaiting,
        () => `${requestId} of ${read.org} ${read.id} waits for changes that it does not show`,
      );
      const waitsMs = simulation.nowMs - stalled.sinceMs;
      judge.check(
        'the edge knows that the disk stalls',
        this.#isTold || waitsMs < toldMs,
        () => `a commit has waited for ${Math.floor(waitsMs)} ms`,
      );
    });
  }

  /** The edge is told, or is about to be told over a link, whether the disk keeps a commit waiting. */
  hears(message: FromShard): void {
    if ('stalledMs' in message) this.#isTold = message.stalledMs !== null;
  }

  /** The edge's client of the shard goes, and all that waits is refused. */
  close(): void {
    this.#isClosed = true;
  }

  /** It is answered, or nobody waits for it any more. */
  settled(requestId: string): void {
    this.#due.delete(requestId);
  }
}
