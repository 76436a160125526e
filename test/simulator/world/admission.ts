// The admission of one shard, watched from outside: what the edge's client is given, what goes through the channel and comes
// back, and what the shard appends because of it. So it is seen whether what waits is bounded, whether the organizations take
// turns, and whether a request runs whose client has gone.

import { isDeepStrictEqual } from 'node:util';
import { routeTable } from '../../../src/contract/routes/table.ts';
import type { LogBatch } from '../../../src/journal/journal.ts';
import type { Port, ShardClient } from '../../../src/shard/client.ts';
import { type NoRoom, turnBytes } from '../../../src/shard/fair-queue.ts';
import { type AnswerFrame, type RequestFrame, readAnswers, requestFlags } from '../../../src/shard/frames.ts';
import type { ClientBounds } from '../../../src/shard/lane.ts';
import type { FromShard, ToShard } from '../../../src/shard/protocol.ts';
import { readRequests } from '../../shard/read-requests.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { End } from './channel.ts';
import { FairShare } from './fair-share.ts';
import { LongAnswers } from './long-answers.ts';
import { PromptReads, type Undurable } from './prompt-reads.ts';
import type { World } from './world.ts';

const smallBytes = 1_024;
/** What an organization may have sent in a turn: the quantum of the queue in small requests, and what was left of the turn before. */
const turnRequestsMax = turnBytes / smallBytes + 1;

type Given = Pick<RequestFrame, 'org' | 'route' | 'flags' | 'id' | 'body'>;

/** A request that its client has and has not sent to the shard. */
interface Waiting {
  readonly org: string;
  readonly lane: number;
  readonly bytes: number;
  /** Requests of others that were sent while it was the next of its organization. */
  passed: number;
}

const laneOf = routeTable.map(({ kind }) => (kind === 'command' ? 1 : 0));

export class Admission {
  readonly #world: World;
  readonly #bounds: ClientBounds;
  readonly #edge: Lane;
  readonly #waiting = new Map<string, Waiting>();
  /** Withdrawn while they waited. */
  readonly #gone = new Set<string>();
  /** The ids of the requests that were sent, by correlation. */
  readonly #sent = new Map<number, string>();
  readonly #inFlight = [0, 0];
  /** By the id of a request that was withdrawn in the mailbox: how many batches the shard had appended by then. */
  readonly #withdrawnAt = new Map<string, number>();
  #appended = 0;
  /** Of the bodies that it was given. */
  #largestBytes = 0;
  #reads: PromptReads | null = null;
  /** Another node runs the shard: what is long on its way to it and back is not the shard's fault. */
  #isFar = false;
  /** Since when a commit has waited for the disk, as far as the edge was told; null: none does. */
  #stalledSinceMs: number | null = null;
  readonly #long = new LongAnswers();
  /** Of reads and of writes. */
  readonly #fair: readonly FairShare[];
  /** Those that are refused while the client gets a request. */
  #refused: string[] = [];

  constructor(world: World, edge: Lane, bounds: ClientBounds) {
    this.#world = world;
    this.#edge = edge;
    this.#bounds = bounds;
    this.#fair = [this.#long, null].map((long) => new FairShare(world, bounds, long));
  }

  /**
   * The client's end of a channel to a shard that has just started, which knows what is not durable yet. `far`: the shard's lane
   * where another node runs it.
   */
  watched(near: End<ToShard, FromShard>, undurable: Undurable, far: Lane | null): Port {
    const reads = new PromptReads(this.#world, far ?? this.#edge, undurable);
    this.#reads = reads;
    this.#isFar = far !== null;
    this.#stalledSinceMs = null;
    this.#waiting.clear();
    this.#withdrawnAt.clear();
    this.#inFlight.fill(0);
    for (const fair of this.#fair) fair.clear();
    near.on('message', (message) => {
      if (message instanceof ArrayBuffer) {
        readAnswers(message, (answer) => this.#isAnswered(answer));
        return;
      }
      if ('stalledMs' in message) this.#hearsOfStall(message.stalledMs);
      if (far === null) reads.hears(message);
    });
    const on: Port['on'] = (event: string, listener: (message: FromShard) => void) =>
      event === 'message'
        ? near.on('message', listener)
        : near.on('close', listener as unknown as () => void);
    const postMessage = (message: ToShard) => {
      if (message instanceof ArrayBuffer) this.#isSent(message.slice(0));
      near.postMessage(message);
    };
    const close = () => {
      reads.close();
      near.close();
    };
    return { postMessage, on, close };
  }

  /** Whether there is no room for a request, so that its body is not even read. */
  turnsAway(requestId: string, { org, route, body }: Given, client: ShardClient): boolean {
    if (body.length === 0) return false;
    const lane = laneOf[route]!;
    const refused = { ...client.refused };
    const noAnswer = client.refusal(route, org, body.length);
    if (!client.connected) return noAnswer !== null;
    const reason = this.#fair[lane]!.turnedAway(requestId, org, body.length, noAnswer !== null);
    this.#judgeRefused(client, refused, reason === null ? [] : [reason]);
    return noAnswer !== null;
  }

  /** Its client counts what it refuses, and why. */
  #judgeRefused(client: ShardClient, before: ShardClient['refused'], reasons: readonly NoRoom[]): void {
    const wanted = { ...before };
    for (const reason of reasons) wanted[reason]++;
    this.#world.judge.check(
      'who is refused uses most',
      isDeepStrictEqual({ ...client.refused }, wanted),
      () => `${JSON.stringify(client.refused)} are counted as refused, and not ${JSON.stringify(wanted)}`,
    );
  }

  #hearsOfStall(stalledMs: number | null): void {
    this.#long.isStalled = stalledMs !== null;
    this.#stalledSinceMs = stalledMs === null ? null : this.#world.simulation.nowMs - stalledMs;
  }

  /** The client gets a request by `send`, and sends it, keeps it or refuses it. */
  given(
    requestId: string,
    { org, route, flags, id, body }: Given,
    client: ShardClient,
    send: () => void,
  ): void {
    const lane = laneOf[route]!;
    if (!this.#isFar && this.#hasRoomForRead(org)) this.#asked(requestId, { org, route, flags, id });
    this.#largestBytes = Math.max(this.#largestBytes, body.length);
    this.#waiting.set(requestId, { org, lane, bytes: smallBytes + body.length, passed: 0 });
    if (!client.connected) {
      send();
      return;
    }
    this.#judgeStalled(client);
    const refused = { ...client.refused };
    const reasons = this.#fair[lane]!.given(requestId, org, body.length, () => {
      this.#refused = [];
      send();
      return this.#refused;
    });
    this.#judgeRefused(client, refused, reasons);
    this.#judgeWaiting();
  }

  /** A read is about to be sent to the shard, or has arrived there. */
  #asked(requestId: string, { org, route, flags, id }: Omit<Given, 'body'>): void {
    const livemode = (flags & requestFlags.livemode) !== 0;
    if (laneOf[route] === 0) this.#reads?.asked(requestId, { org, livemode, id });
  }

  /** A request is refused, because too many wait. */
  refused(requestId: string): void {
    this.#refused.push(requestId);
  }

  /** Fewer reads wait and are on their way than may be sent, of all and of the organization. */
  #hasRoomForRead(org: string): boolean {
    let reads = this.#inFlight[0]!;
    for (const { lane } of this.#waiting.values()) if (lane === 0) reads++;
    return reads < this.#bounds.sentMax && this.#long.mayAsk(org);
  }

  /** Whoever asks whether the service is ready is told by the client for how long the disk has kept a commit waiting. */
  #judgeStalled({ stalledMs }: ShardClient): void {
    const { simulation, judge } = this.#world;
    const wanted = this.#stalledSinceMs === null ? 0 : simulation.nowMs - this.#stalledSinceMs;
    judge.check(
      'the edge knows that the disk stalls',
      stalledMs === wanted,
      () => `a commit is said to have waited for ${stalledMs} ms, and it has for ${wanted} ms`,
    );
  }

  #judgeWaiting(): void {
    const { sentMax, sentBytesMax, queue } = this.#bounds;
    for (const lane of [0, 1]) {
      const waiting = [...this.#waiting.values()].filter((each) => each.lane === lane);
      const bytes = waiting.reduce((sum, each) => sum + each.bytes, 0);
      this.#world.judge.check(
        'what waits is bounded',
        waiting.length <= queue.requests + sentMax &&
          bytes <= queue.bytes + sentMax * smallBytes + sentBytesMax + this.#largestBytes,
        () => `${waiting.length} requests with ${bytes} bytes wait at the edge`,
      );
    }
  }

  /** It is answered or refused. */
  settled(id: string): void {
    this.#goes(id);
    for (const fair of this.#fair) fair.answered(id);
  }

  #goes(id: string): void {
    this.#waiting.delete(id);
    this.#reads?.settled(id);
  }

  /** The client of a request goes. */
  withdraw(client: ShardClient, correlation: number, id: string): void {
    const { abandoned } = client;
    client.withdraw(correlation);
    if (client.abandoned > abandoned) this.#gone.add(id);
    this.#goes(id);
    for (const fair of this.#fair) fair.withdrawn(id);
  }

  #isAnswered(answer: AnswerFrame): void {
    const { correlation, status, body } = answer;
    this.#inFlight[correlation & 1]!--;
    const requestId = this.#sent.get(correlation);
    if (requestId === undefined) return;
    this.#long.answered(requestId, status === 200 ? body.length : null);
    this.#fair[correlation & 1]!.answered(requestId);
    this.#world.answers.arrived(requestId, answer);
  }

  #isSent(batch: ArrayBuffer): void {
    readRequests(batch, ({ correlation, requestId, org }) => {
      const lane = correlation & 1;
      this.#sent.set(correlation, requestId);
      this.#inFlight[lane]!++;
      this.#world.judge.check(
        'nothing abandoned runs',
        !this.#gone.has(requestId),
        () => `${requestId} was withdrawn while it waited, and is sent`,
      );
      this.#waiting.delete(requestId);
      this.#fair[lane]!.left(requestId);
      this.#passes(org, lane);
    });
    for (const inFlight of this.#inFlight)
      this.#world.judge.check(
        'what waits is bounded',
        inFlight <= Math.max(1, this.#bounds.sentMax),
        () => `${inFlight} requests are on their way to a shard`,
      );
  }

  /** A request of an organization is sent before the next one of each other. */
  #passes(org: string, lane: number): void {
    const { organizations } = this.#world.settings;
    const seen = new Set([org]);
    for (const [id, waiting] of this.#waiting) {
      if (waiting.lane !== lane || seen.has(waiting.org)) continue;
      seen.add(waiting.org);
      // It has its turn when what it has under way is answered.
      if (lane === 0 && !this.#long.mayAsk(waiting.org)) continue;
      waiting.passed++;
      // Each other one may be in the middle of a turn, and a large request waits for several of its own.
      const turns = 1 + Math.ceil(waiting.bytes / turnBytes);
      const max = this.#bounds.sentMax + turns * turnRequestsMax * (organizations - 1);
      this.#world.judge.check(
        'nobody is starved',
        waiting.passed <= max,
        () => `${waiting.passed} requests of others were sent before ${id} of ${waiting.org}`,
      );
    }
  }

  /** A message has reached the shard. `onRequest` hears of each request in it. */
  arrived(message: ToShard, onRequest: (requestId: string) => void): void {
    if (message instanceof ArrayBuffer)
      readRequests(message.slice(0), (request) => {
        onRequest(request.requestId);
        if (this.#isFar) this.#asked(request.requestId, request);
      });
    if (message instanceof ArrayBuffer || !('withdrawn' in message)) return;
    for (const correlation of message.withdrawn) {
      const id = this.#sent.get(correlation);
      if (id !== undefined) this.#withdrawnAt.set(id, this.#appended);
    }
  }

  /** A message leaves the shard. `onAnswer` hears of each request that it answers. */
  leaves(message: FromShard, onAnswer: (requestId: string) => void): void {
    if (!(message instanceof ArrayBuffer)) {
      if (this.#isFar) this.#reads?.hears(message);
      return;
    }
    readAnswers(message, ({ correlation }) => {
      const requestId = this.#sent.get(correlation);
      if (requestId === undefined) return;
      if (this.#isFar) this.#reads?.settled(requestId);
      onAnswer(requestId);
    });
  }

  /** The shard appends a turn. What was taken before its client had gone is in the next one at the latest. */
  appended({ entries }: LogBatch): void {
    this.#appended++;
    for (const { cause, changes, idempotency } of entries) {
      // An endpoint waits until its address is looked up.
      if (changes.some(({ kind }) => kind === 'webhook_endpoint')) continue;
      const id = cause?.by === 'request' ? (cause.name ?? idempotency?.requestId) : undefined;
      const withdrawnAt = id === undefined ? undefined : this.#withdrawnAt.get(id);
      if (withdrawnAt === undefined) continue;
      this.#world.judge.check(
        'nothing abandoned runs',
        this.#appended <= withdrawnAt + 1,
        () => `${id} has run after it was withdrawn`,
      );
    }
  }
}
