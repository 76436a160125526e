// Whether the disk of a folder has room. A shard asks when it starts and every second; without room it takes no writes.

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Below this the disk counts as full, because the next checkpoint needs room for what is in the log. */
export const freeBytesMin = 64 * 1024 * 1024;
const probeBytes = 1024 * 1024;

export function freeBytesIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Whether there is room in `folder`. `thorough` also writes and removes a file, which is the only way to notice a quota. */
export function hasRoom(folder: string, thorough: boolean): boolean {
  return freeBytesIn(folder) >= freeBytesMin && (!thorough || takesBytes(join(folder, 'room.probe')));
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
