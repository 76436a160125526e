// How long the disk takes to sync: what a create costs beside PostgreSQL depends on it, so it stands beside each ratio.

import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './report.ts';

const appends = 50;

/** The median time of a sync of 4 KiB that were appended to a new file in a folder, in milliseconds. */
export function syncMsIn(folder: string): number {
  const path = join(folder, 'sync-time');
  const file = openSync(path, 'wx');
  const bytes = Buffer.alloc(4_096, 1);
  try {
    const times = Array.from({ length: appends }, () => {
      writeSync(file, bytes);
      const startedAt = performance.now();
      fdatasyncSync(file);
      return performance.now() - startedAt;
    });
    return median(times);
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}
