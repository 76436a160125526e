// Loaded before everything else by each process and thread of `npm test`: it gives them the project's files as main.ts has
// left them, without types. Node 22 takes the types out of every file in every thread anew, which is a third of what a start
// of the service costs. In JavaScript, so that nobody loads what takes types out. A process that is told of no folder, or
// a file that is not in it, gets what it would get anyway.

import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

const folder = process.env.WITHOUT_TYPES;
const root = new URL('../..', import.meta.url).href;

/** Where a file of the project is kept without types; null when it is not. */
function keptOf(url) {
  if (!url.startsWith(root) || !url.endsWith('.ts')) return null;
  const kept = join(folder, decodeURIComponent(url.slice(root.length)));
  return existsSync(kept) ? kept : null;
}

if (folder !== undefined) {
  // An older Node, as a machine may have of its own, has no such hooks and runs none of these files.
  module.registerHooks?.({
    load(url, context, next) {
      const kept = keptOf(url);
      if (kept === null) return next(url, context);
      return { format: 'module', source: readFileSync(kept), shortCircuit: true };
    },
    resolve(specifier, context, next) {
      // Where these lie needs no look at folders and manifests.
      const isPlain = specifier.startsWith('.') && /\.(ts|mjs)$/.test(specifier);
      if (!isPlain || !context.parentURL?.startsWith(root)) return next(specifier, context);
      const { href } = new URL(specifier, context.parentURL);
      if (href.endsWith('.ts') && keptOf(href) === null) return next(specifier, context);
      return { url: href, format: 'module', shortCircuit: true };
    },
  });
}
