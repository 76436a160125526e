// How far each shard's log has come on the disk, noted outside of the shards' folders, in the file
// `sequences`: the last sequence, and the checksum of the commit batch that ends with it. So a
// start notices a shard from an older copy, or from one that has gone another way. Only what is
// durable is noted. The file has two places, written in turn where they lie, so that one is always
// whole: no commit waits, and a full disk does not prevent it.

import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../core/assert.ts';
import { errorCode } from '../core/errors.ts';
import type { Timers } from '../core/scheduler.ts';
import { replaceFile } from '../disk/sync-path.ts';
import type { DataFolder } from './data-folder.ts';

/** The checksum is null when the log does not have the batch that ended there. */
export interface NotedEnd {
  readonly sequence: number;
  readonly checksum: number | null;
}

/** By shard; null where nothing is known. */
export type Ends = readonly (NotedEnd | null)[];

interface Note {
  readonly folder: string;
  readonly generation: number;
  /** The place with the greater number has the newer note. */
  readonly count: number;
  readonly ends: Ends;
}

type NotedFolder = Pick<DataFolder, 'path' | 'id' | 'generation' | 'shards'>;

const fileName = 'sequences';
const sectorBytes = 4_096;
const headBytesMax = 200;
const endBytesMax = 64;
/** Ends that come within this time are written together. */
const gatherMs = 1_000;

/** The noted ends, null for shards without one; null when the notes can't be read. */
export function readEnds({ path, id, generation, shards }: NotedFolder): Ends | null {
  const bytes = bytesOf(join(path, fileName));
  const note = bytes === null ? null : newestIn(bytes);
  if (bytes !== null && note === null) return null;
  const isOwn = note?.folder === id && note.generation === generation;
  return Array.from({ length: shards }, (_, number) => (isOwn ? (note.ends[number] ?? null) : null));
}

/** Replaces what was noted before, durably. Returns the number of the note. */
export function writeEnds(folder: NotedFolder, ends: Ends): number {
  const file = join(folder.path, fileName);
  const before = bytesOf(file);
  const count = ((before && newestIn(before)?.count) ?? 0) + 1;
  const bytes = encode(folder, count, ends);
  if (before?.length === 2 * slotBytesOf(folder)) {
    const descriptor = openSync(file, 'r+');
    try {
      writeSync(descriptor, bytes, 0, bytes.length, placeOf(folder, count));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return count;
  }
  const both = Buffer.alloc(2 * slotBytesOf(folder), '\n');
  bytes.copy(both, placeOf(folder, count));
  replaceFile(file, both);
  return count;
}

/** Forgets what was noted of a shard whose log an operator has made shorter. */
export function forgetEnd(folder: NotedFolder, shard: number): void {
  const ends = readEnds(folder);
  if (ends !== null) writeEnds(folder, ends.with(shard, null));
}

interface SequenceNotesOptions {
  readonly folder: NotedFolder;
  /** The ends that a start has found. */
  readonly ends: Ends;
  readonly timers: Timers;
  /** Hears when the notes can't be written any more; they go on being tried. */
  readonly onFailure: (error: unknown) => void;
}

/** Notes the ends while the service runs. */
export class SequenceNotes {
  readonly #options: SequenceNotesOptions;
  readonly #ends: (NotedEnd | null)[];
  #file: FileHandle | null = null;
  /** The number of the newest note; null while there is none of this process. */
  #count: number | null = null;
  #isChanged = false;
  #isFailing = false;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;

  /** Begins with the ends that a start has found, in place of what was noted before. */
  constructor(options: SequenceNotesOptions) {
    this.#options = options;
    this.#ends = [...options.ends];
    try {
      this.#count = writeEnds(options.folder, this.#ends);
    } catch (error) {
      // The service can do without, as on a disk that is full before there is a file.
      this.#failed(error);
    }
  }

  /** Everything up to this end is durable. */
  note(shard: number, end: NotedEnd): void {
    assert(shard >= 0 && shard < this.#ends.length, `shard ${shard} is one of the folder`);
    // A shard that was started again tells how far its checkpoint is, and more may be noted.
    if (end.sequence <= (this.#ends[shard]?.sequence ?? 0)) return;
    this.#ends[shard] = end;
    this.#isChanged = true;
    this.#writeSoon();
  }

  #writeSoon(): void {
    if (this.#writing !== null) return;
    this.#cancel ??= this.#options.timers.after(gatherMs, () => {
      this.#cancel = null;
      void this.#write();
    });
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeOnce()
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#writing = null;
        if (this.#isChanged) this.#writeSoon();
      });
    return this.#writing;
  }

  /** Writes the older place, and again the one that could not be written: the other is whole. */
  async #writeOnce(): Promise<void> {
    const { folder } = this.#options;
    this.#isChanged = false;
    if (this.#count === null) this.#count = writeEnds(folder, this.#ends);
    else {
      const count = this.#count + 1;
      const bytes = encode(folder, count, this.#ends);
      this.#file ??= await open(join(folder.path, fileName), 'r+');
      await this.#file.write(bytes, 0, bytes.length, placeOf(folder, count));
      await this.#file.datasync();
      this.#count = count;
    }
    this.#isFailing = false;
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#options.onFailure(error);
    this.#isFailing = true;
    this.#isChanged = true;
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#isChanged) await this.#write();
    this.#cancel?.();
    await this.#file?.close();
  }
}

function slotBytesOf({ shards }: NotedFolder): number {
  return Math.ceil((headBytesMax + shards * endBytesMax) / sectorBytes) * sectorBytes;
}

/** Where in the file a note lies: beside the one before it. */
function placeOf(folder: NotedFolder, count: number): number {
  return (count % 2) * slotBytesOf(folder);
}

/** A line with a checksum before it. */
function encode({ id, generation }: NotedFolder, count: number, ends: Ends): Buffer {
  const text = JSON.stringify({ folder: id, generation, count, ends } satisfies Note);
  return Buffer.from(`${crc32(text).toString(16).padStart(8, '0')} ${text}\n`);
}

function newestIn(bytes: Buffer): Note | null {
  const half = bytes.length / 2;
  const [first, second] = [decode(bytes.subarray(0, half)), decode(bytes.subarray(half))];
  if (first === null || second === null) return first ?? second;
  return first.count > second.count ? first : second;
}

function decode(slot: Buffer): Note | null {
  const line = slot.subarray(0, Math.max(0, slot.indexOf('\n'))).toString();
  const text = line.slice(9);
  return line !== '' && Number.parseInt(line.slice(0, 8), 16) === crc32(text) ? JSON.parse(text) : null;
}

function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
