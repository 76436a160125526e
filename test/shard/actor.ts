// A shard on a journal in memory, as its peers see it: it gets requests as frames, and answers when
// their commit batch is durable. Time, networks and address look-ups wait for the test, and so does
// the disk after `holdDisk`.

import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { languages } from '../../src/contract/vocabulary.ts';
import { type Scheduler, systemScheduler } from '../../src/core/scheduler.ts';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import type { NetworkCallRecord } from '../../src/domain/record.ts';
import { matchRoute } from '../../src/edge/http/router.ts';
import { type Journal, JournalDamaged, type Log } from '../../src/journal/journal.ts';
import type { Ownership } from '../../src/journal/ownership.ts';
import type { ShardAccount } from '../../src/shard/account.ts';
import type { Peer } from '../../src/shard/commit-batch.ts';
import { answerFlags, RequestWriter, readAnswers, requestFlags } from '../../src/shard/frames.ts';
import { type MemoryShares, memoryShares, shardMibMin } from '../../src/shard/memory.ts';
import type { FromShard, InternalAnswer, InternalRequest } from '../../src/shard/protocol.ts';
import { outcomeCommand } from '../../src/shard/protocol.ts';
import { Shard } from '../../src/shard/shard.ts';
import type { ShardOptions } from '../../src/shard/shard-options.ts';
import { MemoryJournal } from '../journal/memory-journal.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { accountOf, org, shardOptions } from './shard-options.ts';

export { org };

export const startMs = Date.UTC(2026, 10, 2, 12);
export const account = accountOf(1_000_000, { created: startMs / 1000 });

interface Sent {
  readonly body?: unknown;
  readonly key?: string;
  readonly livemode?: boolean;
  readonly language?: 'en' | 'fr' | 'ar';
  readonly wrongContentType?: boolean;
  /** The member who gives it in the dashboard. */
  readonly member?: string;
}

export interface Answer {
  readonly requestId: string;
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
  readonly replayed: boolean;
  readonly originalRequest: string;
  readonly retryAfterSeconds: number;
  /** Null when the answer has no rate-limit headers. */
  readonly remaining: number | null;
}

interface LookUp {
  readonly url: string;
  settle(allowed: boolean): void;
  /** No name server answered. */
  fail(): void;
}

/** A journal whose commit batches become durable when the test says so. */
function heldJournal(
  journal: Journal,
  gate: () => Promise<void>,
  readResponse: () => Log['readResponse'] | null,
  ownership: Pick<Ownership, 'isHeld' | 'confirm'>,
): Journal {
  const { log } = journal;
  return {
    ownership: { epoch: journal.ownership.epoch, ...ownership },
    checkpoint: journal.checkpoint,
    checkpointer: journal.checkpointer,
    replay: () => journal.replay(),
    close: () => journal.close(),
    log: {
      get nextSequence() {
        return log.nextSequence;
      },
      get durableEnd() {
        return log.durableEnd;
      },
      append(batch) {
        const { locations, changes, durable } = log.append(batch);
        return { locations, changes, durable: gate().then(() => durable) };
      },
      readResponse: (location, keyDigest) =>
        (readResponse() ?? log.readResponse.bind(log))(location, keyDigest),
      close: () => log.close(),
    },
  };
}

/** Lets everything happen that can happen without the test's doing. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await setImmediate();
}

interface ActorOptions extends Partial<Omit<ShardOptions, 'memory'>> {
  readonly clock?: ManualClock;
  readonly memory?: Partial<MemoryShares>;
  readonly account?: ShardAccount;
  /** A journal on a disk, in place of the one in memory. */
  readonly onDisk?: Journal;
  /** Other machines hold the log, too. */
  readonly isShared?: boolean;
}

let requests = 0;

export class Actor {
  readonly clock: ManualClock;
  readonly networkCalls: NetworkCallRecord[] = [];
  readonly lookUps: LookUp[] = [];
  readonly failures: unknown[] = [];
  /** Why stored responses could not be read. */
  readonly damages: string[] = [];
  /** Whether the shard still owns its partition. */
  isHeld = true;
  /** Stands in for reading a stored response from the log. */
  readResponse: Log['readResponse'] | null = null;
  /** Steps of the wall clock that were told, and those that wall time followed. */
  readonly jumps: number[] = [];
  readonly followed: number[] = [];
  /** The scheduler's time: how long commits take. */
  elapsedMs = 0;
  /** What was told of stalls of the disk. */
  readonly stalls: (number | null)[] = [];
  onStall: (milliseconds: number | null) => void = () => {};
  /** Requests in each commit batch. */
  readonly batches: number[] = [];
  /** Records in each checkpoint that was written. */
  readonly checkpoints: number[] = [];
  /** How many seconds each commit and each checkpoint took. */
  readonly commitSeconds: number[] = [];
  readonly checkpointSeconds: number[] = [];
  /** Runs what the shard wants to run soon. */
  soon: Scheduler['soon'] = systemScheduler.soon;
  journal = new MemoryJournal(indexRowsOf);
  shard: Shard;
  /** Settles when the first shard has recovered. Messages wait for it. */
  readonly recovered: Promise<void>;
  readonly #onDisk: Journal | null;
  readonly #isShared: boolean;
  #gate: PromiseWithResolvers<void> | null = null;
  readonly #writer = new RequestWriter();
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #waitingInternal = new Map<number, (answer: InternalAnswer) => void>();
  readonly #requestIds = new Map<number, string>();
  #correlation = 0;

  #peer: Peer = { post: (message) => this.#receive(message) };

  /** What the test wants otherwise than it is below. */
  readonly #options: Partial<ShardOptions>;
  readonly #org: string;

  constructor(options: ActorOptions = {}) {
    const { clock = createManualClock(startMs), memory, account: known = account, ...others } = options;
    const { onDisk = null, isShared = false, ...more } = others;
    this.#onDisk = onDisk;
    this.#isShared = isShared;
    this.clock = clock;
    this.#options = { ...more, memory: { ...memoryShares(shardMibMin), ...memory } };
    this.#org = known.id;
    this.shard = this.#start(known);
    this.recovered = this.shard.recover();
  }

  #start(known: ShardAccount): Shard {
    const journal = heldJournal(
      this.#onDisk ?? this.journal,
      () => this.#gate?.promise ?? Promise.resolve(),
      () => this.readResponse,
      { isHeld: () => this.isHeld, ...(this.#isShared && { confirm: async () => {} }) },
    );
    return new Shard(
      shardOptions(journal, {
        clocks: this.clock,
        scheduler: { soon: (action) => this.soon(action), elapsedMs: () => this.elapsedMs },
        clockObserver: {
          jumped: (byMs) => this.jumps.push(byMs),
          followed: (byMs) => this.followed.push(byMs),
        },
        callNetwork: (call) => this.networkCalls.push(call),
        checkAddress: (url) =>
          new Promise((settle, reject) => {
            this.lookUps.push({ url, settle, fail: () => reject(new Error('no answer')) });
          }),
        observer: {
          batchEnded: (requests) => this.batches.push(requests),
          committed: (seconds) => this.commitSeconds.push(seconds),
          checkpointed: (records, seconds) => {
            this.checkpoints.push(records);
            this.checkpointSeconds.push(seconds);
          },
          attempted() {},
          stalled: (milliseconds) => {
            this.stalls.push(milliseconds);
            this.onStall(milliseconds);
          },
        },
        onDamage: (reason) => this.damages.push(reason),
        onFailure: (error) => this.failures.push(error),
        ...this.#options,
      }),
      [known],
    );
  }

  /** Nothing becomes durable until `releaseDisk`. */
  holdDisk(): void {
    this.#gate = Promise.withResolvers();
  }

  async releaseDisk(): Promise<void> {
    this.#gate?.resolve();
    this.#gate = null;
    await settled();
  }

  /** What the disk holds is lost. */
  failDisk(): void {
    this.#gate?.reject(new Error('an input/output error'));
    this.#gate = null;
  }

  /** Ends the shard as a crash would and starts another one on what is left. */
  async restart(known = account): Promise<void> {
    this.journal = this.journal.reopen();
    this.#gate = null;
    this.#waiting.clear();
    this.networkCalls.length = 0;
    this.lookUps.length = 0;
    this.shard = this.#start(known);
    await this.shard.recover();
  }

  /** Sends one request: `POST /v1/payment_intents`. */
  send(request: string, sent: Sent = {}): Promise<Answer> {
    const answer = this.#put(request, sent);
    this.#flush();
    return answer;
  }

  /** Takes back the request that was sent last. */
  withdraw(): void {
    this.shard.receive({ withdrawn: [this.#correlation] }, this.#peer);
  }

  /** The sender of what was sent so far has gone. What is sent next comes from another one. */
  leave(): void {
    this.shard.disconnected(this.#peer);
    this.#peer = { post: (message) => this.#receive(message) };
  }

  /** Sends several requests in one buffer: one commit batch takes them. */
  sendTogether(...together: readonly (readonly [request: string, sent?: Sent])[]): Promise<Answer[]> {
    const answers = together.map(([request, sent]) => this.#put(request, sent ?? {}));
    this.#flush();
    return Promise.all(answers);
  }

  #put(request: string, sent: Sent): Promise<Answer> {
    const [method, address] = request.split(' ') as [string, string];
    const [path, query = ''] = address.split('?') as [string, string?];
    const match = matchRoute(method, path);
    assert.ok(match, `${request} has no route`);
    const { body, key, livemode = false, language = 'en', member } = sent;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const correlation = ++this.#correlation;
    const requestId = `req_${String(++requests).padStart(29, '0')}`;
    this.#requestIds.set(correlation, requestId);
    this.#writer.put(correlation, {
      route: match.route,
      flags:
        (livemode ? requestFlags.livemode : 0) |
        (key === undefined ? 0 : requestFlags.hasIdempotencyKey) |
        (sent.wrongContentType ? requestFlags.wrongContentType : 0) |
        (member === undefined ? 0 : requestFlags.byMember),
      language: languages.indexOf(language),
      version: 255,
      org: this.#org,
      requestId,
      id: match.id,
      query,
      idempotencyKey: key ?? '',
      member: member ?? '',
      body: Buffer.from(text),
    });
    return new Promise((resolve) => this.#waiting.set(correlation, resolve));
  }

  #flush(): void {
    this.shard.receive(this.#writer.take(), this.#peer);
  }

  /** Sends a request that is not on the hot path. */
  ask(request: InternalRequest): Promise<InternalAnswer> {
    const correlation = ++this.#correlation;
    this.shard.receive({ correlation, request }, this.#peer);
    return new Promise((resolve) => this.#waitingInternal.set(correlation, resolve));
  }

  /** Makes a payment that is paid by card. */
  async paidByCard(key: string): Promise<{ readonly intent: string; readonly charge: string }> {
    const body = { amount: 12_000, currency: 'mad' };
    const { id: intent } = (await this.send('POST /v1/payment_intents', { body, key })).json;
    const confirmed = this.send(`POST /v1/payment_intents/${intent}/confirm`, { key: `${key} confirm` });
    await settled();
    await this.settle({ result: 'done' });
    const charge = (await confirmed).json.latest_charge;
    await this.send(`POST /v1/test_helpers/charges/${charge}/complete`);
    return { intent, charge };
  }

  /** Reports the outcome of a network call, the last one unless another is given. */
  async settle(outcome: NetworkOutcome, call = this.networkCalls.at(-1)!.id): Promise<InternalAnswer> {
    const answer = this.shard.ask(outcomeCommand(call, outcome));
    await settled();
    return answer;
  }

  #receive(message: FromShard): void {
    if (!(message instanceof ArrayBuffer)) {
      if ('answer' in message) this.#waitingInternal.get(message.correlation)?.(message.answer);
      return;
    }
    readAnswers(message, ({ correlation, status, flags, body, ...frame }) => {
      const text = body.toString('utf8');
      this.#waiting.get(correlation)?.({
        requestId: this.#requestIds.get(correlation)!,
        status,
        text,
        json: text === '' ? null : JSON.parse(text),
        replayed: (flags & answerFlags.replayed) !== 0,
        originalRequest: frame.originalRequest,
        retryAfterSeconds: frame.retryAfterSeconds,
        remaining: frame.remaining,
      });
      this.#waiting.delete(correlation);
    });
  }
}

/** Of a journal whose checkpoint has a damaged record. Returns what makes the record sound again. */
export function damage({ checkpoint }: Pick<Journal, 'checkpoint'>, damaged: string): () => void {
  const get = checkpoint.get.bind(checkpoint);
  const damagedGet: typeof get = (id) => {
    if (id === damaged) throw new JournalDamaged(`the record ${id} is not as it was written`);
    return get(id);
  };
  Object.assign(checkpoint, { get: damagedGet });
  return () => void Object.assign(checkpoint, { get });
}

/** Whether a promise is still open once everything that can happen has happened. */
export async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  await settled();
  return (await Promise.race([promise, setImmediate(open)])) === open;
}
