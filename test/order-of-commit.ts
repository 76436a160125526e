// What a check tries of many things, each commit others of them: the first ones of this order.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/** By digests of the commit and of the names; of the names alone where there is no git. */
export function inOrderOfCommit<T>(things: Iterable<T>, nameOf: (thing: T) => string): T[] {
  const { stdout: commit } = spawnSync('git', ['rev-parse', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  const digestOf = (name: string) => createHash('sha256').update(`${commit} ${name}`).digest('hex');
  return Array.from(things, (thing) => ({ thing, digest: digestOf(nameOf(thing)) }))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1))
    .map(({ thing }) => thing);
}
