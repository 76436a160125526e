// The memory of processes, from Linux's `/proc`.

import { readFileSync } from 'node:fs';

/**
 * `Anonymous`: what no file backs; `Rss`: with the pages of mapped files that are in memory; `Pss`: the same, with each page
 * that several processes share counted in parts.
 */
type MemoryKind = 'Anonymous' | 'Rss' | 'Pss';

export function memoryMib(pid: number, kind: MemoryKind): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const [, kib] = new RegExp(`^${kind}:\\s+(\\d+) kB`, 'm').exec(rollup)!;
  return Number(kib) / 1_024;
}
