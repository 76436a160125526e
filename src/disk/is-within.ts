// Whether a path leads into a folder, as its text says: links are not followed.

import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Also the folder itself. */
export function isWithin(folder: string, path: string): boolean {
  const from = relative(resolve(folder), resolve(path));
  return from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from);
}
