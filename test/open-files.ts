// Which files this process has open.

import { readdirSync, readlinkSync } from 'node:fs';

/** The paths of those in a folder. */
export function openFilesIn(dir: string): string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => linkOf(`/proc/self/fd/${fd}`))
    .filter((path) => path.startsWith(`${dir}/`));
}

/** What a descriptor is of; the one with which the folder was read is gone again. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
