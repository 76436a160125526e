// Keeps the lease of one node: while another one holds it, it watches the beats; once it holds the
// lease, it beats, and says for how long the node may believe itself. Both count this machine's own
// time, from sending what was acknowledged and over reads that were answered, so that no two nodes
// believe themselves at a time whatever their clocks say.

import { Sleeper, type Timers } from '../core/scheduler.ts';
import type { Moment } from '../journal/ownership.ts';
import { type Lease, type LeaseTable, type LeaseTiming, takeMargin } from './lease.ts';

interface LeaseKeeperOptions extends LeaseTiming {
  readonly table: LeaseTable;
  readonly node: string;
  readonly process: string;
  readonly timers: Timers;
  readonly now: () => Moment;
  /** Other nodes make attempts of webhooks for this one while it has the lease. */
  readonly lends: boolean;
  /** The others are to take the lease before this node, if there are any. */
  readonly comesLast: () => boolean;
  /** The node may believe itself for so long from that moment. */
  readonly onTrusted: (sent: Moment, trustMs: number) => void;
  /** Whether it may now. */
  readonly isTrusted: () => boolean;
  readonly onTaken: (taken: TakenLease) => void;
  /** Why this node can't follow a holder, and must not be the next one; null: it can. */
  readonly refusalOf: (seen: Lease) => string | null;
  /** Hears that reason. Nothing happens any more. */
  readonly onRefused: (reason: string) => void;
  /** Another node has taken the lease; hears how that is known. Nothing happens any more. */
  readonly onLost: (why: string) => void;
  /** Hears at which address the holder is, when that changes. */
  readonly onHolder: (address: string | null) => void;
  /** The lease is to move to another node: this one should stop. */
  readonly onWanted: (successor: string) => void;
  /** Hears why the lease can't be seen, taken or kept, when that changes; null: it can. */
  readonly onTrouble: (trouble: string | null) => void;
}

export interface TakenLease {
  readonly epoch: number;
  /** The holder before had stopped, or there was none. */
  readonly isClean: boolean;
  /** The name of the holder before. */
  readonly previous: string | null;
  /** What attempts of webhooks that were begun before may last, and this node's own. */
  readonly attemptMsMax: number;
  /** For so long such attempts of other nodes may still run. */
  readonly quietMs: number;
}

const retryMs = 100;
/** A table that says nothing for longer may wait for machines of its own that are lost. */
const unansweredMs = 3_000;
const unanswered = `there is no answer after ${unansweredMs / 1_000} s`;
/** A node that stands by looks so often between two beats: it sees soon that one is missing. */
const looksPerBeat = 5;
/** A node that comes last waits so many times as long for a lease that others may take. */
const lastPatience = 2;

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #sleeper: Sleeper;
  #epoch: number | null = null;
  #isStopping = false;
  /** The node is to stop soon: others are to take the lease, unless it has it. */
  #isLeaving = false;
  /** Nothing happens any more: the lease is lost, or the node must not have it. */
  #isOver = false;
  #isWanted = false;
  #beatsSent = 0;
  #seen: Lease | null = null;
  /** For how long the lease was seen as it is, over reads that were answered. */
  #unchangedMs = 0;
  #seenAtMs = 0;
  #holder: string | null = null;
  #trouble: string | null = null;
  /** The longest that attempts of webhooks may last which this node or one before it has begun. */
  #attemptMsMax: number;
  /** Until then attempts may run that nodes began before this one had the lease. Monotonic. */
  #quietUntilMs = 0;
  #ended: Promise<void> | null = null;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#attemptMsMax = options.attemptMs;
    this.#sleeper = new Sleeper(options.timers);
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Looks at the lease now: it may have been released, or be wanted elsewhere. */
  lookNow(): void {
    this.#sleeper.wake();
  }

  /** Takes the lease no more, and says on who holds it; a node that holds it goes on. */
  leaveToOthers(): void {
    this.#isLeaving = true;
  }

  /** Releases the lease if the node holds it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sleeper.wake();
    await this.#ended;
    if (this.#epoch === null || this.#isOver) return;
    const { table, now, onTrusted, lends } = this.#options;
    const stopped = now();
    // Another node may have taken it before the answer is here.
    onTrusted(stopped, 0);
    // Its own attempts have ended, and those of nodes that it lent to need not have.
    const quietMs = lends ? this.#attemptMsMax : Math.max(0, this.#quietUntilMs - stopped.monotonicMs);
    await table.release(this.#epoch, Math.ceil(quietMs)).catch(() => {});
  }

  async #run(): Promise<void> {
    const { beatMs, now, timers } = this.#options;
    while (!this.#isStopping) {
      const fromMs = now().monotonicMs;
      let waitMs = retryMs;
      const cancel = timers.after(unansweredMs, () => this.#tell(unanswered));
      try {
        if (this.#epoch === null) await this.#watch();
        else await this.#beat(this.#epoch);
        waitMs = this.#epoch === null ? beatMs / looksPerBeat : beatMs;
        this.#tell(null);
      } catch (error) {
        this.#tell((error as Error).message);
      } finally {
        cancel();
      }
      if (this.#isStopping || this.#isOver) return;
      await this.#sleeper.sleep(Math.max(0, fromMs + waitMs - now().monotonicMs));
    }
  }

  async #watch(): Promise<void> {
    const { table, process, node, beatMs, takeMs, now, comesLast } = this.#options;
    const seen = await table.look();
    const atMs = now().monotonicMs;
    this.#attemptMsMax = Math.max(this.#attemptMsMax, seen?.terms.attemptMs ?? 0);
    const refusal = seen && this.#options.refusalOf(seen);
    if (refusal !== null) {
      this.#isOver = true;
      return this.#options.onRefused(refusal);
    }
    this.#tellHolder(seen?.isReleased === false ? seen.address : null);
    if (this.#isLeaving) return;
    const isSame = seen !== null && seen.epoch === this.#seen?.epoch && seen.beat === this.#seen.beat;
    // What passed without an answer does not count: the holder may not have been heard either.
    this.#unchangedMs = isSame ? this.#unchangedMs + Math.min(atMs - this.#seenAtMs, 2 * beatMs) : 0;
    this.#seen = seen;
    this.#seenAtMs = atMs;
    if (seen === null) return this.#take(seen, 'the first node', true);
    // An answer to this process was lost.
    if (seen.process === process) return this.#take(seen, 'the answer was lost', false);
    const isFirst = seen.successor === null ? !comesLast() : seen.successor === node;
    if (seen.isReleased && isFirst) return this.#take(seen, `${seen.node} has stopped`, true);
    // The holder may be configured to believe itself for longer than this node would.
    const silentMs = Math.max(takeMs, takeMargin * (seen.terms.trustMs ?? 0));
    if (this.#unchangedMs < silentMs * (comesLast() ? lastPatience : 1)) return;
    const reason = seen.isReleased
      ? `${seen.node} has stopped`
      : `${seen.node} was silent for ${Math.round(this.#unchangedMs)} ms`;
    await this.#take(seen, reason, seen.isReleased);
  }

  async #take(seen: Lease | null, reason: string, isClean: boolean): Promise<void> {
    const { table, trustMs, attemptMs, now, onTrusted, onTaken } = this.#options;
    const sent = now();
    const epoch = await table.take(seen, reason, { trustMs, attemptMs });
    if (epoch === null) return;
    const attemptMsMax = this.#attemptMsMax;
    const quietMs = seen === null ? 0 : (seen.quietMs ?? attemptMsMax);
    // It was told so meanwhile.
    if (this.#isLeaving) return table.release(epoch, quietMs);
    this.#epoch = epoch;
    this.#quietUntilMs = now().monotonicMs + quietMs;
    onTrusted(sent, trustMs);
    onTaken({ epoch, isClean, previous: seen?.node ?? null, attemptMsMax, quietMs });
  }

  async #beat(epoch: number): Promise<void> {
    const { table, node, trustMs, now, onTrusted, isTrusted, onWanted } = this.#options;
    const sent = now();
    // Then others may have had the lease since, and the table may have forgotten them.
    const isDoubtful = !isTrusted();
    const kept = await table.beat(epoch, ++this.#beatsSent);
    if (kept === null) return this.#lose('another node has taken it');
    if (await table.isForgotten(epoch, isDoubtful))
      return this.#lose('another database has noted a later one, or can not be asked');
    onTrusted(sent, trustMs);
    const { successor } = kept;
    if (successor === null || successor === node || this.#isWanted) return;
    this.#isWanted = true;
    onWanted(successor);
  }

  #lose(why: string): void {
    const { now, onTrusted, onLost } = this.#options;
    this.#isOver = true;
    onTrusted(now(), 0);
    onLost(why);
  }

  #tellHolder(address: string | null): void {
    if (address === this.#holder) return;
    this.#holder = address;
    this.#options.onHolder(address);
  }

  #tell(trouble: string | null): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble);
  }
}
