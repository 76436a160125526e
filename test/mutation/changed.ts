// Which lines of the sources are others than when recorded.json was written last: what it tells is not of them.

import { execFileSync } from 'node:child_process';
import { root } from './kept.ts';

export type Lines = ReadonlyMap<string, ReadonlySet<number>>;

const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/;

/** By file the numbers of the lines that a difference without context adds. */
export function addedLines(diff: string): Lines {
  const added = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ b/')) {
      lines = new Set();
      added.set(line.slice('+++ b/'.length), lines);
    }
    const [, first, count = '1'] = hunk.exec(line) ?? [];
    for (let at = 0; first !== undefined && at < Number(count); at++) lines.add(Number(first) + at);
  }
  return added;
}

/** None where git does not know that far back: then no line is told from the others. */
export function changedLines(): Lines {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const since = git('log', '-1', '--format=%H', '--', 'test/mutation/recorded.json').trim();
  return since === '' ? new Map() : addedLines(git('diff', '-U0', '--no-ext-diff', since, '--', 'src'));
}
