// Test files that leave alone what concerns all that runs in a process share one: to start Node and to load what most of them import
// takes longer than the tests of many. Each still runs alone, too.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is only computed takes so little that the files of a folder run one after the other, those of all other folders together. */
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
 * What concerns all that runs in the process: other processes and threads, what is replaced or looked for in the heap, a disk, and
 * what starts when the file is loaded, as all that share a process are before the first test. Each of them is a suite, to which its
 * hooks belong.
 */
const needsItsOwn =
  /^(?:const|let) .*= await (?!import\()|on-disk|startNode|PostgresServers|startServers|card-shop|node:(?:child_process|worker_threads|v8)|\bprocess\.|memoryUsage|\bmock\./m;

const startsService = /start(?:Service|Dashboard)|newService|Browser/;
/** So many take about a minute of a busy machine. */
const servicesTogether = 8;

/**
 * The files that node:test is to run in the place of `found`, whose paths are relative to `root`: those that share a process are
 * imported by a file in `scratch`.
 */
export function sharedProcesses(found: readonly string[], root: string, scratch: string): string[] {
  const together = new Map<string, string[]>();
  const alone: string[] = [];
  let services = 0;
  for (const path of found) {
    const text = readFileSync(join(root, path), 'utf8');
    const folder = folders.find((each) => path.startsWith(`test/${each}/`)) ?? 'others';
    if (needsItsOwn.test(text)) {
      alone.push(join(root, path));
      continue;
    }
    const group = startsService.test(text) ? `services-${Math.floor(services++ / servicesTogether)}` : folder;
    together.set(group, [...(together.get(group) ?? []), path]);
  }
  const shared = [...together].map(([group, paths]) => {
    const file = join(scratch, `${group}.test.mjs`);
    const suites = paths.map((path) => {
      const url = pathToFileURL(join(root, path));
      return `suite('${path}', async () => void (await import('${url}')));\n`;
    });
    writeFileSync(file, `import { suite } from 'node:test';\n${suites.join('')}`);
    return file;
  });
  return [...shared, ...alone];
}
