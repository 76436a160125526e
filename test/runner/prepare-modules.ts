// Does once what each of hundreds of processes and thousands of threads would do anew, and what takes most of the time of a
// start: Node 22 takes the types out of every file whenever it loads it, TypeBox is 680 files, and the exports of packages in
// CommonJS are found by reading all of their text. So all that the service's process or one of its threads loads is put into a
// script, of which V8 keeps what it has compiled. What a test imports itself is prepared file by file.

import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { createRequire, isBuiltin, stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
const packages = ['typebox'];

/** Fills a folder for prepared-modules.cjs. What a process of its own puts together takes as long as the types to take out. */
export async function prepareModules(folder: string): Promise<void> {
  await Promise.all([
    stripTypes(join(folder, 'sources')),
    bundleService(join(folder, 'service')),
    ...packages.map((name) => bundle(name, join(folder, 'packages'))),
  ]);
}

async function stripTypes(folder: string): Promise<void> {
  const sources = glob('{src,test,bench,clients}/**/*.ts', {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  });
  for await (const path of sources) {
    if (path.endsWith('.d.ts')) continue;
    const kept = join(folder, path);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, stripTypeScriptTypes(readFileSync(join(root, path), 'utf8')));
  }
}

/** Has what is put into one file go on to know the files that lie beside its source. */
const knowsItsPlace: Plugin = {
  name: 'the place of a source',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$|\/uWebSockets\.js\/.*\.mjs$/ }, ({ path }) => {
      const url = pathToFileURL(path).href;
      const resolved = (to: string) => (to.startsWith('.') ? new URL(to, url).href : import.meta.resolve(to));
      const contents = readFileSync(path, 'utf8')
        .replace('createRequire(import.meta.url)(', 'require(')
        .replace(/import\.meta\.resolve\('([^']*)'\)/g, (_, to: string) => JSON.stringify(resolved(to)))
        .replaceAll('import.meta.url', JSON.stringify(url))
        // V8 uses nothing that it has compiled under other flags, and this sets one.
        .replace(/^ {2}quietHeaps\(\);$/m, '');
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** The binary of a package, which the package itself looks for in several folders whenever it is loaded. */
function binaryOf(folder: string): string {
  const prebuilt = join(
    folder,
    'prebuilds',
    `${process.platform}-${process.arch}`,
    `${basename(folder)}.node`,
  );
  if (existsSync(prebuilt)) return prebuilt;
  return createRequire(join(folder, 'package.json'))('node-gyp-build-optional-packages').path(folder);
}

/**
 * In the form in which `require` finds them, which knows where it lies by names that a bundle does not have. Whatever a thread
 * loads besides its script, Node reads and compiles anew.
 */
const packagesInCommonJs: Plugin = {
  name: 'packages in CommonJS',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:lmdb|msgpackr|piscina)$/ }, ({ path }) => ({ path: require.resolve(path) }));
    onResolve({ filter: /^(?:node-gyp-build-optional-packages|require-addon)$/ }, ({ importer }) => ({
      path: binaryOf(importer.replace(/(\/node_modules\/[^/]+)\/.*/, '$1')),
      namespace: 'binary',
    }));
    onLoad({ filter: /.*/, namespace: 'binary' }, ({ path }) => ({
      contents: `module.exports = () => require(${JSON.stringify(path)});`,
    }));
    onResolve({ filter: /\.node$/, namespace: 'binary' }, ({ path }) => ({ path, external: true }));
    // Who called is for logs that go elsewhere; to name it, V8 goes through the whole script for where its lines end.
    onLoad({ filter: /\/pino\/lib\/caller\.js$/ }, () => ({ contents: 'module.exports = () => [];' }));
    onLoad({ filter: /\/node_modules\/.*\.c?js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace(/\b__filename\b/g, JSON.stringify(path))
        .replace(/\b__dirname\b/g, JSON.stringify(dirname(path))),
    }));
  },
};

/** What starts as a process or a thread of the service, each as one script: of a script, V8 gives what it has compiled. */
async function bundleService(outdir: string): Promise<void> {
  const threads = globSync('src/threads/*-{thread,process}.ts', { cwd: root });
  const own = threads.filter((path) => !path.endsWith('supervised-thread.ts'));
  const { outputFiles } = await build({
    entryPoints: ['src/main/payments.ts', ...own],
    absWorkingDir: root,
    outdir,
    outbase: '.',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'warning',
    plugins: [knowsItsPlace, packagesInCommonJs],
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, await shortened(asScript(text)));
  }
}

/**
 * Without comments and spaces, and in ASCII, of which V8 needs one byte a letter: it goes through all of a script whenever it
 * loads it. An error still shows a short line of it.
 */
async function shortened(script: string): Promise<string> {
  const { code } = await transform(script, { minifyWhitespace: true, lineLimit: 160, legalComments: 'none' });
  // Those in templates and regular expressions, where they can be written in this way.
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A module that imports only what belongs to Node, as a function that waits where the module does. */
function asScript(text: string): string {
  const body = text.replace(/^import ([^"';]+) from "([\w:/]+)";$/gm, (line, names: string, name: string) => {
    if (!isBuiltin(name)) return line;
    // A default, all of it, or names in braces.
    const parts = names.split(/, (?={)/).map((part) => part.replace('* as ', '').replaceAll(' as ', ': '));
    return parts.map((part) => `const ${part} = require('${name}');`).join(' ');
  });
  return `(async function (require) { 'use strict';\n${body}\n})`;
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
