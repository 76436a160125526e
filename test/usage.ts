// What the commands of this folder print with --help: the comment that their file begins with.

import { readFileSync } from 'node:fs';

/** Prints how the command in `file` is used, and ends the process, where it is asked. To be called before its arguments are read. */
export function tellUsage(file: string): void {
  if (!process.argv.includes('--help')) return;
  process.stdout.write(usageIn(readFileSync(file, 'utf8')));
  process.exit(0);
}

/** The lines of the comment that a source begins with. */
export function usageIn(source: string): string {
  const [comment = ''] = /^(?:\/\/.*\n)+/.exec(source) ?? [];
  return comment.replaceAll(/^\/\/ ?/gm, '');
}
