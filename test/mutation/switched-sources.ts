// To be imported before all else (--import): gives the sources that have mutants in them, and all others and the tests without
// their types.

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './switch.ts';

const root = new URL('../..', import.meta.url).href;
const kept = fileURLToPath(new URL('../../.cache/mutation/sources', import.meta.url));
const texts = new Map<string, string | null>();

function textOf(path: string): string | null {
  let text = texts.get(path);
  if (text === undefined) {
    try {
      text = readFileSync(join(kept, path), 'utf8');
    } catch {
      text = null;
    }
    texts.set(path, text);
  }
  return text;
}

registerHooks({
  load(url, context, next) {
    // What follows the path tells one import of a test file from another.
    const path = url.startsWith(root) ? url.slice(root.length).split('?', 1)[0]! : '';
    const text = path.endsWith('.ts') ? textOf(path) : null;
    return text === null ? next(url, context) : { format: 'module', source: text, shortCircuit: true };
  },
});
