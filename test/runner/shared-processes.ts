// Test files that start neither processes nor threads share a process, those of a folder one: to start Node and to load what
// most of them import takes longer than their tests. Each still runs alone, too.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folders = [
  'core',
  'contract',
  'domain',
  'store',
  'crypto',
  'edge',
  'html',
  'rpc',
  'shard',
  'journal',
  'disk',
  'networks',
  'directory',
  'http-client',
];

/**
 * What concerns all that runs in the process: hooks outside of a suite, services, threads, flags, and what is looked for in the
 * heap.
 */
const needsItsOwn =
  /^(?:before|after)(?:Each)?\(|startService|Browser|card-shop|node:(?:child_process|worker_threads|v8)|\bprocess\.|memoryUsage|\bmock\./m;

/**
 * The files that node:test is to run in the place of `found`, whose paths are relative to `root`: those that share a process are
 * imported by a file in `scratch`.
 */
export function sharedProcesses(found: readonly string[], root: string, scratch: string): string[] {
  const together = new Map<string, string[]>();
  const alone: string[] = [];
  for (const file of found) {
    const folder = folders.find((each) => file.startsWith(`test/${each}/`));
    const path = join(root, file);
    if (folder === undefined || needsItsOwn.test(readFileSync(path, 'utf8'))) alone.push(path);
    else together.set(folder, [...(together.get(folder) ?? []), path]);
  }
  const shared = [...together].map(([folder, paths]) => {
    const file = join(scratch, `${folder}.test.mjs`);
    writeFileSync(file, paths.map((path) => `await import('${pathToFileURL(path)}');\n`).join(''));
    return file;
  });
  return [...shared, ...alone];
}
