// One process of the service, put together as src/main and src/threads do it: the main thread with the data folder, the directory and
// the supervision of shards; an edge; the shards; and the webhook threads. Each is a lane, and a crash cuts them all.

import type { ReachableNode } from '../../../src/cluster/node.ts';
import { archivedSequence, archiveFolderOf } from '../../../src/data-folder/archive-folder.ts';
import {
  type DataFolder,
  hasDataFolder,
  noteLayouts,
  openDataFolder,
  type SharedService,
} from '../../../src/data-folder/data-folder.ts';
import { DiskRoom } from '../../../src/data-folder/disk-space.ts';
import { checkFolder } from '../../../src/data-folder/folder-check.ts';
import { mirrorDirectory } from '../../../src/data-folder/mirrored-directory.ts';
import { Pause } from '../../../src/data-folder/pause.ts';
import { SequenceNotes } from '../../../src/data-folder/sequence-notes.ts';
import { Directory, type DirectoryChange } from '../../../src/directory/directory.ts';
import { atWriteError } from '../../../src/disk/storage-errors.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { JournalDamaged, JournalFailure } from '../../../src/journal/journal.ts';
import { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { PostgresRows } from '../../../src/postgresql/directory-rows.ts';
import { serviceIn } from '../../../src/postgresql/service-table.ts';
import { shardOfOrganization } from '../../../src/shard/shard-map.ts';
import { accountOf, keyRingChangeOf } from '../../../src/threads/directory-projections.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { Databases } from '../postgresql/databases.ts';
import { ArchiveProcess, archiveDir } from './archive-process.ts';
import { auditDirectory } from './audit-directory.ts';
import { dataDir } from './backups.ts';
import { within } from './channel.ts';
import { type Answer, type Call, Edge, type Entry, type Request } from './edge.ts';
import { judgeFenced, judgeShardFailure } from './failures.ts';
import type { Hosting } from './hosting.ts';
import { Lending } from './lending.ts';
import { databasesOf, ownersOf } from './owners.ts';
import { ShardThread } from './shard-thread.ts';
import { aloneClaim, type Claim, StandBy } from './stand-by.ts';
import { WebhookThread, webhookThreads } from './webhook-thread.ts';
import type { World } from './world.ts';

const restartMs = 100;

/** The ways into a service. */
export interface Entrance extends Entry {
  /** Has the main thread run an operator's command. */
  operate(command: (directory: Directory) => void): void;
}

export class Service implements Entrance {
  readonly #world: World;
  readonly #machine: Machine;
  /** Null where no nodes share the service. */
  readonly #databases: Databases | null;
  /** Tells processes of a node apart. */
  readonly process: string;
  readonly #main: Lane;
  /** Null: it does not listen yet. */
  #edge: Edge | null = null;
  readonly shards: (ShardThread | null)[] = [];
  readonly #webhooks: WebhookThread[] = [];
  #archive: ArchiveProcess | null = null;
  #folder!: DataFolder;
  #standBy: StandBy | null = null;
  /** Null: this node runs all shards itself. */
  #lending: Lending | null = null;
  /** Shards that are stopped to be run where they are to run now. */
  readonly #replaced = new Set<number>();
  /** Resolved when the shard has ended. */
  readonly #onShardEnded = new Map<number, () => void>();
  #claim!: Claim;
  #board!: OwnershipBoard;
  #pause!: Pause;
  #notes: SequenceNotes | null = null;
  directory: Directory | null = null;
  #isStopping = false;
  onShardStart: () => void = () => {};
  /** Hears to which node requests are passed on while this one stands by; null: to none. */
  onHolder: (holder: string | null) => void = () => {};
  /** Those that have been ready, or wait for their database: for these nobody waits. */
  readonly #waited = new Set<number>();
  #waitsNoMore: (number: number) => void = () => {};
  readonly #onEnded: (error: unknown) => void;

  /** `onEnded` hears why the process can't go on. */
  constructor(
    world: World,
    machine: Machine,
    databases: Databases | null,
    onEnded: (error: unknown) => void,
  ) {
    this.#world = world;
    this.#machine = machine;
    this.#databases = databases;
    this.process = `process ${world.simulation.tasks} of ${machine.name}`;
    this.#main = machine.lane('main');
    this.#onEnded = onEnded;
    atWriteError.run = ({ message }) => this.#endAtWriteError(message);
  }

  /** The service ends when one of its threads meets a write error inside the storage library; a command goes on. */
  #endAtWriteError(message: string): void {
    const { simulation } = this.#world;
    const machine = this.#machine;
    if (!this.lanes.includes(simulation.current)) return;
    this.#world.note(`${message}: the process ends itself`);
    machine.endHere(`write error in ${simulation.current.name.replace(/ \d+$/, '')}`);
  }

  /** Starts the process; `ready` follows when all shards are. */
  start(ready: () => void): void {
    this.#world.simulation.soon(this.#main, () => {
      this.#open(ready).catch(this.#onEnded);
    });
  }

  async #open(ready: () => void): Promise<void> {
    const { settings, judge, simulation } = this.#world;
    const { clocks } = this.#machine;
    const note = (text: string) => this.#world.note(text);
    this.#folder = await openDataFolder(dataDir, 0, settings.shards, await this.#knownService());
    this.#world.folderInUse = this.#folder;
    const remote = await this.#own();
    this.#pause = new Pause(this.#folder);
    this.#world.isPaused = this.#pause.paused !== null;
    const { directory: folder, directoryPart: part, shards } = this.#folder;
    const room = new DiskRoom(folder);
    const directory = new Directory({
      folder,
      part,
      now: clocks.wall,
      ...(settings.archiveAgeMs > 0 && {
        archivedRevision: () => archivedSequence(archiveFolderOf(archiveDir, this.#folder, 'directory')),
      }),
      onFailure: (error, fatal) => {
        note(`a change of the directory failed: ${(error as Error).message}`);
        if (fatal) this.#onEnded(error);
      },
      isDiskFull: () => room.isFull(),
      remote,
    });
    const { ends } = await checkFolder({
      folder: this.#folder,
      directory,
      acceptLoss: this.#world.isDamaged,
      warn: (message) =>
        judge.check('the service starts on what a crash leaves', this.#world.isDamaged, () => message),
    });
    if (this.#databases !== null) auditDirectory(this.#world, this.#databases, directory, this.#claim.lease!);
    this.#world.people.isRead(directory, this.#folder.id);
    noteLayouts(this.#folder);
    const notes = new SequenceNotes({
      folder: this.#folder,
      ends,
      timers: { after: (ms, run) => simulation.after(this.#main, ms, run) },
      onFailure: (error) => note(`the notes could not be written: ${(error as Error).message}`),
    });
    this.#notes = notes;
    this.directory = directory;
    directory.onChange((change) => this.#changed(change));
    directory.store.onChange((revision) => this.#noteDirectory(revision));
    this.#edge = this.#newEdge();
    for (let thread = 0; thread < webhookThreads; thread++) this.#webhooks.push(this.#webhookThread(thread));
    if (settings.archiveAgeMs > 0) this.#archive = new ArchiveProcess(this.#world, this.#folder);
    this.#waitsNoMore = (number) => {
      this.#waited.add(number);
      if (this.#waited.size === shards) ready();
    };
    for (let number = 0; number < shards; number++) {
      this.shards.push(null);
      this.#startShard(number);
    }
  }

  /** The service whose log PostgreSQL has: a new data folder becomes another one of that. */
  async #knownService(): Promise<SharedService | null> {
    const databases = this.#databases;
    if (databases === null || hasDataFolder(dataDir)) return null;
    const { simulation } = this.#world;
    const [first] = databasesOf(this.#world, databases, this.#main);
    for (;;) {
      const found = await serviceIn(first!);
      if (found === null) return null;
      if (typeof found !== 'string') return { ...found, id: found.folder };
      await new Promise<void>((resolve) => void simulation.after(this.#main, 1_000, resolve));
    }
  }

  /** Stands by until the node has the lease, and takes the directory. */
  async #own(): Promise<PostgresRows | null> {
    const databases = this.#databases;
    if (databases === null) {
      this.#claimed(aloneClaim(this.#folder.shards));
      return null;
    }
    this.#standBy = new StandBy({
      world: this.#world,
      machine: this.#machine,
      databases,
      main: this.#main,
      folder: this.#folder,
      process: this.process,
      onEnded: this.#onEnded,
      onHolder: (holder) => this.onHolder(holder),
      onNodes: (nodes) => this.#lendTo(nodes),
    });
    this.#claimed(await this.#standBy.claim());
    const { lease } = this.#claim;
    const [first] = ownersOf(this.#world, databases, this.#main, this.#folder, lease);
    const remote = new PostgresRows(first!);
    await mirrorDirectory(remote, this.#folder);
    return remote;
  }

  #claimed(claim: Claim): void {
    this.#claim = claim;
    this.#board = new OwnershipBoard(claim.ownership, this.#machine.clocks.trust);
  }

  #webhookThread(thread: number): WebhookThread {
    const { quietMs } = this.#claim;
    return new WebhookThread({
      world: this.#world,
      machine: this.#machine,
      thread,
      board: this.#board,
      quietMs,
    });
  }

  /** The threads by which it owns anything: that which keeps the lease, and those of its shards. */
  get lanesOfOwner(): { readonly lease: readonly Lane[]; readonly shards: readonly Lane[] } {
    const here = this.shards.filter((_, number) => !this.#lending?.isLent(number));
    const lease = this.#standBy === null ? [] : [this.#standBy.leaseLane];
    return { lease, shards: here.flatMap((thread) => thread?.lanes ?? []) };
  }

  /** What it runs for another node; null: nothing. */
  get hosting(): Hosting | null {
    return this.#standBy?.hosting ?? null;
  }

  /** The edges listen: the node has what a service needs. */
  get isListening(): boolean {
    return this.#edge !== null;
  }

  /** All shards have run here once: from then on others may run some. */
  #lendTo(nodes: readonly ReachableNode[]): void {
    const standBy = this.#standBy;
    const databases = this.#databases;
    if (standBy === null || databases === null) return;
    if (this.#isStopping || this.#waited.size < this.#folder.shards) return;
    if (this.#lending === null) {
      standBy.followLent();
      this.#lending = new Lending({
        world: this.#world,
        machine: this.#machine,
        links: databases.links,
        main: this.#main,
        shards: this.#folder.shards,
        process: this.process,
        lease: this.#claim.lease!,
        board: this.#board,
        release: (number) => standBy.release(number, this.#main),
        followAgain: (number, isWanted) => standBy.followAgain(number, isWanted),
        replace: (number) => this.#replace(number),
        onReady: (number, thread) => this.#lentReady(number, thread),
        keys: () => this.directory!.snapshot().map(keyRingChangeOf),
        running: () =>
          [...this.shards.entries()].flatMap(([number, thread]) =>
            thread?.shard === undefined ? [] : [[number, thread] as const],
          ),
        onEnded: (number, error) => this.#shardIsOver(number, error),
      });
    }
    this.#lending.know(nodes);
  }

  /** Stops the shard, wherever it runs: it is started again where it is to run. */
  #replace(number: number): void {
    const { simulation } = this.#world;
    if (this.#replaced.has(number) || this.#isStopping) return;
    // Also one that waits still for its partition there.
    if (this.#lending?.isLent(number)) {
      this.#replaced.add(number);
      this.#lending.stopShard(number);
      return;
    }
    const thread = this.shards[number];
    if (thread?.shard === undefined) return;
    this.#replaced.add(number);
    const over = () => simulation.soon(this.#main, () => this.shardEnded(number, thread, null));
    simulation.soon(thread.lane, () => void thread.stop().then(over, over));
  }

  /** Starts a shard where it is to run. */
  #startShard(number: number): void {
    this.onShardStart();
    if (this.#lending === null) {
      this.#startHere(number);
      return;
    }
    this.#lending
      .place(number)
      .then((process) => {
        if (this.#isStopping) return;
        if (process === null) this.#startHere(number);
        else this.#lending?.lend(process, this.#lentShard(number));
      })
      .catch(this.#onEnded);
  }

  #lentShard(number: number) {
    const { revision } = this.directory!;
    return { number, accounts: this.#accountsOf(number), revision };
  }

  #accountsOf(number: number) {
    const all = this.directory!.snapshot().map(({ organization }) => accountOf(organization));
    return all.filter(({ id }) => this.shardOf(id) === number);
  }

  #startHere(number: number): void {
    const { simulation } = this.#world;
    const { revision } = this.directory!;
    const thread: ShardThread = new ShardThread({
      world: this.#world,
      machine: this.#machine,
      databases: this.#databases,
      lease: this.#claim.lease,
      board: this.#board,
      term: 0,
      number,
      folder: this.#folder,
      accounts: this.#accountsOf(number),
      revision,
      onDurable: (end) => simulation.soon(this.#main, () => this.#notes?.note(number, end)),
      onWaits: () =>
        simulation.soon(this.#main, () => {
          if (this.shards[number] === thread) this.#waitsNoMore(number);
        }),
      onFailure: (error) => simulation.soon(this.#main, () => this.shardEnded(number, thread, error)),
    });
    this.shards[number] = thread;
    thread.start(() =>
      simulation.soon(this.#main, () => {
        if (this.shards[number] !== thread) return;
        this.#world.note(`shard ${number} is ready`);
        this.#connect(number, thread);
        const quietMs = this.#lending?.quietMs(number) ?? 0;
        if (quietMs === 0) this.#deliver(number, thread);
        else simulation.after(this.#main, quietMs, () => this.#deliver(number, thread));
      }),
    );
  }

  /** Another node runs the shard. */
  #lentReady(number: number, thread: ShardThread): void {
    this.shards[number] = thread;
    this.#world.note(`shard ${number} is ready on another node`);
    this.#connect(number, thread);
  }

  /** Connects a shard that has begun with every edge. */
  #connect(number: number, thread: ShardThread): void {
    // What changed in the directory meanwhile.
    for (const account of this.#accountsOf(number)) this.#tell(number, () => thread.putAccount(account));
    const { revision } = this.directory!;
    this.#tell(number, () => thread.noteDirectory(revision));
    const path = this.#lending?.pathTo(number) ?? within;
    this.#edge!.connect(number, thread, path);
    this.#lending?.connectEdges(number, thread);
    this.#waitsNoMore(number);
  }

  /** Has a shard's thread do something, if it runs. `done` follows in the main lane. */
  #tell(number: number, run: () => void, done: () => void = () => {}): void {
    const { simulation } = this.#world;
    const thread = this.shards[number];
    if (thread?.shard === undefined) done();
    else if (this.#lending?.isLent(number)) this.#lending.tell(thread, number, run, done);
    else
      simulation.soon(thread.lane, () => {
        run();
        simulation.soon(this.#main, done);
      });
  }

  /** Its webhooks are delivered by this node. */
  #deliver(number: number, thread: ShardThread): void {
    if (this.shards[number] === thread)
      for (const webhooks of this.#webhooks) webhooks.connect(number, thread);
  }

  /**
   * A shard's thread has ended: another one is started on what is on disk, unless that can't help. What it was writing may arrive
   * behind what that one writes.
   */
  shardEnded(number: number, thread: ShardThread, error: unknown, isOvertaken = false): void {
    if (this.shards[number] !== thread || this.#isStopping || this.#machine.isDown) return;
    this.#world.note(`shard ${number} ends: ${error instanceof Error ? error.message : error}`);
    if (error !== null) judgeShardFailure(this.#world, error);
    judgeFenced(this.#world, error, thread.isOvertaken);
    for (const lane of thread.lanes) this.#world.simulation.cut(lane);
    this.#machine.released(thread.lanes, isOvertaken);
    this.#shardIsOver(number, error);
  }

  /** A shard has ended, wherever it ran. `error`: null when it was stopped. */
  #shardIsOver(number: number, error: unknown): void {
    const { simulation } = this.#world;
    this.shards[number] = null;
    this.#replaced.delete(number);
    for (const webhooks of this.#webhooks) webhooks.disconnected(number);
    this.#edge!.disconnect(number);
    this.#lending?.disconnectEdges(number);
    this.#onShardEnded.get(number)?.();
    if (this.#isStopping) return;
    if (error instanceof JournalDamaged) {
      this.#onEnded(error);
      return;
    }
    // Where all logs are beside the lease, the thread of that says so soon, too.
    const isOver = this.#databases === null || this.#databases.all.length === 1;
    if (isOver && error instanceof JournalFailure && error.outcome === 'fenced') return;
    simulation.after(this.#main, error === null ? 0 : restartMs, () => {
      if (!this.#isStopping) this.#startShard(number);
    });
  }

  #newEdge(): Edge {
    return new Edge({
      world: this.#world,
      machine: this.#machine,
      shards: this.#folder.shards,
      keys: this.directory!.snapshot().map(keyRingChangeOf),
      board: this.#board,
      term: 0,
    });
  }

  /** The edge's thread ends and another one is started. */
  restartEdge(): void {
    const { simulation } = this.#world;
    simulation.soon(this.#main, () => {
      const ended = this.#edge;
      if (ended === null || this.#isStopping) return;
      this.#edge = this.#newEdge();
      simulation.soon(ended.lane, () => {
        ended.end();
        simulation.cut(ended.lane);
      });
      for (const [number, thread] of this.shards.entries())
        if (thread !== null && ended.isConnected(number)) this.#edge.connect(number, thread, within);
    });
  }

  /** A webhook thread ends and another one is started. */
  restartWebhooks(ended: number): void {
    if (this.#webhooks[ended] === undefined) return;
    this.#webhooks[ended].cut();
    const started = this.#webhookThread(ended);
    this.#webhooks[ended] = started;
    for (const [number, thread] of this.shards.entries())
      if (thread !== null && this.#edge!.isConnected(number) && !this.#lending?.isLent(number))
        started.connect(number, thread);
  }

  /** `payments resume`: the service of a restored folder goes on. */
  resume(): void {
    const { simulation, judge } = this.#world;
    simulation.soon(this.#main, () => {
      if (this.#isStopping) return;
      const { sentInPause } = this.#world;
      judge.check('nothing goes out while paused', sentInPause.length === 0, () => sentInPause.join(', '));
      this.#pause
        .end(async () => {
          this.#world.isPaused = false;
          this.#world.note('resumed');
          for (const thread of this.shards)
            if (thread?.shard !== undefined) simulation.soon(thread.lane, () => thread.resume());
          for (const webhooks of this.#webhooks) webhooks.resume();
        })
        .catch(this.#onEnded);
    });
  }

  shardOf(org: string): number {
    return shardOfOrganization(org, this.#folder.shards);
  }

  /** Puts a change of the directory in force: first in its shard, then at the edge. */
  async #changed(change: DirectoryChange): Promise<void> {
    const { simulation } = this.#world;
    const number = this.shardOf(change.organization.id);
    const thread = this.shards[number];
    const told = (tell: (done: () => void) => void) =>
      new Promise<void>((resolve) => {
        tell(resolve);
        simulation.after(this.#main, 3_000, resolve);
      });
    await told((done) => this.#tell(number, () => thread?.putAccount(accountOf(change.organization)), done));
    await told((done) =>
      simulation.soon(this.#edge!.lane, () => {
        this.#edge!.putKeys(keyRingChangeOf(change));
        simulation.soon(this.#main, done);
      }),
    );
    await this.#lending?.changed(keyRingChangeOf(change));
  }

  /** Every shard that runs notes how far the directory has come. */
  #noteDirectory(revision: number): void {
    for (const [number, thread] of this.shards.entries())
      this.#tell(number, () => thread?.noteDirectory(revision));
  }

  /** Has the main thread run an operator's command. */
  operate(command: (directory: Directory) => void): void {
    this.#world.simulation.soon(this.#main, () => {
      if (this.directory !== null) command(this.directory);
    });
  }

  /** Takes a request at the edge. `done` gets null when there is no answer but that one should try again. */
  request(request: Request, done: (answer: Answer | null) => void): Call {
    if (this.#edge !== null) return this.#edge.request(request, done);
    this.#world.simulation.soon(this.#main, () => done(null));
    return { withdraw() {} };
  }

  /** The client of a request has gone. */
  giveUp(call: Call): void {
    this.#edge?.giveUp(call);
  }

  /** An operator has the checkpoints of all shards compacted. */
  compact(): void {
    for (const thread of this.shards) if (thread?.shard !== undefined) thread.compact();
  }

  ask(...asked: Parameters<Edge['ask']>): void {
    this.#edge?.ask(...asked);
  }

  handOver(...handed: Parameters<Edge['handOver']>): void {
    this.#edge?.handOver(...handed);
  }

  /** Stops as it is told to; `stopped` follows when everything is closed. */
  stop(stopped: () => void): void {
    const { simulation } = this.#world;
    this.#isStopping = true;
    simulation.soon(this.#main, () => {
      for (const webhooks of this.#webhooks) webhooks.cut();
      this.#edge?.end();
      const edges = this.#lending?.stopEdges();
      const stops = this.shards.map((thread, number) =>
        thread?.shard === undefined ? null : this.#stopShard(number, thread),
      );
      void Promise.all([...stops, edges]).then(async () => {
        this.#lending?.stop();
        await this.#stopArchive();
        await this.#notes?.close();
        await this.directory?.closeStore();
        await this.#standBy?.stop();
        stopped();
      });
    });
  }

  #stopShard(number: number, thread: ShardThread): Promise<void> {
    const { simulation } = this.#world;
    const lending = this.#lending;
    return new Promise((resolve) => {
      if (lending?.isLent(number)) {
        this.#onShardEnded.set(number, resolve);
        lending.stopShard(number);
        return;
      }
      const stopped = () => simulation.soon(this.#main, resolve);
      simulation.soon(thread.lane, () => void thread.stop().then(stopped, stopped));
    });
  }

  async #stopArchive(): Promise<void> {
    const archive = this.#archive;
    if (archive === null) return;
    await new Promise<void>((resolve) => {
      this.#world.simulation.soon(archive.lane, () => {
        const stopped = () => this.#world.simulation.soon(this.#main, resolve);
        archive.stop().then(stopped, stopped);
      });
    });
  }

  /** Whether the process may believe itself. */
  get isTrusted(): boolean {
    return this.#board?.isTrusted() ?? false;
  }

  /** The epoch of the lease that the process has taken; null: it has taken none. */
  get lease(): number | null {
    return this.#claim?.lease ?? null;
  }

  /** The partitions that it runs itself, with the epochs by which it has taken them. */
  get owned(): readonly (readonly [number: number, epoch: number])[] {
    return this.shards.flatMap((thread, number) =>
      thread === null || thread.epoch === null || this.#lending?.isLent(number)
        ? []
        : [[number, thread.epoch] as const],
    );
  }

  /** Whether it may speak for a partition. */
  isHeld(partition: number): boolean {
    return this.#board.isHeld(partition);
  }

  /** How far the mirrors of the partitions have come; without a checksum where the node stands by. */
  get mirrorEnds(): readonly { readonly sequence: number; readonly checksum: number | null }[] {
    const followed = this.#standBy?.followed ?? [];
    const ends = followed.map((sequence) => ({ sequence, checksum: null }));
    if (!this.isListening) return ends.map((end, number) => this.hosting?.mirrorEnd(number) ?? end);
    return this.shards.map((thread, number) =>
      this.#lending?.isLent(number) ? ends[number]! : (thread?.mirrorEnd ?? { sequence: 0, checksum: null }),
    );
  }

  /** The requests, and their bytes, of which the edge believes that they wait for a shard. */
  get waiting(): number {
    return this.#edge?.waiting ?? 0;
  }

  get openWork(): number {
    let open = 0;
    for (const state of this.shards.map((thread) => thread?.shard?.state)) {
      if (state === undefined) return Infinity;
      open += state.records.count('operation') + state.outboxes.draining.size;
      for (const endpoint of state.records.scan('endpoint', { descending: false })) {
        if (endpoint.kind === 'webhook_endpoint' && endpoint.status === 'enabled')
          open += state.records.count(`due/endpoint=${endpoint.id}`);
      }
    }
    return open;
  }

  /** Every record of every shard, as the shards show them. */
  records(): Map<string, StoredRecord> {
    const records = new Map<string, StoredRecord>();
    for (const thread of this.shards)
      for (const [id, record] of thread?.records() ?? []) records.set(id, record);
    return new Map(
      [...records].sort(([a], [b]) => (a.slice(a.indexOf('_')) < b.slice(b.indexOf('_')) ? -1 : 1)),
    );
  }

  /** Nothing of this process runs any more. `isSilent`: its machine ends, and nobody is told. */
  cut(isSilent = false): void {
    const { simulation } = this.#world;
    this.#isStopping = true;
    for (const webhooks of this.#webhooks) webhooks.cut(isSilent);
    this.#lending?.cut(isSilent);
    this.hosting?.cut(isSilent);
    const ofArchive = this.#archive === null ? [] : [this.#archive.lane];
    for (const lane of [...this.lanes, ...ofArchive]) simulation.cut(lane);
  }

  /** The threads of the process that write. */
  get lanes(): readonly Lane[] {
    const edge = this.#edge === null ? [] : [this.#edge.lane];
    return [this.#main, ...edge, ...(this.#standBy?.lanes ?? []), ...this.lanesOfOwner.shards];
  }
}
