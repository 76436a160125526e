// The scrubber reads a shard's checkpoint and log from end to end, a little at a time, and checks
// everything: pages, the checksums of records, batches, stored responses and idempotency keys, and
// index rows against records, both ways. So damage is told before somebody needs what is damaged.
// It runs in the checkpoint thread between its tasks, so nothing is written to the checkpoint while
// a slice runs. It reads the files themselves (lmdb-file.ts): damage does not end its process.

import { statSync } from 'node:fs';
import { elementAt } from '../core/assert.ts';
import { verifyChecksum } from '../disk/checksum.ts';
import type { FileRow } from '../disk/lmdb-file.ts';
import { FileDamage } from '../disk/lmdb-pages.ts';
import { CheckpointReader } from './checkpoint/checkpoint-reader.ts';
import { type CheckpointTable, checkpointTables } from './checkpoint/checkpoint-tables.ts';
import type { IndexRowsOf } from './checkpoint/index-table.ts';
import { locationOf } from './checkpoint/response-table.ts';
import { rowDefect } from './checkpoint/row-blocks.ts';
import { isDefect, type LogReader } from './log-reader.ts';
import { readRecord } from './records/record-bytes.ts';

/** Where the scrubber is: stored, so that it continues there after a restart. */
export interface ScrubState {
  /** The number of the part that is being read. */
  readonly part: number;
  /**
   * The key after which it continues, in hexadecimal, or the log's sequence; empty at the start of
   * a part.
   */
  readonly after: string;
  readonly bytes: number;
  /** Damaged places that were found in this pass so far, and in the last complete pass. */
  readonly damaged: number;
  readonly damagedBefore: number;
  /** When the last pass was completed, in Unix milliseconds; null before the first one. */
  readonly completedMs: number | null;
}

export const unscrubbed: ScrubState = {
  part: 0,
  after: '',
  bytes: 0,
  damaged: 0,
  damagedBefore: 0,
  completedMs: null,
};

export interface ScrubFinding {
  readonly file: string;
  /** The byte of the file, as far as it is known. */
  readonly byte: number | null;
  readonly defect: string;
  readonly advice: string;
}

type Wrong = Pick<ScrubFinding, 'defect' | 'advice'>;

function wrong(defect: string | null, advice: string): Wrong | null {
  return defect === null ? null : { defect, advice };
}

interface ScrubOptions {
  readonly checkpoint: string;
  readonly log: LogReader;
  readonly indexRowsOf: IndexRowsOf;
  readonly state: ScrubState;
  readonly onFinding: (finding: ScrubFinding) => void;
}

const restore = 'restore the data folder from a backup';
const rebuild =
  'the records are sound, and lists may lack an object or show one too many: "payments verify" tells more while the service ' +
  'is stopped, and a reshard writes all index rows anew';

/** In the order in which they are read; the log comes last. */
const tables: readonly CheckpointTable[] = Object.values(checkpointTables);
/** A row counts with at least this many bytes. */
const rowBytesMin = 64;

export class Scrubber {
  readonly #options: ScrubOptions;
  #state: ScrubState;
  /** The places that were reported in this pass, because a slice may find one again. */
  readonly #told = new Set<string>();

  constructor(options: ScrubOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  get state(): ScrubState {
    return this.#state;
  }

  get totalBytes(): number {
    const { log } = this.#options;
    const files = [...log.segments().map(({ file }) => file), this.#checkpointFile];
    return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  get #checkpointFile(): string {
    return `${this.#options.checkpoint}/data.mdb`;
  }

  /**
   * Reads about `bytes` more, but not beyond the end of the pass, which is completed at `nowMs`.
   */
  run(bytes: number, nowMs: number): void {
    const end = this.#state.bytes + bytes;
    while (this.#state.bytes < end) {
      const isDone = this.#state.part < tables.length ? this.#readTable(end) : this.#readLog(end);
      if (!isDone) continue;
      if (this.#state.part === tables.length) {
        this.#complete(nowMs);
        return;
      }
      this.#state = { ...this.#state, part: this.#state.part + 1, after: '' };
    }
  }

  #complete(nowMs: number): void {
    const { damaged } = this.#state;
    this.#state = { ...unscrubbed, damagedBefore: damaged, completedMs: nowMs };
    this.#told.clear();
  }

  #advance(after: string, bytes: number): void {
    this.#state = { ...this.#state, after, bytes: this.#state.bytes + Math.max(bytes, rowBytesMin) };
  }

  #tell(finding: ScrubFinding): void {
    const place = `${finding.file} ${finding.byte} ${finding.defect}`;
    if (this.#told.has(place)) return;
    this.#told.add(place);
    this.#state = { ...this.#state, damaged: this.#state.damaged + 1 };
    this.#options.onFinding(finding);
  }

  #tellPage({ at, message }: FileDamage): void {
    this.#tell({ file: this.#checkpointFile, byte: at, defect: message, advice: restore });
  }

  /** Continues reading a table of the checkpoint. Returns true at its end. */
  #readTable(end: number): boolean {
    const table = elementAt(tables, this.#state.part);
    let checkpoint: CheckpointReader | null = null;
    try {
      checkpoint = new CheckpointReader(this.#options.checkpoint);
      return this.#readRows(checkpoint, table, end);
    } catch (error) {
      // The header pages, or the root of the table: none of its rows can be found.
      if (!(error instanceof FileDamage)) throw error;
      this.#tellPage(error);
      return true;
    } finally {
      checkpoint?.close();
    }
  }

  #readRows(checkpoint: CheckpointReader, table: CheckpointTable, end: number): boolean {
    const file = this.#checkpointFile;
    const after = this.#state.after === '' ? undefined : Buffer.from(this.#state.after, 'hex');
    for (const row of checkpoint.file.rows(table, { after })) {
      if (row instanceof FileDamage) {
        this.#tellPage(row);
        continue;
      }
      try {
        const finding = this.#checkRow(checkpoint, table, row);
        if (finding !== null) this.#tell({ file, byte: row.at, ...finding });
      } catch (error) {
        if (!(error instanceof FileDamage)) throw error;
        // The page is that of this row, or of one that it was compared with.
        this.#tellPage(error);
      }
      this.#advance(row.key.toString('hex'), row.key.length + row.length);
      if (this.#state.bytes >= end) return false;
    }
    return true;
  }

  /** What is wrong with a row; null when nothing is. Throws `FileDamage`. */
  #checkRow(checkpoint: CheckpointReader, table: CheckpointTable, row: FileRow): Wrong | null {
    const { indexRowsOf } = this.#options;
    const { key } = row;
    if (table === checkpointTables.index) return wrong(checkpoint.strayRow(key, indexRowsOf), rebuild);
    const value = row.read();
    if (table === checkpointTables.records || table === checkpointTables.unchanging) {
      const record = readRecord({ key, value });
      if (record !== null) {
        const [missing = null] = checkpoint.missingRows(record, indexRowsOf(record));
        return wrong(missing, rebuild);
      }
    }
    if (table === checkpointTables.responses && verifyChecksum(value) === null) {
      const { record, offset } = locationOf(key);
      const what = `the stored response of the commit batch ${record} at offset ${offset}`;
      return wrong(`${what} is not as it was written`, restore);
    }
    return wrong(rowDefect(table, key, value), restore);
  }

  /** Continues reading the log. Returns true at its end. */
  #readLog(end: number): boolean {
    for (const found of this.#options.log.read({ after: Number(this.#state.after) })) {
      if (isDefect(found)) {
        const { file, byte, defect, fromSequence } = found;
        const advice =
          'retries whose stored responses lie there get 500 api_error; a restart is refused when the checkpoint lacks ' +
          'these entries: "payments wal verify" tells which, and what to do';
        this.#tell({ file, byte, defect: `${defect} (entries from ${fromSequence} on)`, advice });
        continue;
      }
      this.#advance(String(found.lastSequence), found.bytes.length);
      if (this.#state.bytes >= end) return false;
    }
    return true;
  }
}
