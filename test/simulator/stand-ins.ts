// Gives the sources of the service their stand-ins: what they import of the storage library, of `node:fs`, of `node:crypto` and of
// `pg`, and what reads the pages of a file, is the simulated disk, chance from the seed, and the simulated PostgreSQL. Nothing in the sources knows. To be
// imported before them.

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { edited } from './planted/edits.ts';

const sources = new URL('../../src/', import.meta.url).href;
const standIns: Readonly<Record<string, string>> = {
  lmdb: './disk/lmdb.ts',
  'node:fs': './disk/node-fs.ts',
  'node:fs/promises': './disk/node-fs-promises.ts',
  'node:crypto': './disk/node-crypto.ts',
  pg: './postgresql/pg.ts',
};
/** Of sources of the service, by their paths. */
const standInsOfSources: Readonly<Record<string, string>> = {
  'core/piece-size.ts': './kernel/piece-size.ts',
  'disk/lmdb-file.ts': './disk/lmdb-file.ts',
  'disk/lmdb-scan.ts': './disk/lmdb-file.ts',
  'postgresql/schema.ts': './postgresql/schema.ts',
  'domain/decide.ts': './oracle/decide.ts',
  'domain/query.ts': './oracle/query.ts',
  'shard/execute.ts': './oracle/execute.ts',
  'shard/deliver.ts': './oracle/deliver.ts',
  'shard/fingerprint.ts': './kernel/fingerprint.ts',
  'shard/execute-internal.ts': './oracle/execute-internal.ts',
};

function standInOf(specifier: string, parent: string): string | undefined {
  if (!specifier.startsWith('.')) return standIns[specifier];
  const { href } = new URL(specifier, parent);
  return href.startsWith(sources) ? standInsOfSources[href.slice(sources.length)] : undefined;
}

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    const standIn = parentURL?.startsWith(sources) ? standInOf(specifier, parentURL) : undefined;
    return standIn === undefined
      ? next(specifier, context)
      : next(new URL(standIn, import.meta.url).href, context);
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith(sources)) return loaded;
    const text = edited(url.slice(sources.length), () => readFileSync(new URL(url), 'utf8'));
    return text === null ? loaded : { ...loaded, format: 'module-typescript', source: text };
  },
});
