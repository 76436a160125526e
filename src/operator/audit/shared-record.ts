// The audit record that other machines hold, too, as its owner has it: the files of this machine
// are a beginning of it when the record is opened, and whatever is appended to them is given to the
// others.

import { assert } from '../../core/assert.ts';
import { type Timers, within } from '../../core/scheduler.ts';
import type { RemoteText } from '../../disk/remote-text.ts';
import { auditFiles, endOf, readText, startOf } from './audit-files.ts';
import { alignRecord, fetchRecord, type GrowingFiles } from './audit-mirror.ts';

const pieceBytes = 64 * 1024;
/** So long a row waits for the other machines. Without them its action is carried out, too. */
const giveMs = 2_000;
/** So long a stop waits for what they have not been given yet. */
const closeMs = 500;

export class SharedRecord {
  readonly #remote: RemoteText;
  readonly #path: string;
  readonly #timers: Timers;
  /** Up to where the others have it. */
  #end: number;
  /** Up to where they are to get it. */
  #wanted = 0;
  #giving: Promise<void> | null = null;
  /** They keep rows waiting: the next ones do not wait. */
  #isLate = false;
  /** Where rows of this machine's own were put that do not fit behind theirs; null: it had none. */
  readonly aside: string | null;

  private constructor(remote: RemoteText, path: string, timers: Timers, end: number, aside: string | null) {
    this.#remote = remote;
    this.#path = path;
    this.#timers = timers;
    this.#end = end;
    this.aside = aside;
  }

  /** Takes the record from whoever had it. Nobody may have the files at `path` open. */
  static async take(remote: RemoteText, path: string, timers: Timers): Promise<SharedRecord> {
    const bounds = await remote.acquire();
    const { end, aside } = await alignRecord(remote, path, bounds);
    if (bounds.end === 0 && end > 0) await remote.begin(end);
    return new SharedRecord(remote, path, timers, end, aside);
  }

  /** Has the log fetch what it lacks, and the others forget what it has dropped. */
  async fetch(log: GrowingFiles): Promise<void> {
    await fetchRecord(this.#remote, log, { last: true });
    await this.#remote.forget(startOf(auditFiles(this.#path)));
  }

  /**
   * Gives the others what the files have up to a place. Resolves when they have it, or after a
   * while: they get it later then. Rejects when another machine has taken the record.
   */
  async give(end: number): Promise<void> {
    if (this.#end >= end) return;
    this.#wanted = end;
    this.#giving ??= this.#giveAll();
    if (!this.#isLate && !(await this.#isGivenWithin(giveMs))) this.#isLate = true;
  }

  /** Whether all is given before so many milliseconds are over. */
  async #isGivenWithin(ms: number): Promise<boolean> {
    const given = Promise.resolve(this.#giving).then(() => true);
    return (await within(ms, given, this.#timers)) ?? false;
  }

  async #giveAll(): Promise<void> {
    try {
      while (this.#end < this.#wanted) await this.#giveNext();
    } finally {
      this.#giving = null;
      this.#isLate = false;
    }
  }

  async #giveNext(): Promise<void> {
    const files = auditFiles(this.#path);
    const bytes = readText(files, this.#end, Math.min(pieceBytes, endOf(files) - this.#end));
    assert(bytes.length > 0, 'no file is dropped before the others have its rows');
    await this.#remote.append(this.#end, bytes);
    this.#end += bytes.length;
  }

  /** Waits a moment for what the others lack. They get it when the record is taken again. */
  async close(): Promise<void> {
    if (this.#giving !== null) await this.#isGivenWithin(closeMs).catch(() => {});
  }
}
