// A server of PostgreSQL: a primary or a standby, with a log of its own. A commit of the primary is written to its log, and
// waits until a standby has it on disk; until then it keeps its locks, and nobody sees its rows. A restart shows all that is in
// the log, also what no standby has; and a wait that is cancelled ends with success and a warning.

import { MachineClocks } from '../disk/clocks.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane, Place } from '../kernel/simulation.ts';
import { type Links, Way } from '../net/links.ts';
import { Locks } from './locks.ts';
import type { Session } from './session.ts';
import { type Lock, type ServerSettings, settingsOf, statementOf } from './statements.ts';
import { type Changes, putLease, putPartition, Tables } from './tables.ts';

/** A transaction in the log. Two logs have the same one when it was replicated. */
export interface Entry {
  readonly changes: Changes;
}

interface Committing {
  readonly place: number;
  readonly entry: Entry;
  readonly locks: readonly Lock[];
  readonly committed: (warning: string | null) => void;
  readonly sinceMs: number;
}

/** A standby as its primary sees it. */
interface Follower {
  readonly standby: PostgresServer;
  readonly way: Way;
  /** Up to where it has the log on disk. */
  flushed: number;
}

export interface Answer {
  readonly rows: readonly object[];
  readonly warning: string | null;
}

const cancelled = 'WARNING: canceling wait for synchronous replication due to user request';
const followRetryMs = 500;

export class PostgresServer implements Place {
  readonly name: string;
  readonly links: Links;
  readonly lane: Lane;
  readonly clocks: MachineClocks;
  isFrozen = false;
  isRunning = false;
  timeline = 1;
  /** The primary that it follows; null: it is one. */
  upstream: PostgresServer | null = null;
  readonly log: Entry[] = [];
  /** How much of the log is on disk. */
  flushed = 0;
  /** Up to where it has acknowledged commits as a primary. */
  acknowledged = 0;
  readonly settings: ServerSettings;
  readonly #random: Random;
  /** What can be seen. */
  #tables = new Tables();
  #locks = new Locks();
  #committing: Committing[] = [];
  #followers = new Map<PostgresServer, Follower>();
  processes = 0;
  /** Is called once when the answer to a beat has left, with the name of the node; null: nobody waits for that. */
  atBeat: ((node: string) => void) | null = null;
  /** Whoever is connected. */
  readonly sessions = new Set<Session>();
  /** The process that runs: what belongs to an earlier one is over. */
  #run = 0;
  /** The connection to the primary. */
  #follows = false;
  #fromPrimary: { readonly way: Way; readonly run: number } | null = null;

  constructor(name: string, links: Links, settings: ServerSettings) {
    const { simulation } = links;
    this.name = name;
    this.links = links;
    this.settings = settings;
    this.clocks = new MachineClocks(simulation, name);
    this.lane = simulation.lane(`postgresql ${name}`, this);
    this.#random = simulation.random(`postgresql ${name}`);
  }

  get isPrimary(): boolean {
    return this.isRunning && this.upstream === null;
  }

  /** The rows that can be seen here. */
  get tables(): Tables {
    return this.#tables;
  }

  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.#run++;
    this.flushed = this.log.length;
    this.#recover();
    this.#follows = this.upstream !== null;
    if (this.#follows) this.#follow();
  }

  /** All that is in the log is there after a start. */
  #recover(): void {
    this.#tables = new Tables();
    for (const { changes } of this.log) this.#tables.apply(changes);
    this.#locks = new Locks();
    this.#committing = [];
    this.#followers = new Map();
  }

  /** The process ends. `isSilent`: its machine does, and nobody is told. */
  crash(isSilent: boolean): void {
    if (!this.isRunning) return;
    this.isRunning = false;
    this.#run++;
    this.log.length = this.#random.between(this.flushed, this.log.length);
    this.flushed = this.log.length;
    for (const session of this.sessions) session.serverEnded(isSilent);
    this.sessions.clear();
    this.#followers.clear();
    this.#leavePrimary();
  }

  /** What was never sent to a standby that it could have replicated is lost with it. */
  promote(others: readonly PostgresServer[]): void {
    this.#leavePrimary();
    this.upstream = null;
    this.timeline = Math.max(...others.map(({ timeline }) => timeline), this.timeline) + 1;
    this.flushed = this.log.length;
    this.#run++;
    this.#recover();
  }

  /** Follows another primary; what it has beyond that one's log is thrown away, as a rebuilt standby does. */
  followAnew(primary: PostgresServer): void {
    const wasRunning = this.isRunning;
    if (wasRunning) this.crash(false);
    this.log.splice(0, this.log.length, ...primary.log.slice(0, primary.flushed));
    this.flushed = this.log.length;
    this.upstream = primary;
    if (wasRunning) this.start();
  }

  /** Whether all of this log is the beginning of another one. */
  isBeginningOf(other: readonly Entry[]): boolean {
    return this.log.length <= other.length && this.log.every((entry, i) => entry === other[i]);
  }

  /** An operator has it follow nobody, before one of the standbys is promoted. */
  stopFollowing(): void {
    this.#follows = false;
    this.#leavePrimary();
  }

  #leavePrimary(): void {
    if (this.#fromPrimary === null) return;
    this.#fromPrimary.way.close();
    this.#fromPrimary = null;
  }

  /** Connects to the primary, and tries again until it can. */
  #follow(): void {
    const { simulation } = this.links;
    const run = this.#run;
    const primary = this.upstream!;
    const asking = new Way(this.links, this.name, primary.name, primary.lane);
    asking.send(() => {
      asking.close();
      if (run === this.#run) primary.#take(this, run);
    });
    simulation.after(this.lane, followRetryMs, () => {
      if (run !== this.#run || !this.#follows) return;
      const isConnected = this.#fromPrimary !== null && primary.#followers.has(this);
      if (isConnected) return this.#watchPrimary(run);
      asking.close();
      this.#follow();
    });
  }

  #watchPrimary(run: number): void {
    this.links.simulation.after(this.lane, followRetryMs, () => {
      const primary = this.upstream;
      if (run !== this.#run || !this.#follows || primary === null) return;
      if (this.#fromPrimary !== null && primary.#followers.has(this)) this.#watchPrimary(run);
      else this.#follow();
    });
  }

  /** A standby connects, whose log must be a beginning of this one. */
  #take(standby: PostgresServer, run: number): void {
    if (!this.isRunning || !standby.#follows || !standby.isBeginningOf(this.log)) return;
    const way = new Way(this.links, this.name, standby.name, standby.lane);
    const from = standby.log.length;
    this.#followers.get(standby)?.way.close();
    const follower = { standby, way, flushed: standby.flushed };
    this.#followers.set(standby, follower);
    standby.#leavePrimary();
    standby.#fromPrimary = { way, run };
    this.#send(follower, from);
    this.#release();
  }

  #send({ standby, way }: Follower, from: number): void {
    for (let place = from; place < this.flushed; place++) {
      const entry = this.log[place]!;
      way.send(() => standby.#receive(this, entry, place));
    }
  }

  /** Writes what the primary has sent, and tells it when that is on disk. */
  #receive(primary: PostgresServer, entry: Entry, place: number): void {
    if (!this.isRunning || this.#fromPrimary === null || place !== this.log.length) return;
    this.log.push(entry);
    const run = this.#run;
    this.links.simulation.after(this.lane, this.#random.skewed(0.1, 4), () => {
      if (run !== this.#run) return;
      this.flushed = Math.max(this.flushed, place + 1);
      const back = new Way(this.links, this.name, primary.name, primary.lane);
      back.send(() => {
        back.close();
        primary.#acknowledged(this, place + 1);
      });
    });
  }

  #acknowledged(standby: PostgresServer, flushed: number): void {
    const follower = this.#followers.get(standby);
    if (follower === undefined) return;
    follower.flushed = Math.max(follower.flushed, flushed);
    this.#release();
  }

  /** One standby of those that follow must have a commit, unless none is named. */
  #release(): void {
    const replicated = Math.max(0, ...[...this.#followers.values()].map((each) => each.flushed));
    const isOver = ({ place }: Committing) =>
      place < this.flushed && (place < replicated || this.settings.standbys === '');
    const over = this.#committing.filter(isOver);
    if (over.length === 0) return;
    this.#committing = this.#committing.filter((each) => !isOver(each));
    for (const each of over) {
      if (each.place < replicated) this.acknowledged = Math.max(this.acknowledged, each.place + 1);
      this.#commit(each, null);
    }
  }

  /** Somebody names the standbys that commits wait for. With none, those that wait end with success, and without a warning. */
  nameStandbys(standbys: string): void {
    this.settings.standbys = standbys;
    if (this.isRunning) this.#release();
  }

  /** For how long the youngest commit has waited. */
  get waitMs(): number {
    return Math.min(
      Infinity,
      ...this.#committing.map(({ sinceMs }) => this.links.simulation.nowMs - sinceMs),
    );
  }

  #commit({ entry, locks, committed }: Committing, warning: string | null): void {
    this.#tables.apply(entry.changes);
    this.#locks.release(locks);
    committed(warning);
  }

  /** The answer to a beat has left. */
  beaten(): void {
    const { atBeat } = this;
    this.atBeat = null;
    atBeat?.(this.#tables.lease!.node);
  }

  /** An operator has the lease move to a node. */
  nameSuccessor(node: string): void {
    const { lease } = this.#tables;
    if (!this.isRunning || this.isFrozen || lease === undefined || lease.released) return;
    const locks = [{ row: 'lease', isShared: false }];
    this.#locks.take(locks, () => {
      const changes = { rows: [putLease({ ...this.#tables.lease!, successor: node })], log: null };
      this.#write(changes, locks, () => {});
    });
  }

  /** An operator has a partition run by a process; null: by any. */
  wantAt(partition: number, process: string | null): void {
    if (!this.isRunning || this.isFrozen || this.#tables.partition(partition) === undefined) return;
    const locks = [{ row: `partition ${partition}`, isShared: false }];
    this.#locks.take(locks, () => {
      const row = { ...this.#tables.partition(partition)!, wanted: process };
      this.#write({ rows: [putPartition(row)], log: null }, locks, () => {});
    });
  }

  /** Somebody cancels the waits for the standbys: what waits counts as done here. */
  cancelWaits(): number {
    const waiting = this.#committing.filter(({ place }) => place < this.flushed);
    this.#committing = this.#committing.filter(({ place }) => place >= this.flushed);
    for (const each of waiting) this.#commit(each, cancelled);
    return waiting.length;
  }

  /** Runs a statement of a session; `done` hears what to answer, unless the server ends before. */
  run(
    session: Session,
    name: string | undefined,
    text: string,
    values: readonly unknown[],
    done: (answer: Answer) => void,
  ): void {
    const run = this.#run;
    const { locks: locksOf, run: execute } = statementOf(name, text);
    const locks = session.transaction === null ? (locksOf?.(values) ?? []) : [];
    this.#locks.take(locks, () => {
      if (run !== this.#run) return;
      const { rows, changes } = execute(
        session.transaction?.tables ?? this.#tables,
        values,
        text,
        this.clocks.wall(),
      );
      const answered = rows.map((row) => ({ ...row, ...settingsOf(this.settings) }));
      if (session.transaction !== null) {
        session.transaction.add(changes);
        done({ rows: answered, warning: null });
      } else this.#write(changes, locks, (warning) => done({ rows: answered, warning }));
    });
  }

  /** Commits what a transaction of several statements has changed. */
  commitAll(changes: readonly Changes[], done: (warning: string | null) => void): void {
    const rows = changes.flatMap((each) => each.rows);
    this.#write({ rows, log: null }, [], done);
  }

  #write(changes: Changes, locks: readonly Lock[], committed: (warning: string | null) => void): void {
    if (changes.rows.length === 0 && changes.log === null) {
      this.#locks.release(locks);
      committed(null);
      return;
    }
    const entry = { changes };
    const place = this.log.push(entry) - 1;
    this.#committing.push({ place, entry, locks, committed, sinceMs: this.links.simulation.nowMs });
    const run = this.#run;
    this.links.simulation.after(this.lane, this.#random.skewed(0.1, 4), () => {
      if (run !== this.#run) return;
      const from = this.flushed;
      this.flushed = Math.max(from, place + 1);
      for (const follower of this.#followers.values()) this.#send(follower, from);
      this.#release();
    });
  }

  /** Whether a commit would be acknowledged: a standby follows it. */
  get isFollowed(): boolean {
    return [...this.#followers.values()].some(
      ({ standby }) =>
        standby.isRunning &&
        !standby.isFrozen &&
        standby.upstream === this &&
        !this.links.isCut(this.name, standby.name) &&
        !this.links.isCut(standby.name, this.name),
    );
  }

  /** What PostgreSQL says of its place in the log, as `pg_walfile_name` does. */
  get walFile(): string {
    return this.timeline.toString(16).padStart(8, '0').padEnd(24, '0');
  }
}
