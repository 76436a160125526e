// What a node has of the directory when it has taken it: the rows that PostgreSQL has, and none that was removed there.

import type { Directory } from '../../../src/directory/directory.ts';
import type { Databases } from '../postgresql/databases.ts';
import type { World } from './world.ts';

/** `lease`: the epoch by which the node has taken it. */
export function auditDirectory(
  { judge, isDamaged, newestLease }: World,
  { first }: Databases,
  { store }: Directory,
  lease: number,
): void {
  // Of what another one has changed since then it knows nothing.
  if (isDamaged || newestLease() !== lease) return;
  for (const { name, content } of first.primary.tables.keyed.directory.values()) {
    const found = store.get(name);
    judge.check(
      'a mirror holds what the log holds',
      content === null ? found === undefined : found?.equals(content) === true,
      () =>
        `the row ${name} of the directory is ${found?.toString('hex')}, and in PostgreSQL ${content?.toString('hex')}`,
    );
  }
}
