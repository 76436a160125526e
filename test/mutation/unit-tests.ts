// Test files, each in a process of its own: which mutants they come upon, and whether one of them fails for a mutant.

import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folders, root } from './instrument.ts';
import { preload } from './simulator-lane.ts';

export interface TestFile {
  readonly file: string;
  readonly ms: number;
  readonly covered: readonly string[];
}

/** A file that takes longer waits for real clocks, disks or processes: it would cost more than it tells. */
const longestMs = 15_000;

export function testFiles(): string[] {
  return folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root })).sort();
}

/** Null where the file fails, or takes too long, without a mutant. */
export async function coverageOf(file: string): Promise<TestFile | null> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-mutation-'));
  try {
    const startedAt = performance.now();
    const env = { MUTATION_COVERAGE: join(folder, 'covered') };
    if (!(await passes(file, env, longestMs))) return null;
    const parts = globSync('covered.*', { cwd: folder }).map((part) => join(folder, part));
    const ids = parts.flatMap((part) => JSON.parse(readFileSync(part, 'utf8')) as string[]);
    return { file, ms: Math.ceil(performance.now() - startedAt), covered: [...new Set(ids)] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first of the files that fails for the mutant, or null. */
export async function killerOf(
  mutant: string,
  files: readonly Omit<TestFile, 'covered'>[],
): Promise<string | null> {
  for (const { file, ms } of files)
    if (!(await passes(file, { __STRYKER_ACTIVE_MUTANT__: mutant }, 10_000 + 5 * ms))) return file;
  return null;
}

function passes(file: string, env: Record<string, string>, limitMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [...preload, file], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, ...env },
    detached: true,
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => endGroup(child.pid!), limitMs);
    child.once('exit', (code) => {
      clearTimeout(timer);
      endGroup(child.pid!);
      resolve(code === 0);
    });
  });
}

/** Tests start processes of their own, which a mutant may leave behind. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
