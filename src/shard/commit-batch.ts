// A commit batch: the commands and queries that a shard executes while the batch before is being
// written. Their changes are appended to the log in one piece, and all their answers, those of
// queries included, are sent once that is on disk.

import { assert } from '../core/assert.ts';
import type { Now } from '../core/clock.ts';
import type { Cause } from '../domain/cause.ts';
import type { Change, NetworkCallRecord } from '../domain/record.ts';
import type { View } from '../domain/view.ts';
import type { Entry, StoredResponse } from '../journal/journal.ts';
import { type Ownership, requireHeld } from '../journal/ownership.ts';
import { AnswerWriter, type SpareBuffers } from './frames.ts';
import type { FromShard, InternalAnswer, OutboxBatch } from './protocol.ts';

/** A sender of requests to a shard: an edge, a webhook thread, or the main thread. */
export interface Peer {
  post(message: FromShard, transfer: readonly ArrayBuffer[]): void;
}

export interface ReplyTo {
  readonly peer: Peer;
  readonly correlation: number;
}

type Recorded = OutboxBatch['recorded'][number];

export class CommitBatch implements Now {
  nowMs: number;
  serviceMs: number;
  readonly view: View;
  readonly entries: Entry[] = [];
  /** The responses that this batch stores, by key digest. They are not in the log yet. */
  readonly stored = new Map<
    string,
    { readonly fingerprint: Uint8Array; readonly response: StoredResponse }
  >();
  /** Calls to payment networks to make once the batch is durable. */
  readonly networkCalls: NetworkCallRecord[] = [];
  /** How many messages it has taken, and the bytes of their bodies. */
  taken = 0;
  bytesTaken = 0;
  hasUpkeep = false;
  /** By the number of the webhook thread that reported them. */
  readonly #acknowledged = new Map<number, Recorded[]>();
  readonly #answers = new Map<Peer, AnswerWriter>();
  readonly #messages: { readonly peer: Peer; readonly message: FromShard }[] = [];
  readonly #spare: SpareBuffers | undefined;
  #messageBytes = 0;
  #isReleased = false;

  constructor({ nowMs, serviceMs }: Now, view: View, spare?: SpareBuffers) {
    this.nowMs = nowMs;
    this.serviceMs = serviceMs;
    this.view = view;
    this.#spare = spare;
  }

  /** What arrives from now on is executed at this time, with which the batch is written. */
  continueAt({ nowMs, serviceMs }: Now): void {
    assert(serviceMs >= this.serviceMs, 'service time never goes back');
    this.nowMs = nowMs;
    this.serviceMs = serviceMs;
  }

  /** An estimate of the bytes of its requests and answers. */
  get bytes(): number {
    let bytes = this.bytesTaken + this.#messageBytes;
    for (const writer of this.#answers.values()) bytes += writer.bytes;
    return bytes;
  }

  answersTo(peer: Peer): AnswerWriter {
    let writer = this.#answers.get(peer);
    if (writer === undefined) {
      writer = new AnswerWriter(this.#spare);
      this.#answers.set(peer, writer);
    }
    return writer;
  }

  /** Answers a message that is not on the hot path. */
  reply(to: ReplyTo, answer: InternalAnswer): void {
    if (answer.ok) this.#messageBytes += answer.body.length;
    this.post(to.peer, { correlation: to.correlation, answer });
  }

  /** An attempt that a webhook thread has reported is recorded. */
  acknowledge(thread: number, recorded: Recorded): void {
    const others = this.#acknowledged.get(thread);
    if (others === undefined) this.#acknowledged.set(thread, [recorded]);
    else others.push(recorded);
  }

  acknowledged(thread: number): readonly Recorded[] {
    return this.#acknowledged.get(thread) ?? [];
  }

  /** Sends a message to a peer once the batch is durable. */
  post(peer: Peer, message: FromShard): void {
    this.#messages.push({ peer, message });
  }

  record(changes: readonly Change[], idempotency: Entry['idempotency'], cause: Cause): void {
    assert(!this.#isReleased, 'nothing is added to a commit batch that was written');
    if (idempotency !== null) {
      const { fingerprint, keyDigest } = idempotency;
      this.stored.set(keyOf(keyDigest), { fingerprint, response: idempotency });
    }
    if (changes.length > 0 || idempotency !== null) this.entries.push({ changes, idempotency, cause });
  }

  /** Sends all answers, when everything that they show is on disk. Throws `JournalFailure`. */
  release(ownership: Ownership): void {
    requireHeld(ownership);
    assert(!this.#isReleased, 'a commit batch is answered once');
    this.#isReleased = true;
    for (const [peer, writer] of this.#answers) {
      const frames = writer.take();
      peer.post(frames, [frames]);
    }
    for (const { peer, message } of this.#messages) peer.post(message, []);
  }
}

/** Goes on with a command whose address was looked up; null: no name server answered. */
export type AddressChecked = (batch: CommitBatch, allowed: boolean | null) => void;

/** A digest as the key of a map. */
export function keyOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('latin1');
}
