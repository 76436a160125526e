// Loaded before everything else by each process and thread of `npm test`: it gives them the modules that prepare-modules.ts has
// prepared. In JavaScript, so that nobody loads what takes types out. A process that is told of no folder, or an
// empty one, loads its modules as ever, as all do with a module that is not in the folder.

import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env.PREPARED_MODULES;
const root = new URL('../..', import.meta.url).href;

/** Where a file of the project is kept without types; null when it is not. */
function sourceOf(url) {
  if (!url.startsWith(root) || !url.endsWith('.ts')) return null;
  const kept = join(folder, 'sources', decodeURIComponent(url.slice(root.length)));
  return existsSync(kept) ? kept : null;
}

/** What the service's process and threads begin with is kept whole, below addresses where the project has nothing. */
const whole = new URL('prepared-service/', root).href;

/** The address at which a file that a process or a thread begins with is kept whole; null when it is not. */
function wholeOf(url) {
  if (!url.startsWith(root)) return null;
  // It would only take types out of sources, for all threads.
  const path = url.slice(root.length).replace(/^src\/main\/serve\.mjs$/, 'src/main/payments.ts');
  const kept = path.replace(/\.ts$/, '.mjs');
  return kept !== path && existsSync(join(folder, 'service', kept)) ? new URL(kept, whole).href : null;
}

/** The address of what a file imports by its own path or of a package, found without a look at manifests; null: unknown. */
function addressOf(specifier, parent) {
  if (!specifier.startsWith('.')) {
    const kept = join(folder, 'packages', `${specifier}.mjs`);
    return existsSync(kept) ? pathToFileURL(kept).href : null;
  }
  const { href } = new URL(specifier, parent);
  return href.endsWith('.mjs') || sourceOf(href) !== null ? href : null;
}

if (folder) {
  // An older Node, as a machine may have of its own, has no such hooks and runs none of these files.
  module.registerHooks?.({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      const isFirst = parentURL === undefined || parentURL.endsWith('/src/threads/start-thread.mjs');
      const first = isFirst && specifier.startsWith('file:') ? wholeOf(specifier) : null;
      const url = first ?? (parentURL?.startsWith(root) ? addressOf(specifier, parentURL) : null);
      return url === null ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      const isWhole = url.startsWith(whole);
      const kept = isWhole ? join(folder, 'service', url.slice(whole.length)) : sourceOf(url);
      if (kept === null) return next(url, context);
      return { format: 'module', source: readFileSync(kept), shortCircuit: true };
    },
  });
}
