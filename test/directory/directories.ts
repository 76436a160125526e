// The directories that tests make, each in a folder of its own, which is deleted when the process of the test ends.

import { join } from 'node:path';
import type { Clock } from '../../src/core/clock.ts';
import { Directory } from '../../src/directory/directory.ts';
import { createDirectory, type DirectoryStoreOptions } from '../../src/directory/directory-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const part = { folder: '0123456789abcdef'.repeat(2), generation: 0, part: 'directory' };

/** The folder of a directory that has nothing in it yet. */
export async function folderOfDirectory(): Promise<string> {
  const folder = join(temporaryFolder(), 'directory');
  await createDirectory(folder, part);
  return folder;
}

export function directoryIn(
  folder: string,
  now: Clock,
  options: Pick<DirectoryStoreOptions, 'onFailure' | 'isDiskFull'> = {},
): Directory {
  return new Directory({ folder, part, now, ...options });
}
