// A shard and what it needs to run, put together from ports: the networks' runner, the ticks, what
// is done every second, the watch on the disk, and the pause of a restored folder. The entry of a
// shard's thread gives it the real ports, and the simulator (test/simulator) its own, so both run
// the same wiring.

import { DiskRoom } from '../data-folder/disk-space.ts';
import type { NotedEnd } from '../data-folder/sequence-notes.ts';
import type { Cause } from '../domain/cause.ts';
import { type NetworkCall, networkCallOf } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type { NetworkCallRecord } from '../domain/record.ts';
import { requireHeld } from '../journal/ownership.ts';
import { type CallbackOptions, takeCallback } from '../networks/callbacks.ts';
import type { CallbackOutcome, Networks, TakenCallback } from '../networks/network.ts';
import { startPage } from '../networks/page-starts.ts';
import { postTimeoutMs } from '../networks/post.ts';
import { type NotSettled, Runner, type RunnerOptions } from '../networks/runner.ts';
import type { Availability, ShardAccount } from '../shard/account.ts';
import type { Peer } from '../shard/commit-batch.ts';
import { directoryRevisionKey, writeRevision } from '../shard/metadata.ts';
import type { OpenCallSummary } from '../shard/open-calls.ts';
import {
  type CallbackRequest,
  type InternalRequest,
  type NetworksMessage,
  type OpenCall,
  type OpenCallsRequest,
  outcomeCommand,
  type SettleCallRequest,
  type ToShardThread,
} from '../shard/protocol.ts';
import { openNetworkCalls } from '../shard/recover.ts';
import { Shard } from '../shard/shard.ts';
import type { ShardOptions } from '../shard/shard-options.ts';

const busyMs = 100;
const metadataMs = 1_000;
/** A question may take two posts to the network. */
const networkTimeoutMs = 2 * postTimeoutMs + 5_000;

interface RunningShardOptions extends Omit<ShardOptions, 'availability' | 'callNetwork'> {
  /** The shard's folder. */
  readonly dir: string;
  readonly accounts: readonly ShardAccount[];
  /** The directory's revision that the accounts are of. */
  readonly revision: number;
  readonly networks: Networks;
  readonly onNetworkTrouble: RunnerOptions['onTrouble'];
  /** Hears what became of everything that is posted for payment networks. */
  readonly onCallback: (request: CallbackRequest, outcome: CallbackOutcome) => void;
  /**
   * Whether the data folder is paused: the shard then reads, changes nothing and calls no networks.
   */
  readonly paused: boolean;
  /** Hears, every second and at the end, how far the log is durable, when that has changed. */
  readonly onDurable: (end: NotedEnd) => void;
  /** Hears when the disk is full, and when it has room again. */
  readonly onDisk: (isFull: boolean) => void;
}

/** What is not of the shard itself, because it needs the networks. */
const aboutNetworks: ReadonlySet<string> = new Set<NetworksMessage['request']['kind']>([
  'network_callback',
  'open_network_calls',
  'settle_network_call',
  'start_page',
]);

function isAboutNetworks(message: ToShardThread): message is NetworksMessage {
  return 'request' in message && aboutNetworks.has(message.request.kind);
}

export class RunningShard {
  readonly shard: Shard;
  readonly #options: RunningShardOptions;
  readonly #runner: Runner;
  #isPaused: boolean;
  readonly #room: DiskRoom;
  /** The directory's newest revision that the shard knows. */
  #revision: number;
  #isStopping = false;
  /** How far the log is durable, as was told. */
  #toldSequence = 0;
  /** The next tick may be a while ahead, because nothing was due and no message came. */
  #isIdle = false;
  #cancelTick = () => {};

  /** Nothing happens until `recover` and then `start` are called. */
  constructor(options: RunningShardOptions) {
    const { networks, timers, onNetworkTrouble, accounts, revision, paused } = options;
    this.#options = options;
    this.#isPaused = paused;
    this.#revision = revision;
    this.#room = new DiskRoom(options.dir, options.onDisk);
    this.#runner = new Runner({
      ownership: options.journal.ownership,
      networks,
      timers,
      scheduler: options.scheduler,
      timeoutMs: networkTimeoutMs,
      onTrouble: onNetworkTrouble,
      randomBelow: (limit) => this.shard.state.ids.randomBelow(limit),
      isOpen: (call) => this.#isOpen(call),
      apply: (call, outcome) => this.#applyOutcome(call, outcome),
    });
    const availability: Availability = (org, mode) => networks.available(org, mode);
    const callNetwork = (record: NetworkCallRecord) => {
      for (const call of this.#callsOf([record])) this.#runner.run(call);
    };
    this.shard = new Shard({ ...options, availability, callNetwork }, accounts);
  }

  /** What networks are told. Calls that need something damaged wait for the next start. */
  #callsOf(calls: readonly NetworkCallRecord[]): NetworkCall[] {
    const { records, reads } = this.shard.state;
    const { cashCodeMs } = this.#options.settings;
    return calls.flatMap((call) => reads.readOr([], () => [networkCallOf(records, call, cashCodeMs)]));
  }

  /** Replays the journal. */
  recover(): Promise<void> {
    return this.shard.recover();
  }

  /** Begins with what is due, and resolves when the shard has caught up: it is ready then. */
  async start(): Promise<void> {
    if (!this.#isPaused) this.#recoverCalls();
    this.#watchDisk();
    this.#noteDirectory();
    this.#tickAfter(0);
    this.#everySecond();
    await this.shard.catchUp();
    // The next start needs the clock, even if this process ends within a second.
    await this.shard.writeMetadata().catch(this.#options.onFailure);
  }

  #recoverCalls(): void {
    this.#runner.recover(this.#callsOf(openNetworkCalls(this.shard.state)));
  }

  /** Takes a message of a peer, which may bring something that is due soon. */
  receive(message: ToShardThread, peer: Peer): void {
    if (isAboutNetworks(message)) void this.#answerAboutNetworks(message, peer);
    else this.shard.receive(message, peer);
    if (this.#isIdle) this.#wake();
  }

  async #answerAboutNetworks({ correlation, request }: NetworksMessage, peer: Peer): Promise<void> {
    try {
      const answered = await this.#answerOf(request);
      requireHeld(this.#options.journal.ownership);
      peer.post({ correlation, answer: { ok: true, body: JSON.stringify(answered) } }, []);
    } catch (error) {
      // The network can't be asked, or a secret can't be opened. Nothing was stored, so it can be
      // tried again.
      this.#options.onNetworkTrouble({ callId: request.kind, error });
      if (request.kind === 'network_callback') this.#options.onCallback(request, 'later');
      peer.post({ correlation, answer: { ok: false, code: 'api_error', message: 'try again later' } }, []);
    }
  }

  #isOpen(call: string): boolean {
    return this.shard.state.openCalls.get(call) !== undefined;
  }

  async #applyOutcome(call: string, outcome: NetworkOutcome, cause?: Cause): Promise<void> {
    const answer = await this.shard.ask(outcomeCommand(call, outcome, cause));
    // The final outcome of a call that is no longer open was applied before.
    if (!answer.ok && answer.code !== 'resource_missing') throw new Error(answer.message);
  }

  #answerOf(request: NetworksMessage['request']): object | null | Promise<object | null> {
    const { networks, settings } = this.#options;
    const ask = (asked: InternalRequest) => this.shard.ask(asked);
    const knows = (org: string) => this.shard.state.scopes.knows(org);
    switch (request.kind) {
      case 'open_network_calls':
        return this.#openCalls(request);
      case 'settle_network_call':
        return this.#settle(request);
      case 'start_page':
        return startPage(request, { networks, ask, baseUrl: settings.baseUrl });
      case 'network_callback':
        return this.#takeCallback(request, {
          networks,
          ask,
          knows,
          onVisitFailed: this.#options.onVisitFailed,
        });
    }
  }

  /** The calls whose outcome a network owes, the oldest first. */
  owedCalls(): OpenCallSummary[] {
    return [...this.shard.state.openCalls.all()].filter((call) => this.#runner.isOwed(call));
  }

  async #takeCallback(request: CallbackRequest, options: CallbackOptions): Promise<TakenCallback> {
    const taken = await takeCallback(request, options);
    this.#options.onCallback(request, taken.outcome);
    return taken;
  }

  #settle({ id, outcome, cause }: SettleCallRequest): Promise<NotSettled | null> {
    return this.#runner.settle(id, outcome, () => this.#applyOutcome(id, outcome, cause));
  }

  #openCalls({ org, limit }: OpenCallsRequest): OpenCall[] {
    const { openCalls, records, reads } = this.shard.state;
    const asked = org === null ? this.owedCalls() : [...openCalls.all()].filter((call) => call.org === org);
    return asked
      .slice(-limit)
      .reverse()
      .flatMap(({ id }) => {
        const record = reads.readOr(undefined, () => records.get('network_call', id));
        return record === undefined ? [] : [{ record, lastError: this.#runner.lastError(id) }];
      });
  }

  #wake(): void {
    this.#cancelTick();
    this.#isIdle = false;
    this.#tickAfter(busyMs);
  }

  #tickAfter(ms: number): void {
    if (this.#isStopping) return;
    this.#cancelTick = this.#options.timers.after(ms, () => {
      const waitMs = this.shard.tick();
      this.#isIdle = waitMs > busyMs;
      this.#tickAfter(waitMs);
    });
  }

  #everySecond(): void {
    this.#options.timers.after(metadataMs, () => {
      if (this.#isStopping) return;
      this.#watchDisk();
      this.#tellDurable();
      this.shard.writeMetadata().catch(this.#options.onFailure);
      this.#everySecond();
    });
  }

  /** What a thread before this one has appended is certainly on disk once the checkpoint has it. */
  #tellDurable(): void {
    const { log, checkpoint } = this.#options.journal;
    const end = log.durableEnd ?? { sequence: checkpoint.sequence, checksum: null };
    if (end.sequence === this.#toldSequence) return;
    this.#toldSequence = end.sequence;
    this.#options.onDurable(end);
  }

  /** Refuses writes while the disk is full. */
  #watchDisk(): void {
    const isFull = this.#room.isFull();
    this.shard.state.setReadOnly(isFull || this.#isPaused);
  }

  /** Notes a change of the directory, so that a start notices an older one. */
  noteDirectory(revision: number): void {
    this.#revision = revision;
    this.#noteDirectory();
  }

  /** Stores the newest change of the directory that this shard knows. So does the next start. */
  #noteDirectory(): void {
    this.note(directoryRevisionKey, writeRevision(this.#revision));
  }

  /** Stores something beside the records, unless nothing may be written or the shard stops. */
  note(key: string, value: Uint8Array): void {
    if (this.shard.state.readOnly || this.#isStopping) return;
    this.#options.journal.checkpointer.putMetadata(new Map([[key, value]])).catch(this.#options.onFailure);
  }

  /** The data folder is not paused any more. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#watchDisk();
    this.#noteDirectory();
    this.#recoverCalls();
    this.#wake();
  }

  /**
   * Finishes the requests that were taken, and closes the journal. Resolves with false when other
   * machines have kept them from being finished.
   */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    this.#cancelTick();
    this.#runner.stop();
    const isFinished = await this.shard.stop();
    this.#tellDurable();
    return isFinished;
  }
}
