// Does once what each of hundreds of processes and thousands of threads would do anew, and what takes most of the time of a
// start: Node 22 takes the types out of every file whenever it loads it, TypeBox is 680 files, and the exports of packages in
// CommonJS are found by reading all of their text. So all that the service's process and its threads load is put into a few
// files, which takes a quarter of the processor time from a start. What a test imports itself is prepared file by file.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = ['typebox'];

/** Fills a folder for prepared-modules.mjs. */
export async function prepareModules(folder: string): Promise<void> {
  const sources = glob('{src,test,bench,clients}/**/*.ts', {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  });
  for await (const path of sources) {
    if (path.endsWith('.d.ts')) continue;
    const kept = join(folder, 'sources', path);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, stripTypeScriptTypes(readFileSync(join(root, path), 'utf8')));
  }
  for (const name of packages) await bundle(name, join(folder, 'packages'));
  await bundleService(join(folder, 'service'));
}

/** Has what is put into one file go on to know the files that lie beside its source. */
const knowsItsPlace: Plugin = {
  name: 'the place of a source',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = pathToFileURL(path).href;
      const contents = readFileSync(path, 'utf8')
        .replace(/import\.meta\.resolve\('(\.[^']*)'\)/g, (_, to) => JSON.stringify(new URL(to, url).href))
        .replaceAll('import.meta.url', JSON.stringify(url));
      return { contents, loader: 'ts' };
    });
  },
};

/** They load what lies beside them. TypeBox is put into files of its own, for the tests' own imports, too. */
const left = [
  'uWebSockets.js',
  'lmdb',
  'msgpackr',
  'fs-native-extensions',
  'piscina',
  'typebox',
  'typebox/*',
];

/** What starts as a process or a thread of the service. */
async function bundleService(outdir: string): Promise<void> {
  // Each command loads what it needs when it runs.
  await bundleEntries(['src/main/payments.ts'], outdir, { splitting: true });
  // A thread loads all at once, and one file sooner than many.
  const threads = globSync('src/threads/*-{thread,process}.ts', { cwd: root });
  const own = threads.filter((path) => !path.endsWith('supervised-thread.ts'));
  await bundleEntries(own, outdir, { splitting: false });
}

async function bundleEntries(
  entryPoints: readonly string[],
  outdir: string,
  { splitting }: { readonly splitting: boolean },
): Promise<void> {
  await build({
    entryPoints: [...entryPoints],
    absWorkingDir: root,
    outdir,
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[hash]',
    bundle: true,
    splitting,
    external: left,
    // What a package requires of Node's own.
    banner: {
      js: "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url);",
    },
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'warning',
    plugins: [knowsItsPlace],
  });
}

/** All that a package exports, with what its entries share in files that they share, so that its state exists once. */
async function bundle(name: string, outdir: string): Promise<void> {
  const path = join(root, 'node_modules', name);
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const exported = manifest.exports as Readonly<Record<string, { readonly import: string }>>;
  const entryPoints = Object.fromEntries(
    Object.entries(exported).map(([entry, at]) => [join(name, entry), join(path, at.import)]),
  );
  await build({
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'warning',
  });
}
