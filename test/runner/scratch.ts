// The folder for all that a run of tests writes: in memory where it can be, because a test makes thousands of small files and
// syncs them, which takes a disk more of the processors' time than the service takes. Tests that are about the disk itself
// import test/on-disk.ts.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const prefix = 'payments-tests-';
/** Several times what the tests of a run have at the same time. */
const bytesMin = 6 * 1024 ** 3;

/** An empty folder, which is gone when this process has ended. */
export function scratchFolder(): string {
  return inMemory() ?? newFolder(tmpdir());
}

function inMemory(): string | null {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (Math.min(bavail * bsize, process.availableMemory()) < bytesMin) return null;
    removeLeftBehind();
    const folder = newFolder(memory);
    return runsPrograms(folder) ? folder : null;
  } catch {
    // There is none, or it belongs to somebody else.
    return null;
  }
}

function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // Servers of PostgreSQL that root starts run as somebody else.
  chmodSync(folder, 0o711);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Containers often forbid it. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/** What a run that was killed has left would keep its memory. */
function removeLeftBehind(): void {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
