// The client of a shard in an edge or in the main thread. It packs the requests of a tick into one
// buffer, and refuses all that have no answer when the shard ends. It also bounds the shard's
// mailbox: the shard is sent as many as keep it busy, and the others wait here in fair queues, or
// are refused at once beyond their bounds. Commands and queries have a window and a queue each, so
// that reads go on while a disk keeps writes waiting.

import { routeTable } from '../contract/routes/table.ts';
import { assert, elementAt } from '../core/assert.ts';
import { type Scheduler, systemScheduler } from '../core/scheduler.ts';
import { FairQueue, type NoRoom, type QueueBounds } from './fair-queue.ts';
import {
  type AnswerFrame,
  answerFlags,
  type RequestFrame,
  RequestWriter,
  readAnswers,
  SpareBuffers,
} from './frames.ts';
import type {
  FromShard,
  InternalAnswer,
  InternalRequest,
  NetworksMessage,
  ToShardThread,
} from './protocol.ts';

/** The part of a MessageChannel's port that is used. */
export interface Port {
  postMessage(message: ToShardThread, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: FromShard) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  close(): void;
}

/** Why a request has no answer: its shard ended, or too many requests wait for it. */
export type NoAnswer = 'away' | 'overloaded';

/** Gets the answer to a public request, whose body is valid during the call only, or why not. */
export type OnAnswer = (answer: AnswerFrame | NoAnswer) => void;

type Frame = Omit<RequestFrame, 'correlation'>;

interface Waiting {
  readonly correlation: number;
  readonly frame: Frame;
  readonly onAnswer: OnAnswer;
}

/** What may be on its way to a shard, and wait for that: of commands and of queries each. */
export interface ClientBounds {
  /** Requests that are sent ahead of their answers, and the bytes of their large bodies. */
  readonly sentMax: number;
  readonly sentBytesMax: number;
  readonly queue: QueueBounds;
}

export const unbounded: ClientBounds = {
  sentMax: Infinity,
  sentBytesMax: Infinity,
  queue: { requests: Infinity, bytes: Infinity, organizationShare: 1 },
};

const away: InternalAnswer = {
  ok: false,
  code: 'api_error',
  message: 'The shard is recovering, or has too much to do: try again.',
};

/** The bytes that a request without a large body takes until it is answered. */
const requestBytes = 1024;

/** So much work is sent at once to a free shard. Less is not worth waking the other thread. */
export const workForFreeShard = 64;
/** The work of a request by its route. A query is about a quarter of a command. */
const workOf = routeTable.map(({ kind }) => (kind === 'command' ? 4 : 1));
/** By route: 0 for queries, 1 for commands. It is the lowest bit of the correlation. */
const laneOf = routeTable.map(({ kind }) => (kind === 'command' ? 1 : 0));

/** The requests of one kind that wait for an answer or to be sent. */
class Lane {
  readonly queue: FairQueue<Waiting>;
  #bounds: ClientBounds;
  sent = 0;
  largeBytes = 0;

  constructor(bounds: ClientBounds, onEvicted: (waiting: Waiting) => void) {
    this.#bounds = bounds;
    this.queue = new FairQueue(bounds.queue, onEvicted);
  }

  set bounds(bounds: ClientBounds) {
    this.#bounds = bounds;
    this.queue.bounds = bounds.queue;
  }

  /** Another request may be sent, of any size: a shard that has nothing to do accepts all. */
  get isOpen(): boolean {
    const { sentMax, sentBytesMax } = this.#bounds;
    return this.sent < sentMax && this.largeBytes < sentBytesMax;
  }

  /** A new request is sent at once, because none waits. */
  get isFree(): boolean {
    return this.queue.length === 0 && this.isOpen;
  }
}

export class ShardClient {
  #port: Port | null = null;
  readonly #spare = new SpareBuffers();
  readonly #writer = new RequestWriter(this.#spare);
  /** Those that were sent. */
  readonly #waiting = new Map<number, OnAnswer>();
  readonly #waitingInternal = new Map<number, (answer: InternalAnswer) => void>();
  readonly #lanes: readonly [queries: Lane, commands: Lane];
  readonly #large = new Map<number, number>();
  #bounds: ClientBounds;
  #count = 0;
  #flushScheduled = false;
  /** How many requests were not sent yet, and their work. */
  #unsent = 0;
  #unsentWork = 0;
  /** Those that were sent, and of whose withdrawal the shard is told next. */
  #withdrawn: number[] = [];
  /** The shard has answered since something was sent to it, so it is probably free. */
  #hasAnswered = false;
  readonly #scheduler: Scheduler;
  #stalledSinceMs: number | null = null;
  /** Requests that were refused for want of room, by reason, since the start. */
  readonly refused: Record<NoRoom, number> = { full: 0, organization: 0, largest: 0 };
  /** Requests that were withdrawn before they ran, since the start. */
  abandoned = 0;

  constructor(bounds = unbounded, scheduler: Scheduler = systemScheduler) {
    this.#bounds = bounds;
    const evicted = ({ onAnswer }: Waiting) => {
      this.refused.largest++;
      onAnswer('overloaded');
    };
    this.#lanes = [new Lane(bounds, evicted), new Lane(bounds, evicted)];
    this.#scheduler = scheduler;
  }

  /** What waits or was sent beyond new bounds stays. */
  set bounds(bounds: ClientBounds) {
    this.#bounds = bounds;
    for (const lane of this.#lanes) lane.bounds = bounds;
  }

  /** False while the shard is being restarted. Then nothing can be sent. */
  get connected(): boolean {
    return this.#port !== null;
  }

  /** For how long the shard's disk has kept a commit waiting, in milliseconds, or 0. */
  get stalledMs(): number {
    return this.#stalledSinceMs === null ? 0 : this.#scheduler.elapsedMs() - this.#stalledSinceMs;
  }

  get waitingCount(): number {
    return this.#waiting.size + this.#lanes[0].queue.length + this.#lanes[1].queue.length;
  }

  get waitingBytes(): number {
    const [queries, commands] = this.#lanes;
    const queued = queries.queue.bytes + commands.queue.bytes;
    return this.#waiting.size * requestBytes + queries.largeBytes + commands.largeBytes + queued;
  }

  connect(port: Port): void {
    this.disconnect();
    this.#port = port;
    port.on('message', (message) => this.#receive(message));
    port.on('close', () => {
      if (this.#port === port) this.disconnect();
    });
  }

  /** The shard has ended, so everything that waits for it is refused. */
  disconnect(): void {
    this.#port?.close();
    this.#port = null;
    this.#stalledSinceMs = null;
    if (!this.#writer.empty) this.#writer.take();
    this.#unsent = 0;
    this.#unsentWork = 0;
    this.#withdrawn = [];
    this.#large.clear();
    for (const lane of this.#lanes) {
      lane.sent = 0;
      lane.largeBytes = 0;
    }
    for (const onAnswer of this.#waiting.values()) onAnswer('away');
    this.#waiting.clear();
    for (const { queue } of this.#lanes) queue.clear(({ onAnswer }) => onAnswer('away'));
    for (const resolve of this.#waitingInternal.values()) resolve(away);
    this.#waitingInternal.clear();
  }

  /** Sends a public request, or queues it. Returns the number with which it can be withdrawn. */
  send(frame: Frame, onAnswer: OnAnswer): number {
    if (this.#port === null) {
      onAnswer('away');
      return 0;
    }
    const side = elementAt(laneOf, frame.route);
    const lane = this.#lanes[side];
    const correlation = this.#nextCorrelation(side);
    if (!lane.isFree) {
      this.#enqueue(lane, { correlation, frame, onAnswer });
      return correlation;
    }
    this.#put(lane, correlation, frame, onAnswer);
    if (this.#unsentWork >= workForFreeShard && this.#isShardFree) this.#flush();
    else this.#flushSoon();
    return correlation;
  }

  /** Why a request with a body that was not read yet would be refused now; null: it may be sent. */
  refusal(route: number, org: string, bodyBytes: number): NoAnswer | null {
    if (this.#port === null) return 'away';
    const lane = this.#lanes[elementAt(laneOf, route)];
    if (lane.isFree) return null;
    const reason = lane.queue.noRoomFor(org, requestBytes + bodyBytes);
    if (reason === null) return null;
    this.refused[reason]++;
    return 'overloaded';
  }

  #enqueue({ queue }: Lane, waiting: Waiting): void {
    const { correlation, frame, onAnswer } = waiting;
    const reason = queue.put(correlation, frame.org, requestBytes + frame.body.length, waiting);
    if (reason === null) return;
    this.refused[reason]++;
    onAnswer('overloaded');
  }

  #put(lane: Lane, correlation: number, frame: Frame, onAnswer: OnAnswer): void {
    const bytes = frame.body.length;
    if (bytes > requestBytes) {
      this.#large.set(correlation, bytes);
      lane.largeBytes += bytes;
    }
    lane.sent++;
    this.#waiting.set(correlation, onAnswer);
    this.#writer.put(correlation, frame);
    this.#unsent++;
    this.#unsentWork += elementAt(workOf, frame.route);
  }

  #flushSoon(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#scheduler.soon(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #laneOf(correlation: number): Lane {
    return this.#lanes[(correlation & 1) === 0 ? 0 : 1];
  }

  get #isShardFree(): boolean {
    return this.#hasAnswered || this.#waiting.size === this.#unsent;
  }

  /** Nobody waits for a request any longer. It does not run unless the shard has taken it. */
  withdraw(correlation: number): void {
    if (this.#laneOf(correlation).queue.remove(correlation)) {
      this.abandoned++;
    } else if (this.#waiting.has(correlation)) {
      this.#withdrawn.push(correlation);
      this.#flushSoon();
    }
  }

  /** Sends an internal request. It is refused when the shard ends, or has too much to do. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    // An export that has begun goes on, because few run at a time, and half a file is useless.
    return this.#ask((correlation) => ({ correlation, request }), request.kind.startsWith('export_'));
  }

  /** Hands over what concerns payment networks. The answer is as that of `ask`. */
  handOver(request: NetworksMessage['request']): Promise<InternalAnswer> {
    return this.#ask((correlation) => ({ correlation, request }), false);
  }

  #ask(messageOf: (correlation: number) => ToShardThread, always: boolean): Promise<InternalAnswer> {
    const mayWait = always || this.#waitingInternal.size < this.#bounds.sentMax;
    if (this.#port === null || !mayWait) return Promise.resolve(away);
    const correlation = this.#nextCorrelation(0);
    this.#port.postMessage(messageOf(correlation));
    return new Promise((resolve) => this.#waitingInternal.set(correlation, resolve));
  }

  #nextCorrelation(side: number): number {
    this.#count = (this.#count + 1) & 0x7fffffff;
    return this.#count * 2 + side;
  }

  #flush(): void {
    if (this.#port === null) return;
    if (!this.#writer.empty) {
      const frames = this.#writer.take();
      this.#unsent = 0;
      this.#unsentWork = 0;
      this.#hasAnswered = false;
      this.#port.postMessage(frames, [frames]);
    }
    if (this.#withdrawn.length > 0) {
      this.#port.postMessage({ withdrawn: this.#withdrawn });
      this.#withdrawn = [];
    }
  }

  #receive(message: FromShard): void {
    if (message instanceof ArrayBuffer) {
      this.#hasAnswered = true;
      readAnswers(message, (answer) => this.#answered(answer));
      this.#spare.give(message);
      const [queries, commands] = this.#lanes;
      if (queries.queue.length + commands.queue.length > 0) this.#sendQueued();
    } else if ('answer' in message) {
      const resolve = this.#waitingInternal.get(message.correlation);
      this.#waitingInternal.delete(message.correlation);
      resolve?.(message.answer);
    } else if ('stalledMs' in message) {
      const { stalledMs } = message;
      this.#stalledSinceMs = stalledMs === null ? null : this.#scheduler.elapsedMs() - stalledMs;
    }
  }

  #answered(answer: AnswerFrame): void {
    const { correlation } = answer;
    const onAnswer = this.#waiting.get(correlation);
    if (onAnswer === undefined) return;
    this.#waiting.delete(correlation);
    const lane = this.#laneOf(correlation);
    lane.sent--;
    assert(lane.sent >= 0, 'what is answered was sent');
    if (lane.largeBytes > 0) {
      lane.largeBytes -= this.#large.get(correlation) ?? 0;
      this.#large.delete(correlation);
    }
    if ((answer.flags & answerFlags.withdrawn) === 0) onAnswer(answer);
    else this.abandoned++;
  }

  /** Answers have made room: the next requests of the queues are sent. */
  #sendQueued(): void {
    for (const lane of this.#lanes) {
      while (lane.isOpen) {
        const next = lane.queue.take();
        if (next === undefined) break;
        this.#put(lane, next.correlation, next.frame, next.onAnswer);
      }
    }
    this.#flush();
  }
}
