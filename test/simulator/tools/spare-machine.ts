// A machine with a copy of the disk, on which operators use their tools: whatever they do there, the service does not notice.

import { isDeepStrictEqual } from 'node:util';
import { type DataFolder, journalOf } from '../../../src/data-folder/data-folder.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { JournalDamaged, type LogBatch, type OwnJournal } from '../../../src/journal/journal.ts';
import { foldersOfJournal, type JournalOptions, openJournal } from '../../../src/journal/open-journal.ts';
import { readStoppedJournal } from '../../../src/journal/stopped-journal.ts';
import { Machine } from '../disk/machine.ts';
import { copyOf, Folder, type Volume } from '../disk/volume.ts';
import type { Assertion } from '../kernel/findings.ts';
import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { History } from '../world/history.ts';
import type { World } from '../world/world.ts';
import { type BatchOnDisk, batchesIn, rowsIn, segmentsIn } from './stored-log.ts';

export class SpareMachine {
  readonly world: World;
  readonly random: Random;
  folder: DataFolder;
  number: number;
  readonly lane: Lane;
  readonly #machine: Machine;

  /** `disk` is copied, so it stays as it is. The tool looks at one shard of the folder. */
  constructor(world: World, random: Random, disk: Folder, folder: DataFolder, number: number) {
    this.world = world;
    this.random = random;
    this.folder = folder;
    this.number = number;
    this.#machine = new Machine(world.simulation, 'spare');
    const copy = copyOf(disk);
    if (copy instanceof Folder) this.#machine.volume.root = copy;
    this.lane = this.#machine.processLane('tool');
  }

  get volume(): Volume {
    return this.#machine.volume;
  }

  get journal(): JournalOptions {
    const { simulation, settings } = this.world;
    return {
      ...journalOf(this.folder, this.number),
      segmentBytesMax: settings.segmentBytesMax,
      scheduler: {
        soon: (run) => simulation.soon(this.lane, run),
        elapsedMs: () => simulation.nowMs,
      },
    };
  }

  get history(): History {
    return this.world.historyOf(this.folder, this.number);
  }

  get log(): string {
    return `${this.folder.shardDir(this.number)}/log`;
  }

  get batches(): BatchOnDisk[] {
    return batchesIn(this.volume, this.log);
  }

  /** The last sequence before the newest segment. */
  get segmentEnd(): number {
    return (segmentsIn(this.volume, this.log).at(-1)?.first ?? 1) - 1;
  }

  /** A crash right after the copy was made may have lost the end of it. */
  get isKnown(): boolean {
    const { batches, history } = this;
    const last = batches.at(-1);
    if (last === undefined) return false;
    const [known] = history.batchesIn(last.lastSequence - 1, last.lastSequence);
    return known?.lastSequence === last.lastSequence && known.wallMs === last.wallMs;
  }

  check(assertion: Assertion, holds: boolean, what: () => string): void {
    this.world.judge.check(assertion, holds, what);
  }

  same(assertion: Assertion, found: unknown, wanted: unknown, of: string): void {
    const what = () => `${of}: ${inspected(found)} instead of ${inspected(wanted)}`;
    this.check(assertion, isDeepStrictEqual(found, wanted), what);
  }

  /** It must be refused as damaged, in these words. */
  async refused(assertion: Assertion, words: RegExp, run: () => unknown): Promise<void> {
    let why: unknown = 'nothing is refused';
    try {
      await run();
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      why = error.message;
    }
    this.check(assertion, words.test(String(why)), () => `not refused with ${words}: ${why}`);
  }

  /** The disk refuses the next commit in a folder, which may be written all the same. */
  failNextCommit(path: string): void {
    const { random } = this;
    const fault = random.pick(['io-error', 'full'] as const);
    const isWritten = random.chance(0.4);
    this.#machine.faults.push({ fault, isWritten, poisons: random.chance(0.5), path });
  }

  /** The tool is over, and nothing of it is left open. */
  end(): void {
    this.world.closesAll(this.#machine, this.lane);
    this.world.simulation.cut(this.lane);
  }
}

function inspected(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 600) ?? String(value);
}

/** The file of the shard's checkpoint. */
export function checkpointFileOf({ journal }: Pick<SpareMachine, 'journal'>): string {
  return `${foldersOfJournal(journal.dir).checkpoint}/data.mdb`;
}

/** The sequence that the checkpoint reflects. */
export function checkpointedIn(spare: SpareMachine): number {
  return rowsIn(spare.volume, checkpointFileOf(spare), 'meta').get('sequence')?.readDoubleLE(0) ?? 0;
}

/** What the journal of the shard has, is what was appended, up to a sequence. */
export async function checkRecords(
  spare: SpareMachine,
  assertion: Assertion,
  sequence: number,
): Promise<void> {
  const found = await recordsOf(spare.journal);
  checkedRecords(spare, assertion, found, spare.history.at(sequence), `at ${sequence}`);
}

type Records = ReadonlyMap<string, StoredRecord>;

export function checkedRecords(
  spare: SpareMachine,
  assertion: Assertion,
  found: Records,
  wanted: Records,
  of: string,
): void {
  spare.check(assertion, isDeepStrictEqual(found, wanted), () => {
    const ids = new Set([...found.keys(), ...wanted.keys()]);
    const other = [...ids].find((id) => !isDeepStrictEqual(found.get(id), wanted.get(id))) ?? '';
    return `${of}: ${other} was ${inspected(wanted.get(other))} and is ${inspected(found.get(other))}`;
  });
}

/** The journal as a start has it that has read all of the log. */
export async function openReplayed({ journal }: SpareMachine): Promise<OwnJournal> {
  const opened = await openJournal(journal);
  for await (const _ of opened.replay());
  return opened;
}

/** A batch that changes nothing, a moment after another one. */
export function emptyBatch(
  { random }: SpareMachine,
  firstSequence: number,
  { timeMs, wallMs }: Pick<BatchOnDisk, 'timeMs' | 'wallMs'>,
): LogBatch {
  const entries = Array.from({ length: random.between(1, 3) }, () => ({
    changes: [],
    idempotency: null,
    cause: null,
  }));
  return { firstSequence, timeMs: timeMs + 1, wallMs: wallMs + 1, entries };
}

/** Every record of a journal that nobody writes. */
export function recordsOf(options: JournalOptions): Promise<Map<string, StoredRecord>> {
  return readStoppedJournal(options, async (journal) => {
    const records = new Map<string, StoredRecord>();
    for (const record of journal.checkpoint.records()) records.set(record.id, record as StoredRecord);
    for await (const entries of journal.replay())
      for (const change of entries.flatMap(({ changes }) => changes)) {
        if (change.removed) records.delete(change.id);
        else records.set(change.id, change);
      }
    return records;
  });
}
