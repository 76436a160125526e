// What `payments wal` and `payments history` read, of a data folder whether a service runs on it or not, of a backup and of an
// archive, is compared with what the shards have appended.

import { isDeepStrictEqual } from 'node:util';
import { openLogAt } from '../../../src/backup/log-folders.ts';
import type { DataFolder } from '../../../src/data-folder/data-folder.ts';
import type { Entry } from '../../../src/journal/journal.ts';
import {
  entriesOf,
  type FoundBatch,
  isDefect,
  type LogRange,
  type LogSource,
  type StateSource,
} from '../../../src/journal/log-reader.ts';
import type { Random } from '../kernel/random.ts';
import type { History } from './history.ts';
import type { World } from './world.ts';

/** Where a log lies: `from` is a backup, and `archive` where its log goes on. */
export interface LogPlace {
  readonly from: string | null;
  readonly archive: string | null;
}

export class LogTools {
  readonly #world: World;
  readonly #random: Random;
  readonly #dataDir: string;

  constructor(world: World, random: Random, dataDir: string) {
    this.#world = world;
    this.#random = random;
    this.#dataDir = dataDir;
  }

  #same(holds: boolean, what: () => string): void {
    const { judge, isDamaged } = this.#world;
    judge.check('the log’s tools show what was appended', holds || isDamaged, what);
  }

  /** Reads the log of every shard of a folder, in some range. */
  async look(folder: Pick<DataFolder, 'id' | 'generation'>, place: LogPlace): Promise<void> {
    const log = await openLogAt({ ...place, dataDir: () => this.#dataDir, identityFile: null });
    const defect = await log.directoryDefect();
    this.#same(defect === null, () => `the directory's changes are damaged: ${defect}`);
    for (const [shard, source] of log.shards.entries()) {
      const history = this.#world.historyOf(folder, shard);
      await this.#read(source, history, place);
      const state = log.stateOf(shard);
      if (state !== null) await this.#readState(state, history);
    }
  }

  async #read(source: LogSource, history: History, place: LogPlace): Promise<void> {
    const random = this.#random;
    const { durable } = history;
    const range: LogRange = {
      after: random.chance(0.5) ? 0 : random.below(durable + 1),
      ...(random.chance(0.5) ? {} : { upTo: random.between(1, durable + 1) }),
      ...(random.chance(0.3) ? { reverse: true } : {}),
    };
    const { after = 0, upTo = Number.POSITIVE_INFINITY, reverse = false } = range;
    const first = source.firstSequence();
    const batches: FoundBatch[] = [];
    for await (const found of source.read(range)) {
      const what = () => `${source.name} is damaged: ${JSON.stringify(found)}, in ${JSON.stringify(range)}`;
      this.#same(!isDefect(found), what);
      if (!isDefect(found)) batches.push(found);
    }
    if (reverse) batches.reverse();
    const name = `${source.name} in ${JSON.stringify(range)}`;
    for (const [i, { firstSequence }] of batches.entries()) {
      const last = batches[i - 1]?.lastSequence;
      this.#same(
        last === undefined || firstSequence === last + 1,
        () => `${name}: ${firstSequence} is not the next`,
      );
    }
    // Files have what they had when they were written; a service may have dropped segments meanwhile.
    const begin = Math.max(first ?? 0, source.firstSequence() ?? 0);
    const isLive = place.from === null && place.archive === null;
    const end = isLive ? durable : await endOf(source);
    const wanted = history
      .batchesIn(after, upTo)
      .filter(({ firstSequence, lastSequence }) => firstSequence >= begin && lastSequence <= end);
    const shown = new Map(batches.map((batch) => [batch.firstSequence, batch]));
    for (const { firstSequence } of wanted)
      this.#same(shown.has(firstSequence), () => `${name} lacks the batch ${firstSequence}`);
    for (const { firstSequence, wallMs, entries } of wanted.slice(-10)) {
      const batch = shown.get(firstSequence);
      if (batch === undefined) continue;
      this.#same(
        batch.wallMs === wallMs,
        () => `${name}: ${firstSequence} is of ${batch.wallMs}, not ${wallMs}`,
      );
      this.#compare(batch, entries, after);
    }
    const sinceMs = history.wallMsOf(random.between(1, durable + 1));
    if (sinceMs === null || !history.isInOrder) return;
    const before = source.sequenceBefore(sinceMs);
    const cut = history.cutBefore(sinceMs);
    this.#same(
      before <= cut,
      () => `${name}: what comes after ${before} leaves out some since ${sinceMs}, after ${cut}`,
    );
  }

  #compare(batch: FoundBatch, entries: readonly Entry[], after: number): void {
    const { firstSequence } = batch;
    const left = entries.map((entry, i) => ({ ...entry, sequence: firstSequence + i }));
    const wanted = left.filter(({ sequence }) => sequence > after);
    const found = entriesOf(batch, after);
    this.#same(found.length === wanted.length, () => `${firstSequence} has ${found.length} entries`);
    for (const [i, { sequence, changes, cause, idempotency }] of wanted.entries()) {
      const entry = found[i];
      const response = idempotency && {
        status: idempotency.status,
        requestId: idempotency.requestId,
        body: Buffer.from(idempotency.body).toString(),
        defaults: idempotency.defaults,
      };
      const shown = entry?.response && {
        ...entry.response,
        body: Buffer.from(entry.response.body).toString(),
      };
      this.#same(
        isDeepStrictEqual(entry?.changes, changes) &&
          entry?.sequence === sequence &&
          isDeepStrictEqual(entry.cause, cause) &&
          isDeepStrictEqual(shown, response),
        () => `${sequence} is ${JSON.stringify(entry)} and was ${JSON.stringify(wanted[i])}`,
      );
    }
  }

  /** A record, and the unchanging ones that were made after it. */
  async #readState(state: StateSource, history: History): Promise<void> {
    const records = history.at(state.sequence);
    if (records.size === 0) return;
    const { id } = this.#random.pick([...records.values()]);
    const madeAt = (of: string) => of.slice(of.indexOf('_') + 1);
    const isWanted = (kind: string, other: string) =>
      other === id || ((kind === 'event' || kind === 'attempt') && madeAt(other) > madeAt(id));
    const wanted = [...records.values()].filter((record) => isWanted(record.kind, record.id));
    const found = new Map<string, unknown>();
    for await (const record of state.recordsFrom(id)) found.set(record.id, record);
    this.#same(
      found.size === wanted.length &&
        wanted.every((record) => isDeepStrictEqual(found.get(record.id), record)),
      () => `from ${id} on there are ${[...found.keys()]} instead of ${wanted.map((each) => each.id)}`,
    );
  }
}

async function endOf(source: LogSource): Promise<number> {
  let end = 0;
  for await (const found of source.read()) if (!isDefect(found)) end = found.lastSequence;
  return end;
}
