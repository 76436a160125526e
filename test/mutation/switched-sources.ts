// To be imported before all else (--import): gives the sources that have mutants in them, and where a file is named for it, writes
// at the end which mutants the process has come upon.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { namespace } from './namespace.ts';

const sources = new URL('../../src/', import.meta.url).href;
const switched = new URL('../../.cache/mutation/src/', import.meta.url);

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(sources)) return next(url, context);
    const file = fileURLToPath(new URL(url.slice(sources.length), switched));
    if (!existsSync(file)) return next(url, context);
    return { format: 'module', source: readFileSync(file, 'utf8'), shortCircuit: true };
  },
});

const coverage = process.env.MUTATION_COVERAGE;
if (coverage !== undefined)
  process.on('exit', () => {
    const ids = Object.keys(namespace().mutantCoverage?.static ?? {});
    writeFileSync(`${coverage}.${process.pid}.${threadId}`, JSON.stringify(ids));
  });
