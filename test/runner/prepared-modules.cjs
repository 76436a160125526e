// Loaded before everything else by each process and thread of `npm test`: it gives them the modules that prepare-modules.ts has
// prepared. In JavaScript, so that nobody loads what takes types out, and in CommonJS, because an import of Node's own modules
// makes what they make when they are first asked for, such as streams. A process that is told of no folder, or an empty
// one, loads its modules as ever, as all do with a module that is not in the folder.

const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const module_ = require('node:module');
const { dirname, join } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { threadId } = require('node:worker_threads');

const folder = process.env.PREPARED_MODULES;
const root = pathToFileURL(join(__dirname, '../..', '/')).href;

/** Where a file of the project is kept without types; null when it is not. */
function sourceOf(url) {
  if (!url.startsWith(root) || !url.endsWith('.ts')) return null;
  const kept = join(folder, 'sources', decodeURIComponent(url.slice(root.length)));
  return existsSync(kept) ? kept : null;
}

/** What the service's process and threads begin with is kept whole, below addresses where the project has nothing. */
const whole = new URL('prepared-service/', root).href;

const startOfThreads = new URL('src/threads/start-thread.mjs', root).href;

/** The address at which a file that a process or a thread begins with is kept whole; null when it is not. */
function wholeOf(url) {
  // It would only load a thread's own file, without types.
  const own = url === startOfThreads ? process.argv[2] : url;
  if (!own?.startsWith(root)) return null;
  // It would only take types out of sources, for all threads.
  const path = own.slice(root.length).replace(/^src\/main\/serve\.mjs$/, 'src/main/payments.ts');
  const kept = path.replace(/\.ts$/, '.cjs');
  return kept !== path && existsSync(join(folder, 'service', kept)) ? new URL(kept, whole).href : null;
}

/** Under this name what is kept whole finds what runs it. */
const runner = Symbol.for('payments tests: run what is kept whole');

/**
 * Runs what is kept whole, with what V8 has compiled of it before: the functions that the first such process or thread came to
 * call are kept when it ends, and where PREPARED_MODULES_LEARN is set, those that it calls besides.
 */
globalThis[runner] = function runWhole(path) {
  // All that it imports is Node's own, or knows its way.
  hooks?.deregister();
  const filename = join(folder, 'service', path);
  // The service and the other commands have little in common.
  const compiled = join(folder, process.argv.includes('serve') ? 'compiled-service' : 'compiled', path);
  const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined;
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new vm.Script(readFileSync(filename, 'latin1'), {
    filename,
    cachedData,
    importModuleDynamically,
  });
  if (cachedData === undefined || process.env.PREPARED_MODULES_LEARN !== undefined)
    process.once('exit', () => keep(compiled, script.createCachedData()));
  return script.runInThisContext()(module_.createRequire(join(fileURLToPath(root), path)));
};

/** Several processes may do so at a time. */
function keep(path, bytes) {
  const written = `${path}.${process.pid}.${threadId}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(written, bytes);
  renameSync(written, path);
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

let hooks;
if (folder) {
  // An older Node, as a machine may have of its own, has no such hooks and runs none of these files.
  hooks = module_.registerHooks?.({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      const first = parentURL === undefined && specifier.startsWith('file:') ? wholeOf(specifier) : null;
      const url = first ?? (parentURL?.startsWith(root) ? addressOf(specifier, parentURL) : null);
      return url === null ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      if (url.startsWith(whole)) {
        const path = JSON.stringify(url.slice(whole.length));
        const source = `await globalThis[Symbol.for(${JSON.stringify(runner.description)})](${path});`;
        return { format: 'module', source, shortCircuit: true };
      }
      const kept = sourceOf(url);
      if (kept === null) return next(url, context);
      return { format: 'module', source: readFileSync(kept), shortCircuit: true };
    },
  });
}
