// The shards of a data folder in the making, while no service runs on it. Whatever is put goes to the one shard that owns
// its organization. Called by a reshard, which reads the shards before, and by an import, which reads a file.

import { type IdempotencyRecord, nowhere, type OwnJournal, type StoredResponse } from '../journal/journal.ts';
import { idOfFrame, organizationOf, type RecordFrame } from '../journal/record-frame.ts';
import { shardOfOrganization, shardOfSlot } from '../shard/shard-map.ts';
import {
  type ClockState,
  clockKey,
  directoryRevisionKey,
  type RetentionMarks,
  retentionKey,
  writeClock,
  writeRetention,
  writeRevision,
} from '../shard/small-values.ts';

/** So many are written in one transaction. */
const batchSize = 1_000;

/** A key, and its answer; null when that is lost. A key whose answer is lost stays known: its request must not run again. */
interface KeyedAnswer {
  readonly key: IdempotencyRecord;
  readonly answer: StoredResponse | null;
}

/** What all new shards know. */
export interface GoOn {
  readonly clock: ClockState;
  /** How many changes of the directory there were. */
  readonly revision: number;
  readonly retention: RetentionMarks;
}

interface NewShard {
  readonly journal: OwnJournal;
  readonly records: Map<string, RecordFrame>;
  readonly answers: KeyedAnswer[];
  readonly smallValues: Map<string, Uint8Array>;
}

export class NewShards {
  readonly #shards: readonly NewShard[];
  records = 0;
  answers = 0;

  /** The journals are open and empty. */
  constructor(journals: readonly OwnJournal[]) {
    this.#shards = journals.map((journal) => ({
      journal,
      records: new Map(),
      answers: [],
      smallValues: new Map(),
    }));
  }

  async putRecord(frame: RecordFrame): Promise<void> {
    const shard = this.#shards[shardOfOrganization(organizationOf(frame), this.#shards.length)]!;
    shard.records.set(idOfFrame(frame), frame);
    this.records++;
    if (shard.records.size === batchSize) await writeRecords(shard);
  }

  /** The keys come in the order in which they were used. */
  async putAnswer(key: IdempotencyRecord, answer: StoredResponse | null): Promise<void> {
    const shard = this.#shards[shardOfSlot(key.slot, this.#shards.length)]!;
    shard.answers.push({ key, answer });
    if (answer !== null) this.answers++;
    if (shard.answers.length === batchSize) await writeAnswers(shard);
  }

  /** Puts a small value of an organization, by whose id its name begins. */
  putSmallValue(name: string, value: Uint8Array): void {
    // What is not of a scope is about the old shard itself.
    if (!name.includes('/')) return;
    const org = name.slice(0, name.indexOf('/'));
    this.#shards[shardOfOrganization(org, this.#shards.length)]!.smallValues.set(name, value);
  }

  /** Writes what is left; the shards go on from there. */
  async finish({ clock, revision, retention }: GoOn): Promise<void> {
    for (const shard of this.#shards) {
      await writeAnswers(shard);
      await writeRecords(shard);
      shard.smallValues.set(clockKey, writeClock(clock));
      shard.smallValues.set(directoryRevisionKey, writeRevision(revision));
      shard.smallValues.set(retentionKey, writeRetention(retention));
      await shard.journal.checkpointer.putSmallValues(shard.smallValues);
    }
  }
}

async function writeRecords({ journal: { log, checkpoint }, records }: NewShard): Promise<void> {
  await checkpoint.write({ records, sequence: log.nextSequence - 1, idempotencyRecords: [] });
  records.clear();
}

/** Appends stored responses to the log, a turn for each time at which some were given. */
async function writeAnswers({ journal: { log, checkpoint }, answers }: NewShard): Promise<void> {
  const durable: Promise<void>[] = [];
  const idempotencyRecords: IdempotencyRecord[] = [];
  for (let start = 0, end = 0; start < answers.length; start = end) {
    // A turn has one service time. The wall time of a key's use is not stored, and is about the same.
    const timeMs = answers[start]!.key.usedAtMs;
    while (answers[end]?.key.usedAtMs === timeMs) end++;
    const turn = answers.slice(start, end);
    const entries = turn.map(({ key, answer }) => ({
      changes: [],
      idempotency: answer && { ...key, ...answer },
      cause: null,
    }));
    const appended = log.append({ firstSequence: log.nextSequence, timeMs, wallMs: timeMs, entries });
    durable.push(appended.durable);
    for (const [i, { key }] of turn.entries())
      idempotencyRecords.push({ ...key, location: appended.locations[i] ?? nowhere });
  }
  await Promise.all(durable);
  answers.length = 0;
  if (idempotencyRecords.length === 0) return;
  await checkpoint.write({ records: new Map(), sequence: log.nextSequence - 1, idempotencyRecords });
}

/** The idempotency records of several shards, each of which has its own in order of time, and where each is from. */
export function* inOrderOfTime<S>(
  sources: readonly (readonly [source: S, records: Iterable<IdempotencyRecord>])[],
): Generator<{ readonly key: IdempotencyRecord; readonly source: S }> {
  const heads = sources.map(([source, records]) => {
    const keys = records[Symbol.iterator]();
    return { source, keys, next: keys.next() };
  });
  for (;;) {
    const waiting = heads.filter(({ next }) => !next.done);
    if (waiting.length === 0) return;
    const first = waiting.reduce((a, b) => (b.next.value.usedAtMs < a.next.value.usedAtMs ? b : a));
    yield { key: first.next.value as IdempotencyRecord, source: first.source };
    first.next = first.keys.next();
  }
}
