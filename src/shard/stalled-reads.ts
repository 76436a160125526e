// The queries that come while the disk keeps a commit waiting. Nobody may be told what could still be lost, so in general an
// answer waits for the commits of all turns before it. But no command is executed during a stall, so it is known what could be
// lost: the records that the turns in flight and the open turn have changed. A query that comes upon none of these, nor upon a
// list that they may belong to, is answered at once. The answers to the others wait with the open turn.

import type { Now } from '../core/clock.ts';
import { kindIndex, type ListedKind, scopeOf } from '../domain/indexes.ts';
import type { Change, RecordKind, RecordOf, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import type { AnswerWriter, SpareBuffers } from './frames.ts';
import type { Mail, Mailbox } from './mailbox.ts';
import type { FromShard } from './protocol.ts';
import type { ShardState } from './shard-state.ts';
import { type Peer, Turn } from './turn.ts';

/** The newest values, with a note whether a query has come upon one that is not durable yet. */
export class DurabilityView implements View {
  readonly #records: View;
  readonly #changed = new Set<string>();
  /** The lists that a changed record may belong to, or may have belonged to: those of its kind in its scope. */
  readonly #lists = new Set<string>();
  /** What was read since this was set is durable. */
  isDurable = true;

  /** `changes` are all that is not durable yet. */
  constructor(records: View, changes: Iterable<Change>) {
    this.#records = records;
    for (const { id, kind, org, livemode } of changes) {
      this.#changed.add(id);
      this.#lists.add(kindIndex(kind as ListedKind, scopeOf(org, livemode)));
    }
  }

  get<K extends RecordKind>(kind: K, id: string): RecordOf<K> | undefined {
    if (this.#changed.has(id)) this.isDurable = false;
    return this.#records.get(kind, id);
  }

  scan(index: string, range: ScanRange): Iterable<StoredRecord> {
    const list = listOf(index);
    if (list === null ? this.#changed.size > 0 : this.#lists.has(list)) this.isDurable = false;
    return this.#records.scan(index, range);
  }
}

/** The list of a kind in a scope (`kindIndex`) that an index is a part of; null for an index of another form. */
function listOf(index: string): string | null {
  return /^[a-z_]+\/org_[^/]+\/[tl](?=\/|$)/.exec(index)?.[0] ?? null;
}

/** A turn that answers at once what is durable. */
class StalledTurn extends Turn {
  readonly #view: DurabilityView;
  /** The turn with which the other answers wait. */
  readonly #open: Turn;

  constructor(now: Now, spare: SpareBuffers, view: DurabilityView, open: Turn) {
    super(now, spare);
    this.#view = view;
    this.#open = open;
  }

  override get bytes(): number {
    return super.bytes + this.#open.bytes;
  }

  override answersTo(peer: Peer): AnswerWriter {
    return this.#view.isDurable ? super.answersTo(peer) : this.#open.answersTo(peer);
  }

  override post(peer: Peer, message: FromShard): void {
    if (this.#view.isDurable) super.post(peer, message);
    else this.#open.post(peer, message);
  }
}

/** The reads of one stall. It is over when a turn in flight becomes durable. */
export class StalledReads {
  readonly #state: ShardState;
  /** The turn with which the answers wait that can't be given yet. */
  readonly open: Turn;
  readonly #spare: SpareBuffers;
  readonly #view: DurabilityView;

  /** `inFlight` are the turns that are being written, and `open` is the one that was executed since. */
  constructor(state: ShardState, inFlight: readonly Turn[], open: Turn, spare: SpareBuffers) {
    this.#state = state;
    this.open = open;
    this.#spare = spare;
    const entries = [...inFlight, open].flatMap((turn) => turn.entries);
    const changes = entries.flatMap((entry) => entry.changes);
    this.#view = new DurabilityView(state.records, changes);
  }

  /** Has the queries in the mailbox handled, and answers those that saw durable values only. */
  take(mailbox: Mailbox, now: Now, bytesMax: number, handle: (turn: Turn, mail: Mail) => void): void {
    const turn = new StalledTurn(now, this.#spare, this.#view, this.open);
    this.#state.view = this.#view;
    try {
      mailbox.takeQueries((mail) => {
        this.#view.isDurable = true;
        handle(turn, mail);
        if (!this.#view.isDurable) this.open.taken++;
        return turn.bytes < bytesMax;
      });
    } finally {
      this.#state.view = this.#state.records;
    }
    turn.release();
  }
}
