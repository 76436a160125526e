// How much room the disk of a folder has, and how much its files take. A shard asks when it starts
// and every second, the directory before each change: without room they take no writes, because a
// write that fails inside the storage library ends the process.

import {
  closeSync,
  type Dirent,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DataFolderError } from './data-folder-error.ts';

/** Below this the disk counts as full: the next checkpoint needs room for what is in the log. */
export const freeBytesMin = 64 * 1024 * 1024;
const probeBytes = 1024 * 1024;

export function freeBytesIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** What the disk must keep free is needed as well. Throws `DataFolderError`. */
export function refuseWithoutRoom(what: string, folder: string, bytes: number): void {
  const needed = bytes + freeBytesMin;
  const free = freeBytesIn(folder);
  if (free >= needed) return;
  throw new DataFolderError(
    `${what} may need ${megabytes(needed)}, and ${megabytes(free)} are free: make room, or use a larger disk`,
  );
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}

const blockBytes = 512;

/** What files take on the disk: less than their length where they have holes. */
export function bytesBelow(folder: string): number {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    // A shard that is down may have lost its folder.
    return 0;
  }
  let blocks = 0;
  for (const entry of entries) {
    // A segment can be dropped meanwhile.
    if (entry.isFile())
      blocks += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0;
  }
  return blocks * blockBytes;
}

/** `thorough` also writes and removes a file, the only way to notice a quota. */
export function hasRoom(folder: string, thorough: boolean): boolean {
  return freeBytesIn(folder) >= freeBytesMin && (!thorough || takesBytes(join(folder, 'room.probe')));
}

/** A disk that was full must take a test write before it counts as having room again. */
export class DiskRoom {
  readonly #folder: string;
  readonly #onChange: (isFull: boolean) => void;
  /** Unknown until the first look. */
  #isFull: boolean | null = null;

  /** `onChange` hears when the disk is full, and when it has room again. */
  constructor(folder: string, onChange: (isFull: boolean) => void = () => {}) {
    this.#folder = folder;
    this.#onChange = onChange;
  }

  /** Looks at the disk; the first time, and while it is full, by a test write, too. */
  isFull(): boolean {
    const wasFull = this.#isFull ?? false;
    this.#isFull = !hasRoom(this.#folder, this.#isFull ?? true);
    if (this.#isFull !== wasFull) this.#onChange(this.#isFull);
    return this.#isFull;
  }
}

function takesBytes(file: string): boolean {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(file, 'w');
    const written = writeSync(descriptor, Buffer.alloc(probeBytes));
    fsyncSync(descriptor);
    return written === probeBytes;
  } catch {
    return false;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
    rmSync(file, { force: true });
  }
}
