// The client of a shard in an edge or in the main thread. It packs the requests of a tick into one
// buffer, and refuses all that have no answer when the shard ends. It also bounds the shard's
// mailbox: the shard is sent as many as keep it busy, and the others wait here in fair queues, or
// are refused at once beyond their bounds. Commands and queries have a window and a queue each, so
// that reads go on while a disk keeps writes waiting. So have internal requests.

import { routeTable } from '../contract/routes/table.ts';
import { elementAt } from '../core/assert.ts';
import { slotOfId } from '../core/ids.ts';
import { type Scheduler, systemScheduler } from '../core/scheduler.ts';
import { slotOf } from '../core/slot.ts';
import { ExpectedAnswers } from './expected-answers.ts';
import type { NoRoom } from './fair-queue.ts';
import {
  type AnswerFrame,
  answerFlags,
  type RequestFrame,
  RequestWriter,
  readAnswers,
  SpareBuffers,
} from './frames.ts';
import { type ClientBounds, Lane, requestBytes, unbounded } from './lane.ts';
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

/** An internal request, or what concerns payment networks. */
interface Asked {
  readonly correlation: number;
  readonly request: InternalRequest | NetworksMessage['request'];
  readonly resolve: (answer: InternalAnswer) => void;
}

const away: InternalAnswer = {
  ok: false,
  code: 'api_error',
  message: 'The shard is recovering, or has too much to do: try again.',
};

/** So much work is sent at once to a free shard. Less is not worth waking the other thread. */
export const workForFreeShard = 64;
/** The work of a request by its route. A query is about a quarter of a command. */
const workOf = routeTable.map(({ kind }) => (kind === 'command' ? 4 : 1));
/** By route: 0 for queries, 1 for commands. It is the lowest bit of the correlation. */
const laneOf = routeTable.map(({ kind }) => (kind === 'command' ? 1 : 0));

export class ShardClient {
  #port: Port | null = null;
  readonly #spare = new SpareBuffers();
  readonly #writer = new RequestWriter(this.#spare);
  /** Those that were sent. */
  readonly #waiting = new Map<number, OnAnswer>();
  readonly #waitingInternal = new Map<number, Asked>();
  readonly #lanes: readonly [queries: Lane<Waiting>, commands: Lane<Waiting>];
  readonly #internal: Lane<Asked>;
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
  readonly #expected = new ExpectedAnswers();
  /** Requests that were refused for want of room, by reason, since the start. */
  readonly refused: Record<NoRoom, number> = { full: 0, organization: 0, largest: 0 };
  /** Requests that were withdrawn before they ran, since the start. */
  abandoned = 0;

  constructor(bounds = unbounded, scheduler: Scheduler = systemScheduler) {
    const evicted = ({ onAnswer }: Waiting) => {
      this.refused.largest++;
      onAnswer('overloaded');
    };
    this.#lanes = [new Lane(bounds, evicted, this.#expected), new Lane(bounds, evicted)];
    this.#internal = new Lane(bounds, ({ resolve }) => {
      this.refused.largest++;
      resolve(away);
    });
    this.#scheduler = scheduler;
  }

  /** What waits or was sent beyond new bounds stays. */
  set bounds(bounds: ClientBounds) {
    for (const lane of this.#allLanes) lane.bounds = bounds;
  }

  /** False while the shard is being restarted. Then nothing can be sent. */
  get connected(): boolean {
    return this.#port !== null;
  }

  /** For how long the shard's disk has kept a commit waiting, in milliseconds, or 0. */
  get stalledMs(): number {
    return this.#stalledSinceMs === null ? 0 : this.#scheduler.elapsedMs() - this.#stalledSinceMs;
  }

  get #allLanes(): readonly (Lane<Waiting> | Lane<Asked>)[] {
    return [...this.#lanes, this.#internal];
  }

  get waitingCount(): number {
    return this.#allLanes.reduce((sum, { waitingCount }) => sum + waitingCount, 0);
  }

  get waitingBytes(): number {
    return this.#allLanes.reduce((sum, { waitingBytes }) => sum + waitingBytes, 0);
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
    for (const lane of this.#allLanes) lane.forget();
    for (const onAnswer of this.#waiting.values()) onAnswer('away');
    this.#waiting.clear();
    for (const { queue } of this.#lanes) queue.clear(({ onAnswer }) => onAnswer('away'));
    for (const { resolve } of this.#waitingInternal.values()) resolve(away);
    this.#waitingInternal.clear();
    this.#internal.queue.clear(({ resolve }) => resolve(away));
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
    if (!lane.isFreeFor(frame.org)) {
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
    if (lane.isFreeFor(org)) return null;
    const reason = lane.queue.noRoomFor(org, requestBytes + bodyBytes);
    if (reason === null) return null;
    this.refused[reason]++;
    return 'overloaded';
  }

  #enqueue({ queue }: Lane<Waiting>, waiting: Waiting): void {
    const { correlation, frame, onAnswer } = waiting;
    const reason = queue.put(correlation, frame.org, requestBytes + frame.body.length, waiting);
    if (reason === null) return;
    this.refused[reason]++;
    onAnswer('overloaded');
  }

  #put(lane: Lane<Waiting>, correlation: number, frame: Frame, onAnswer: OnAnswer): void {
    lane.sending(correlation, frame.org, frame.body.length);
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

  #laneOf(correlation: number): Lane<Waiting> {
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

  /** Sends an internal request, or queues it. It is refused like one of the API. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    // An export that has begun goes on, because few run at a time, and half a file is useless.
    return this.#ask(request, request.kind.startsWith('export_'));
  }

  /** Hands over what concerns payment networks. The answer is as that of `ask`. */
  handOver(request: NetworksMessage['request']): Promise<InternalAnswer> {
    return this.#ask(request, false);
  }

  #ask(request: Asked['request'], always: boolean): Promise<InternalAnswer> {
    if (this.#port === null) return Promise.resolve(away);
    return new Promise((resolve) => {
      const asked = { correlation: this.#nextCorrelation(0), request, resolve };
      if (always || this.#internal.isFreeFor(ownerOf(request))) this.#post(asked);
      else this.#keep(asked);
    });
  }

  #keep(asked: Asked): void {
    const { correlation, request, resolve } = asked;
    const bytes = requestBytes + bodyBytesOf(request);
    const reason = this.#internal.queue.put(correlation, ownerOf(request), bytes, asked);
    if (reason === null) return;
    this.refused[reason]++;
    resolve(away);
  }

  #post(asked: Asked): void {
    const { correlation, request } = asked;
    this.#internal.sending(correlation, ownerOf(request), bodyBytesOf(request));
    this.#waitingInternal.set(correlation, asked);
    this.#port?.postMessage({ correlation, request } as ToShardThread);
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
      this.#told(message.correlation, message.answer);
    } else if ('stalledMs' in message) {
      const { stalledMs } = message;
      this.#stalledSinceMs = stalledMs === null ? null : this.#scheduler.elapsedMs() - stalledMs;
      this.#expected.isStalled = stalledMs !== null;
      this.#sendQueued();
    }
  }

  #answered(answer: AnswerFrame): void {
    const { correlation } = answer;
    const onAnswer = this.#waiting.get(correlation);
    if (onAnswer === undefined) return;
    this.#waiting.delete(correlation);
    this.#laneOf(correlation).answered(correlation, answer.status === 200 ? answer.body.length : null);
    if ((answer.flags & answerFlags.withdrawn) === 0) onAnswer(answer);
    else this.abandoned++;
  }

  #told(correlation: number, answer: InternalAnswer): void {
    const asked = this.#waitingInternal.get(correlation);
    if (asked === undefined) return;
    this.#waitingInternal.delete(correlation);
    this.#internal.answered(correlation, null);
    for (let next = this.#internal.take(); next !== undefined; next = this.#internal.take()) this.#post(next);
    asked.resolve(answer);
  }

  /** Answers have made room: the next requests of the queues are sent. */
  #sendQueued(): void {
    for (const lane of this.#lanes)
      for (let next = lane.take(); next !== undefined; next = lane.take())
        this.#put(lane, next.correlation, next.frame, next.onAnswer);
    this.#flush();
  }
}

function bodyBytesOf(request: Asked['request']): number {
  return 'body' in request ? request.body.length : 0;
}

/** Whose an internal request is: those of a slot share a turn, because an id names no more. */
function ownerOf(request: Asked['request']): string {
  const org = 'org' in request ? request.org : 'scope' in request ? request.scope?.org : undefined;
  if (typeof org === 'string') return String(slotOf(org));
  return 'id' in request ? String(slotOfId(request.id)) : '';
}
