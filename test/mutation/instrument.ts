// Writes the sources with all their mutants in them, each behind a switch that is set at run time, and the list of the mutants.
// What else the tests load is written beside them without its types.

import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type File, Instrumenter } from '@stryker-mutator/instrumenter';
import { addMutators } from './mutators.ts';
import { header } from './switch.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const cache = join(root, '.cache/mutation');

export const folders = [
  'domain',
  'shard',
  'journal',
  'store',
  'networks',
  'webhooks',
  'directory',
  'cluster',
  'crypto',
  'http-client',
];

/** Texts are read by people, and a changed pattern is seldom a mistake that somebody makes. */
const excludedMutations = ['StringLiteral', 'Regex'];

export interface Mutant {
  readonly id: string;
  /** Path below the root. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly kind: string;
  /** The source line where it begins, without its indentation. */
  readonly within: string;
  readonly original: string;
  readonly replacement: string;
  /** Stays the same as long as the text of its file does. */
  readonly name: string;
}

export function digestOf(...texts: string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);
}

const nothing = () => {};
const logger = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
};

/** What is kept of the last time is taken as long as the sources and what makes mutants of them are the same. */
export async function instrument(): Promise<readonly Mutant[]> {
  const paths = folders.flatMap((folder) => globSync(`src/${folder}/**/*.ts`, { cwd: root })).sort();
  const files = paths.map((name): File => {
    return { name, mutate: true, content: readFileSync(join(root, name), 'utf8') };
  });
  const makers = ['mutators.ts', 'instrument.ts', 'switch.ts'].map((name) =>
    readFileSync(new URL(name, import.meta.url), 'utf8'),
  );
  const digest = digestOf(...makers, ...files.flatMap(({ name, content }) => [name, content]));
  writePlain(new Set(paths));
  const listPath = join(cache, 'mutants.json');
  const kept = readJson<{ digest: string; mutants: Mutant[] }>(listPath);
  if (kept?.digest === digest) return kept.mutants;
  const mutants = await make(files);
  writeFileSync(listPath, JSON.stringify({ digest, mutants }));
  return mutants;
}

export function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Sources and tests in which there are no mutants. */
function writePlain(mutated: ReadonlySet<string>): void {
  const changedMs = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  for (const path of globSync('{src,test}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })) {
    const from = join(root, path);
    if (mutated.has(path) || path.endsWith('.d.ts') || changedMs(from) < changedMs(keptAt(path))) continue;
    write(path, readFileSync(from, 'utf8'));
  }
}

function keptAt(path: string): string {
  return join(cache, 'sources', path);
}

function write(path: string, text: string): void {
  const kept = keptAt(path);
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, stripTypeScriptTypes(text));
}

async function make(files: readonly File[]): Promise<Mutant[]> {
  addMutators();
  const options = { plugins: null, excludedMutations, ignorers: [], noHeader: true };
  const made = await new Instrumenter(logger).instrument(files, options);
  for (const { name, content } of made.files) write(name, `${header}${content}`);
  const texts = new Map(files.map(({ name, content }) => [name, content]));
  const placed = made.mutants.filter(({ status }) => status !== 'Ignored');
  return placed.map(({ id, fileName, location: { start, end }, mutatorName, replacement }) => {
    const text = texts.get(fileName)!;
    const lines = text.split('\n');
    const original = lines.slice(start.line, end.line + 1);
    original[original.length - 1] = original.at(-1)!.slice(0, end.column);
    original[0] = original[0]!.slice(start.column);
    const [line, column] = [start.line + 1, start.column + 1];
    return {
      id,
      file: fileName,
      line,
      column,
      kind: mutatorName,
      within: lines[start.line]!.trim(),
      original: original.join('\n'),
      replacement,
      name: digestOf(text, fileName, String(line), String(column), original.join('\n'), replacement),
    };
  });
}
