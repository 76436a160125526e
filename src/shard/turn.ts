// A turn: the commands and queries that a shard executes while the turn before is being written. Their changes go into one
// log batch, and all their answers, those of queries included, wait until it is on disk.

import type { Now } from '../core/clock.ts';
import type { Cause } from '../domain/cause.ts';
import type { Change, NetworkCallRecord } from '../domain/record.ts';
import type { Entry, StoredResponse } from '../journal/journal.ts';
import { AnswerWriter, type SpareBuffers } from './frames.ts';
import type { FromShard, InternalAnswer, OutboxBatch } from './protocol.ts';

/** A sender of requests to a shard: an edge, the webhook thread, or the main thread. */
export interface Peer {
  post(message: FromShard, transfer: readonly ArrayBuffer[]): void;
}

/** The destination of one answer. */
export interface ReplyTo {
  readonly peer: Peer;
  readonly correlation: number;
}

export interface StoredInTurn {
  readonly fingerprint: Uint8Array;
  readonly answer: StoredResponse;
}

export class Turn implements Now {
  nowMs: number;
  serviceMs: number;
  readonly entries: Entry[] = [];
  /** The responses that are stored in this turn, by key digest. They are not in the log yet. */
  readonly stored = new Map<string, StoredInTurn>();
  /** Calls to payment networks to make once the turn is durable. */
  readonly networkCalls: NetworkCallRecord[] = [];
  /** The attempts that this turn records, to be acknowledged. */
  readonly recorded: OutboxBatch['recorded'][number][] = [];
  /** The messages in the turn. */
  taken = 0;
  /** Bytes of the requests in the turn. */
  bytesTaken = 0;
  /** Some of what was due is done in this turn. */
  hasUpkeep = false;
  readonly #frames = new Map<Peer, AnswerWriter>();
  #messageBytes = 0;
  readonly #messages: { readonly peer: Peer; readonly message: FromShard }[] = [];

  readonly #spare: SpareBuffers | undefined;

  /** `spare` has buffers for the answers. */
  constructor({ nowMs, serviceMs }: Now, spare?: SpareBuffers) {
    this.nowMs = nowMs;
    this.serviceMs = serviceMs;
    this.#spare = spare;
  }

  /** What arrives from now on is executed at this time, and the turn is written with it. */
  continueAt({ nowMs, serviceMs }: Now): void {
    this.nowMs = nowMs;
    this.serviceMs = serviceMs;
  }

  /** An estimate of the bytes of its requests and answers, which it holds until it is durable. */
  get bytes(): number {
    let bytes = this.bytesTaken + this.#messageBytes;
    for (const writer of this.#frames.values()) bytes += writer.bytes;
    return bytes;
  }

  /** The writer of the answers to a peer. */
  answersTo(peer: Peer): AnswerWriter {
    let writer = this.#frames.get(peer);
    if (writer === undefined) {
      writer = new AnswerWriter(this.#spare);
      this.#frames.set(peer, writer);
    }
    return writer;
  }

  /** Answers a message that is not on the hot path. */
  reply(to: ReplyTo, answer: InternalAnswer): void {
    if (answer.ok) this.#messageBytes += answer.body.length;
    this.post(to.peer, { correlation: to.correlation, answer });
  }

  /** Sends a message to a peer once the turn is durable. */
  post(peer: Peer, message: FromShard): void {
    this.#messages.push({ peer, message });
  }

  /** Records the changes of one command, the response that is stored for its idempotency key, and who gave it. */
  record(changes: readonly Change[], idempotency: Entry['idempotency'], cause: Cause): void {
    if (idempotency !== null)
      this.stored.set(keyOf(idempotency.keyDigest), {
        fingerprint: idempotency.fingerprint,
        answer: idempotency,
      });
    if (changes.length > 0 || idempotency !== null) this.entries.push({ changes, idempotency, cause });
  }

  /** Sends all answers. Called once, when everything that they show is on disk. */
  release(): void {
    for (const [peer, writer] of this.#frames) {
      const batch = writer.take();
      peer.post(batch, [batch]);
    }
    for (const { peer, message } of this.#messages) peer.post(message, []);
  }
}

/** A digest as the key of a map. */
export function keyOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('latin1');
}
