// Empty folders for the files of tests.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** These end with the test process, also when the runner ends it because it took too long. */
const folders: string[] = [];
process.on('exit', () => folders.forEach(remove));
process.once('SIGTERM', () => process.exit(143));

/** An empty folder. It is removed when the test ends that is given, and otherwise when the test process does. */
export function temporaryFolder(test?: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'payments-'));
  if (test === undefined) folders.push(folder);
  else test.after(() => remove(folder));
  return folder;
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  // The service makes it beside its data folder.
  rmSync(`${folder}.secrets-key`, { force: true });
}
