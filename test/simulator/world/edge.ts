// An edge: it takes the requests of clients, knows the keys, and has a client for every shard, put together as
// src/threads/edge-thread.ts does it.

import { languages } from '../../../src/contract/vocabulary.ts';
import { KeyRing, type KeyRingChange } from '../../../src/edge/api/authenticate.ts';
import { matchRoute } from '../../../src/edge/http/router.ts';
import type { OwnershipBoard } from '../../../src/journal/ownership.ts';
import { type OnAnswer, ShardClient } from '../../../src/shard/client.ts';
import { answerFlags, noVersion, requestFlags } from '../../../src/shard/frames.ts';
import { clientBounds } from '../../../src/shard/memory.ts';
import type {
  FromShard,
  InternalAnswer,
  InternalRequest,
  NetworksMessage,
  ToShard,
} from '../../../src/shard/protocol.ts';
import { shardOfOrganization } from '../../../src/shard/shard-map.ts';
import type { Machine } from '../disk/machine.ts';
import type { Lane } from '../kernel/simulation.ts';
import { Admission } from './admission.ts';
import { channel, type End, type Path } from './channel.ts';
import type { ShardThread } from './shard-thread.ts';
import type { World } from './world.ts';

const roomyBounds = clientBounds({ requestsMax: 1_024, mibMax: 1, organizationPercent: 100 }, 1);

export interface Request {
  readonly apiKey: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query: string;
  readonly key: string | null;
  readonly body: string;
  /** The member who asks in the dashboard; none for a merchant's server. */
  readonly member?: string;
  /** The body is said to be something else than JSON. */
  readonly isForm?: boolean;
  /** The body is in Latin-1, which is no JSON. */
  readonly isLatin1?: boolean;
}

/** A request that reads. */
export function reading(apiKey: string, path: string, query = ''): Request {
  return { apiKey, method: 'GET', path, query, key: null, body: '' };
}

export interface Answer {
  readonly requestId: string;
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  readonly originalRequest: string;
  readonly retryAfterSeconds: number;
}

/** A request on its way, for a client that may go before it is answered. */
export interface Call {
  withdraw: () => void;
}

let requests = 0;

/** Request ids begin anew with each run. */
export function resetRequestIds(): void {
  requests = 0;
}

export interface EdgeOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly shards: number;
  readonly keys: readonly KeyRingChange[];
  readonly board: OwnershipBoard;
  /** That of the link that it came by; 0: it is an edge of the node with the lease. */
  readonly term: number;
}

/** The ways into an edge. */
export type Entry = Pick<Edge, 'request' | 'giveUp' | 'ask' | 'handOver'>;

export class Edge {
  readonly lane: Lane;
  readonly #options: EdgeOptions;
  readonly #keys = new KeyRing();
  readonly #clients: readonly ShardClient[];
  readonly #admissions: readonly Admission[];
  /** The connections to the shards. */
  readonly #ports = new Map<number, End<ToShard, FromShard>>();

  constructor(options: EdgeOptions) {
    const { world, machine, shards, keys } = options;
    const { simulation, settings } = world;
    this.#options = options;
    this.lane = machine.lane('edge');
    const soon = (run: () => void) => simulation.soon(this.lane, run);
    const scheduler = { soon, elapsedMs: () => simulation.nowMs };
    const bounds = settings.bounds ?? roomyBounds;
    const numbers = Array.from({ length: shards }, (_, number) => number);
    this.#clients = numbers.map(() => new ShardClient(bounds, scheduler));
    this.#admissions = numbers.map(() => new Admission(world, this.lane, bounds));
    for (const change of keys) this.putKeys(change);
  }

  putKeys(change: KeyRingChange): void {
    this.#keys.put(change);
  }

  connect(number: number, thread: ShardThread, path: Path): void {
    const { simulation } = this.#options.world;
    const [near, far] = channel<ToShard, FromShard>(simulation, this.lane, thread.lane, path);
    const isFar = path.there.length > 0;
    const admission = this.#admissions[number]!;
    thread.connect(far, admission);
    simulation.soon(this.lane, () => {
      this.#ports.set(number, near);
      this.#clients[number]!.connect(admission.watched(near, thread.undurable, isFar ? thread.lane : null));
    });
  }

  isConnected(number: number): boolean {
    return this.#clients[number]!.connected;
  }

  /** The shard has ended: all that waits for it is refused. */
  disconnect(number: number): void {
    const { simulation, judge } = this.#options.world;
    simulation.soon(this.lane, () => {
      this.#ports.get(number)?.ended();
      const { waitingCount, waitingBytes } = this.#clients[number]!;
      judge.check(
        'what waits is bounded',
        waitingCount + waitingBytes === 0,
        () => `${waitingCount} requests with ${waitingBytes} bytes wait for shard ${number}, which has ended`,
      );
    });
  }

  /** Nothing is asked of any shard any more. */
  end(): void {
    for (const client of this.#clients) client.disconnect();
  }

  #shardOf(org: string): number {
    return shardOfOrganization(org, this.#options.shards);
  }

  /** Takes a request. `done` gets null when there is no answer but that one should try again. */
  request(request: Request, done: (answer: Answer | null) => void): Call {
    const call: Call = { withdraw() {} };
    this.#options.world.simulation.soon(this.lane, () => this.#take(request, done, call));
    return call;
  }

  /** The client of a request has gone. */
  giveUp(call: Call): void {
    this.#options.world.simulation.soon(this.lane, () => call.withdraw());
  }

  #take(
    { apiKey, method, path, query, key, body, member = '', isForm = false, isLatin1 = false }: Request,
    done: (answer: Answer | null) => void,
    call: Call,
  ): void {
    const { machine, board, term } = this.#options;
    if (!board.isTrustedIn(term)) {
      done(null);
      return;
    }
    const known = this.#keys.authenticate(`Bearer ${apiKey}`, machine.clocks.wall);
    const requestId = `req_${String(++requests).padStart(25, '0')}`;
    const none = { replayed: false, originalRequest: '', retryAfterSeconds: 0 };
    if ('refusal' in known) {
      const text = JSON.stringify({ error: { code: known.refusal.code } });
      done({ requestId, status: 401, text, ...none });
      return;
    }
    const match = matchRoute(method, path)!;
    const flags =
      (known.livemode ? requestFlags.livemode : 0) |
      (key === null ? 0 : requestFlags.hasIdempotencyKey) |
      (member === '' ? 0 : requestFlags.byMember) |
      (isForm ? requestFlags.wrongContentType : 0);
    const frame = {
      route: match.route,
      flags,
      // Mostly English.
      language: requests % 5 < 3 ? languages.indexOf('en') : (requests % 5) - 2,
      version: noVersion,
      org: known.org,
      requestId,
      id: match.id,
      query,
      idempotencyKey: key ?? '',
      member,
      body: Buffer.from(body, isLatin1 ? 'latin1' : 'utf8'),
    };
    const number = this.#shardOf(known.org);
    const client = this.#clients[number]!;
    const admission = this.#admissions[number]!;
    const onAnswer: OnAnswer = (answer) => {
      if (answer === 'overloaded') admission.refused(requestId);
      admission.settled(requestId);
      if (typeof answer === 'string') {
        done(null);
        return;
      }
      const { status, originalRequest, retryAfterSeconds } = answer;
      const replayed = (answer.flags & answerFlags.replayed) !== 0;
      done({
        requestId,
        status,
        text: answer.body.toString('utf8'),
        replayed,
        originalRequest,
        retryAfterSeconds,
      });
    };
    if (admission.turnsAway(requestId, frame, client)) {
      done(null);
      return;
    }
    let correlation = 0;
    admission.given(requestId, frame, client, () => {
      correlation = client.send(frame, onAnswer);
    });
    call.withdraw = () => admission.withdraw(client, correlation, requestId);
  }

  /** Asks a shard as a page or an operator does. */
  ask(org: string, request: InternalRequest, done: (answer: InternalAnswer) => void): void {
    const { world } = this.#options;
    world.simulation.soon(this.lane, () => {
      void this.#clients[this.#shardOf(org)]!.ask(request).then((answer) => {
        const isWhole = !answer.ok || typeof answer.body === 'string';
        world.judge.check(
          'an answer says what became of its request',
          isWhole,
          () => `${request.kind} is answered ${JSON.stringify(answer)}`,
        );
        done(answer);
      });
    });
  }

  /** Takes what a network posts for an organization, and what operators ask about its calls. */
  handOver(org: string, request: NetworksMessage['request'], done: (answer: InternalAnswer) => void): void {
    this.#options.world.simulation.soon(this.lane, () => {
      void this.#clients[this.#shardOf(org)]!.handOver(request).then(done);
    });
  }

  /** The requests, and their bytes, of which it believes that they wait for a shard. */
  get waiting(): number {
    return this.#clients.reduce(
      (sum, { waitingCount, waitingBytes }) => sum + waitingCount + waitingBytes,
      0,
    );
  }
}
