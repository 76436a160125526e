// The order of the source tree: the layers, what the pure ones may use, names, dead files, sizes, and the files that documents
// name. What holds for files of any kind holds for the scripts of pages, the benches and the clients, too.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formerCommands, formerOptions } from '../src/operator/cli/former-names.ts';
import { functionsOf, moduleStateOf, readTrees } from './syntax.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

/** Imports point up this list only. */
const layers = [
  'core',
  'contract',
  'domain',
  'store',
  'crypto',
  'http-client',
  'rpc',
  'disk',
  'journal',
  'cluster',
  'postgresql',
  'shard',
  'networks',
  'webhooks',
  'request-logs',
  'html',
  'edge',
  'directory',
  'mail',
  'operator',
  'dashboard',
  'config',
  'data-folder',
  'telemetry',
  'backup',
  'health',
  'threads',
  'lifecycle',
  'node',
  'main',
];
const pure = ['core', 'contract', 'domain'];

/** Files that are started, not imported: threads, the command, tools. */
const entries = [
  'main/launch.mjs',
  'main/payments.ts',
  'main/serve.mjs',
  'operator/cli/payments-cli.ts',
  'threads/start-thread.mjs',
  'threads/strip-sources.mjs',
  'threads/shard-thread.ts',
  'threads/archive-process.ts',
  'threads/checkpoint-thread.ts',
  'threads/edge-thread.ts',
  'threads/request-log-thread.ts',
  'threads/webhook-thread.ts',
  'threads/lease-thread.ts',
  'threads/hosting-thread.ts',
  'threads/lending-thread.ts',
  'threads/standby-thread.ts',
  'main/write-docs.ts',
];

const fileLinesMax = 400;
const functionLinesMax = 70;
/** What puts the service together has room for so many files. */
const mainFilesMax = 10;

interface Source {
  /** Path below `src`, or below the root for what lies outside, with slashes. */
  readonly path: string;
  /** The folder that holds it. */
  readonly layer: string;
  readonly text: string;
  /** Text without comments. */
  readonly code: string;
  /** Files of the project that it imports, as paths below `src`. */
  readonly imports: readonly string[];
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const importPattern = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

function pathOf(file: string): string {
  return relative(file.startsWith(src) ? src : root, file).replaceAll('\\', '/');
}

function read(folder: string, kinds: RegExp): Source[] {
  return filesBelow(folder)
    .filter((file) => kinds.test(file))
    .map((file) => {
      const text = readFileSync(file, 'utf8');
      const path = pathOf(file);
      const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
      const imports = [...text.matchAll(importPattern)].map((match) =>
        pathOf(join(dirname(file), match[1]!)),
      );
      return { path, layer: path.split('/')[0]!, text, code, imports };
    });
}

const sources = read(src, /\.(ts|mjs)$/);
const scripts = read(join(src, 'html/scripts'), /\.js$/);
const benches = read(join(root, 'bench'), /\.ts$/);
// What the clients know of the API is generated, and dist is what is packed.
const clients = read(join(root, 'clients'), /^(?!.*\/dist\/).*(?<!\.d)\.ts$/);
const everywhere = [...sources, ...scripts, ...benches, ...clients];

/** One line for each source that `find` has something to say about. */
function complaints(find: (source: Source) => string | null, among: readonly Source[] = sources): string[] {
  return among.flatMap((source) => {
    const complaint = find(source);
    return complaint === null ? [] : [`${source.path}: ${complaint}`];
  });
}

test('every source lies in a layer', () => {
  assert.deepEqual(
    complaints(({ layer }) => (layers.includes(layer) ? null : `${layer} is no layer`)),
    [],
  );
});

test('imports point up the list of layers only', () => {
  const found = complaints(({ layer, imports }) => {
    const wrong = imports.find((path) => layers.indexOf(path.split('/')[0]!) > layers.indexOf(layer));
    return wrong === undefined ? null : `imports ${wrong}`;
  });
  assert.deepEqual(found, []);
});

test('no imports run in a circle', () => {
  const byPath = new Map(everywhere.map((source) => [source.path, source]));
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
    else if (!done.has(path)) {
      for (const next of byPath.get(path)?.imports ?? []) follow(next, [...way, path]);
      done.add(path);
    }
  };
  for (const { path } of everywhere) follow(path, []);
  assert.deepEqual(circles, []);
});

test('the pure layers know no clock, no chance, no process and do not wait', () => {
  const forbidden =
    /'node:[^']+'|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|\basync\b|\bawait\b/;
  const found = complaints(({ layer, code }) => {
    const match = pure.includes(layer) ? forbidden.exec(code) : null;
    return match === null ? null : `uses ${match[0]}`;
  });
  assert.deepEqual(found, []);
});

test('what a shard is made of runs by the scheduler, the timers and the clocks that it is given', () => {
  const bare =
    /\b(setImmediate|setTimeout|setInterval|queueMicrotask|nextTick|hrtime|performance\.now|Date\.now|node:timers\/promises)\b/;
  const layersOfShards = ['core', 'contract', 'domain', 'store', 'disk', 'journal', 'shard', 'networks'];
  const dispatching = ['webhooks/dispatcher.ts', 'webhooks/endpoint-actor.ts', 'webhooks/report-window.ts'];
  const given = ['core/scheduler.ts'];
  const found = complaints(({ layer, path, code }) => {
    const isInjected = layersOfShards.includes(layer) || dispatching.includes(path);
    return isInjected && !given.includes(path) ? (bare.exec(code)?.[0] ?? null) : null;
  });
  assert.deepEqual(found, []);
});

test('the journal and the disk are ports: what lies above imports only what these files offer', () => {
  const port = [
    'journal/dialect.ts',
    'journal/journal.ts',
    'journal/ownership.ts',
    'journal/remote-log.ts',
    'journal/move-log.ts',
    'journal/open-journal.ts',
    'journal/standby-journal.ts',
    'journal/stopped-journal.ts',
    'journal/log-files.ts',
    'journal/log-reader.ts',
    'journal/scrubber.ts',
    'disk/age-recipient.ts',
    'disk/archive-file.ts',
    'disk/identity.ts',
    'disk/is-within.ts',
    'disk/remote-rows.ts',
    'disk/remote-text.ts',
    'disk/row-store.ts',
    'disk/storage-errors.ts',
    'disk/sync-path.ts',
  ];
  const found = complaints(({ layer, code, imports }) => {
    if (layer === 'journal' || layer === 'disk') return null;
    const inner = imports.find((path) => /^(journal|disk)\//.test(path) && !port.includes(path));
    return inner ?? /'lmdb'/.exec(code)?.[0] ?? null;
  });
  assert.deepEqual(found, []);
});

test('what commands do and answer does not live in the command line', () => {
  const found = complaints(
    ({ layer, imports }) => {
      if (layer === 'main') return null;
      return imports.find((path) => path.startsWith('operator/cli/')) ?? null;
    },
    sources.filter(({ path }) => !path.startsWith('operator/cli/')),
  );
  assert.deepEqual(found, []);
});

/**
 * Where something leaves a partition without an append, which alone would refuse an old owner. Each
 * asks who owns the partition first. What only hands over to one of them is listed as such.
 */
const waysOut: Readonly<Record<string, readonly (readonly [code: string, how: string])[]>> = {
  'shard/commit-batch.ts': [
    ['this.post(to.peer, {', 'into the batch'],
    ['peer.post(frames, [', 'release() asks'],
    ['peer.post(message, [', 'release() asks'],
  ],
  'shard/batches-in-flight.ts': [
    ['super.post(peer, me', 'into the batch'],
    ['this.#open.post(peer', 'into the batch'],
  ],
  'shard/deliver.ts': [['batch.post(peer, { o', 'into the batch']],
  'threads/running-shard.ts': [
    ['peer.post({ correlat', 'requireHeld is asked in the line before'],
    ['peer.post({ correlat', 'a refusal that tells nothing'],
  ],
  'threads/shard-thread.ts': [
    ['peer.post({ stalledMs', 'how long the disk takes, and nothing of the partition'],
  ],
  'networks/sender.ts': [
    ['await send(this.#opti', '#within() asks'],
    ['network.lookup(call', '#within() asks'],
  ],
  'webhooks/dispatcher.ts': [['await attempt({', '#pump() asks before each']],
};

test('whatever leaves a partition without an append asks who owns it', () => {
  const leaves =
    /(?:\bthis\.(?:#open\.)?|\bsuper\.|\bpeer\.|\bbatch\.)post\(|\bawait send\(|\bnetwork\.lookup\(|\bawait attempt\(/g;
  const sending = sources.filter(
    ({ layer, path }) =>
      layer === 'shard' ||
      /^networks\/(sender|runner|callbacks|page-starts)\.ts$/.test(path) ||
      path === 'webhooks/dispatcher.ts' ||
      /^threads\/(running-shard|shard-thread)/.test(path),
  );
  const found = Object.fromEntries(
    sending.flatMap(({ path, code }) => {
      const ways = [...code.matchAll(leaves)].map(({ index }) => code.slice(index));
      return ways.length === 0 ? [] : [[path, ways]];
    }),
  );
  assert.deepEqual(Object.keys(found).sort(), Object.keys(waysOut).sort());
  for (const [path, ways] of Object.entries(found)) {
    const listed = waysOut[path]!;
    const starts = ways.map((way, i) => way.startsWith(listed[i]?.[0] ?? '?'));
    assert(
      starts.length === listed.length && starts.every(Boolean),
      `${path}: ${ways.map((way) => way.slice(0, 30)).join(' | ')}`,
    );
  }
  const asking = ['shard/commit-batch.ts', 'threads/running-shard.ts', 'networks/sender.ts'];
  for (const path of asking)
    assert(
      sources.some((each) => each.path === path && each.code.includes('requireHeld(')),
      path,
    );
});

test('what operators and members can do does not know the ways in', () => {
  const inner = /^operator\/(use-cases|results|audit|reconciliation)\//;
  const found = complaints(({ path, imports }) =>
    inner.test(path) ? (imports.find((each) => /^operator\/(socket|cli)\//.test(each)) ?? null) : null,
  );
  assert.deepEqual(found, []);
});

test('the domain names no HTTP status', () => {
  const found = complaints(({ layer, code }) =>
    layer === 'domain' ? (/\bstatus(Of|esOf)\(|\bstatus: \d/.exec(code)?.[0] ?? null) : null,
  );
  assert.deepEqual(found, []);
});

test('no file is a barrel or named for nothing in particular', () => {
  const found = complaints(({ path, code }) => {
    const name = path.split('/').at(-1)!;
    if (/^(index|utils?|common|misc|helpers?)\./.test(name)) return 'says nothing of what is in it';
    if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.(ts|mjs|js)$/.test(name)) return 'is not in kebab-case';
    const statements = code.split('\n').filter((line) => line.trim() !== '');
    return statements.every((line) => /^export .* from /.test(line)) ? 'is a barrel' : null;
  }, everywhere);
  assert.deepEqual(found, []);
});

/** Of these sources, those that no way leads to from the entries. */
function unreached(among: readonly Source[], from: readonly string[], next: (source: Source) => string[]) {
  const byPath = new Map(among.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const queue = [...from];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const source = byPath.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    queue.push(...next(source));
  }
  return among.map(({ path }) => path).filter((path) => !reached.has(path));
}

/** A declaration belongs to a library. */
const isDeclaration = ({ path }: Source) => path.endsWith('.d.ts');

test('every source is reached from an entry', () => {
  const loaded = sources.filter((source) => !isDeclaration(source));
  assert.deepEqual(
    unreached(loaded, entries, ({ imports }) => [...imports]),
    [],
  );
});

test('a page uses every script, and somebody runs every bench', () => {
  const named = sources.flatMap(({ code }) => [...code.matchAll(/scriptAsset\('([^']+)'\)/g)]);
  const used = named.map(([, name]) => `html/scripts/${name}`);
  assert.deepEqual(
    unreached(scripts, used, ({ imports }) => [...imports]),
    [],
  );
  const documented = [readFileSync(join(root, 'package.json'), 'utf8'), ...documents.map(({ text }) => text)];
  const run = documented.flatMap((text) => [...text.matchAll(/node (bench\/[\w-]+\.ts)/g)]);
  // A bench starts other files of its folder as processes, by their names.
  const next = ({ imports, code }: Source) => [
    ...imports,
    ...[...code.matchAll(/'(?:\.\/)?([\w-]+\.ts)'/g)].map(([, name]) => `bench/${name}`),
  ];
  const started = benches.filter((source) => !isDeclaration(source));
  assert.deepEqual(
    unreached(
      started,
      run.map(([, path]) => path!),
      next,
    ),
    [],
  );
});

test('every source begins by saying what it is', () => {
  const found = complaints(
    ({ text }) => (/^(#!.*\n)?\/\/ \S/.test(text) ? null : 'does not begin with a comment'),
    everywhere,
  );
  assert.deepEqual(found, []);
});

test('files stay readable in size', () => {
  const found = complaints(({ text }) => {
    const lines = text.split('\n').length - 1;
    return lines > fileLinesMax ? `${lines} lines; at most ${fileLinesMax}` : null;
  }, everywhere);
  assert.deepEqual(found, []);
});

test('main puts together what other folders hold', () => {
  const found = sources.filter(({ layer }) => layer === 'main').map(({ path }) => path);
  assert(found.length <= mainFilesMax, found.join(' '));
});

test('functions stay readable in size', () => {
  const found: string[] = [];
  let count = 0;
  readTrees(root, [src, join(root, 'clients')], (tree) => {
    const functions = functionsOf(tree);
    count += functions.length;
    for (const { line, lines } of functions)
      if (lines > functionLinesMax)
        found.push(`${pathOf(tree.fileName)}:${line}: ${lines} lines; at most ${functionLinesMax}`);
  });
  assert.ok(count > 5_000, `only ${count} functions were found`);
  assert.deepEqual(found, []);
});

test('modules hold no state that changes: it belongs to instances', () => {
  const found: string[] = [];
  // Those that are started are programs, each with the state of its thread or process.
  const programs = (path: string) => entries.includes(path) || path.endsWith('.js');
  readTrees(root, [src], (tree) => {
    const path = pathOf(tree.fileName);
    if (!programs(path)) found.push(...moduleStateOf(tree).map((state) => `${path}:${state}`));
  });
  assert.deepEqual(found, []);
});

test('comments keep to 100 columns', () => {
  const wide = /^ *(?:\/\/|\/\*|\*)(?! biome-ignore).{98}/m;
  const found = complaints(({ code, text }) => {
    const line = text.split('\n').find((each) => [...each].length > 100 && wide.test(each));
    return line === undefined || code.includes(line) ? null : line;
  });
  assert.deepEqual(found, []);
});

test('nothing is left open', () => {
  const found = complaints(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.exec(text)?.[0] ?? null, everywhere);
  assert.deepEqual(found, []);
});

test('every test runs', () => {
  const left = filesBelow(join(root, 'test'))
    .filter((file) => file.endsWith('.test.ts') && !file.endsWith('tidy.test.ts'))
    .filter((file) =>
      /\b(test|it|describe)\.(only|skip|todo)\b|\b(only|todo): true/.test(readFileSync(file, 'utf8')),
    );
  assert.deepEqual(left, []);
});

const documents = ['README.md', ...filesBelow(join(root, 'docs')).map((file) => relative(root, file))]
  .filter((path) => path.endsWith('.md') && path !== 'docs/coverage.md')
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The anchors of a document: its headings as GitHub spells them, and those that are written out. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1]!)]);
}

test('every link of a document leads to a file, and to a heading in it', () => {
  const broken = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g)].flatMap(([link, file, anchor]) => {
      const target = file === '' ? join(root, path) : join(root, dirname(path), file!);
      const leads = existsSync(target) && (!anchor || anchorsOf(readFileSync(target, 'utf8')).has(anchor));
      return leads ? [] : [`${path}: ${link}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test('every file that a document names exists', () => {
  const missing = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs|json))`/g)]
      .map((match) => match[1]!)
      .filter((name) => ![src, root].some((folder) => existsSync(join(folder, name))))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('no document has a former name of a command or an option', () => {
  const command = [...formerCommands.keys()].join('|');
  const option = [...formerOptions.keys()].join('|');
  const former = new RegExp(
    `(?:\\bpayments |\`)(?:${command})(?: [^\`\\n]*)?\`|\\bpayments (?:${command})\\s|(?:${option})[ =\`]`,
    'g',
  );
  const found = documents.flatMap(
    ({ path, text }) => text.match(former)?.map((name) => `${path}: ${name}`) ?? [],
  );
  assert.deepEqual(found, []);
});

test('docs/ARCHITECTURE.md lists the folders in the order of the layers', () => {
  const { text } = documents.find(({ path }) => path === 'docs/ARCHITECTURE.md')!;
  const listed = [...text.matchAll(/^\| `([\w-]+)\/` \|/gm)].map((match) => match[1]!);
  assert.deepEqual(listed, layers);
});
