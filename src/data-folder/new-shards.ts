// The shards of a data folder that is being made, while no service runs on it. Everything goes to
// the shard that owns its organization. A reshard, which reads the old shards, and an import, which
// reads a file, use this.

import { assert, elementAt } from '../core/assert.ts';
import { type IdempotencyRecord, nowhere, type OwnJournal, type StoredResponse } from '../journal/journal.ts';
import { type EncodedRecord, organizationOf } from '../journal/stopped-journal.ts';
import {
  type ClockState,
  clockKey,
  directoryRevisionKey,
  type RetentionMarks,
  retentionKey,
  writeClock,
  writeRetention,
  writeRevision,
} from '../shard/metadata.ts';
import { shardOfOrganization, shardOfSlot } from '../shard/shard-map.ts';

/** How many are written in one transaction. */
const batchSize = 1_000;

/** Null when the response is lost. The key stays known: its request must not run again. */
interface UsedKey {
  readonly key: IdempotencyRecord;
  readonly response: StoredResponse | null;
}

/** The values that all new shards get. */
interface FinalValues {
  readonly clock: ClockState;
  /** The number of changes of the directory. */
  readonly revision: number;
  readonly retention: RetentionMarks;
}

interface NewShard {
  readonly journal: OwnJournal;
  readonly records: EncodedRecord[];
  readonly responses: UsedKey[];
  readonly metadata: Map<string, Uint8Array>;
}

export class NewShards {
  readonly #shards: readonly NewShard[];
  records = 0;
  responses = 0;

  /** The journals must be open and empty. */
  constructor(journals: readonly OwnJournal[]) {
    this.#shards = journals.map((journal) => ({
      journal,
      records: [],
      responses: [],
      metadata: new Map(),
    }));
  }

  async putRecord(encoded: EncodedRecord): Promise<void> {
    const shard = elementAt(this.#shards, shardOfOrganization(organizationOf(encoded), this.#shards.length));
    shard.records.push(encoded);
    this.records++;
    if (shard.records.length === batchSize) await writeRecords(shard);
  }

  /** The keys come in the order in which they were used. */
  async putResponse(key: IdempotencyRecord, response: StoredResponse | null): Promise<void> {
    const shard = elementAt(this.#shards, shardOfSlot(key.slot, this.#shards.length));
    shard.responses.push({ key, response });
    if (response !== null) this.responses++;
    if (shard.responses.length === batchSize) await writeResponses(shard);
  }

  /** Puts a piece of metadata of an organization, by whose id its name begins. */
  putMetadataRow(name: string, value: Uint8Array): void {
    // A value that does not belong to a scope is about the old shard itself.
    if (!name.includes('/')) return;
    const org = name.slice(0, name.indexOf('/'));
    elementAt(this.#shards, shardOfOrganization(org, this.#shards.length)).metadata.set(name, value);
  }

  /** Writes the rest, and the values from which the shards continue. */
  async finish({ clock, revision, retention }: FinalValues): Promise<void> {
    for (const shard of this.#shards) {
      await writeResponses(shard);
      await writeRecords(shard);
      assert(shard.records.length + shard.responses.length === 0, 'everything is written');
      shard.metadata.set(clockKey, writeClock(clock));
      shard.metadata.set(directoryRevisionKey, writeRevision(revision));
      shard.metadata.set(retentionKey, writeRetention(retention));
      await shard.journal.checkpointer.putMetadata(shard.metadata);
    }
  }
}

async function writeRecords({ journal: { log, checkpoint }, records }: NewShard): Promise<void> {
  await checkpoint.write({ records, sequence: log.nextSequence - 1, idempotencyRecords: [] });
  records.length = 0;
}

/** Appends stored responses, in one commit batch for each time at which keys were used. */
async function writeResponses({ journal: { log, checkpoint }, responses }: NewShard): Promise<void> {
  const durable: Promise<void>[] = [];
  const idempotencyRecords: IdempotencyRecord[] = [];
  for (let start = 0, end = 0; start < responses.length; start = end) {
    // The wall time of a key's use is not stored, and is about the same as the service time.
    const timeMs = elementAt(responses, start).key.usedAtMs;
    while (responses[end]?.key.usedAtMs === timeMs) end++;
    const batch = responses.slice(start, end);
    const entries = batch.map(({ key, response }) => ({
      changes: [],
      idempotency: response && { ...key, ...response },
      cause: null,
    }));
    const appended = log.append({ firstSequence: log.nextSequence, timeMs, wallMs: timeMs, entries });
    durable.push(appended.durable);
    for (const [i, { key }] of batch.entries())
      idempotencyRecords.push({ ...key, location: appended.locations[i] ?? nowhere });
  }
  await Promise.all(durable);
  responses.length = 0;
  if (idempotencyRecords.length === 0) return;
  await checkpoint.write({ records: [], sequence: log.nextSequence - 1, idempotencyRecords });
}

/** Merges the idempotency records of several shards, each of which has its own in order. */
export function* inOrderOfTime<S>(
  sources: readonly (readonly [source: S, records: Iterable<IdempotencyRecord>])[],
): Generator<{ readonly key: IdempotencyRecord; readonly source: S }> {
  const heads = sources.map(([source, records]) => {
    const keys = records[Symbol.iterator]();
    return { source, keys, key: keyAfter(keys) };
  });
  for (;;) {
    let first: (typeof heads)[number] | null = null;
    for (const head of heads)
      if (head.key !== undefined && (first?.key === undefined || head.key.usedAtMs < first.key.usedAtMs))
        first = head;
    if (first?.key === undefined) return;
    yield { key: first.key, source: first.source };
    first.key = keyAfter(first.keys);
  }
}

function keyAfter(keys: Iterator<IdempotencyRecord>): IdempotencyRecord | undefined {
  const { done, value } = keys.next();
  return done ? undefined : value;
}
