// Writes the sources with all their mutants in them, each behind a switch that is set at run time, and lists the mutants.
// What else the tests load is written beside them without its types.

import { globSync, statSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { cache, digestOf, kept, root, textOf, write } from './kept.ts';
import { addMutators } from './mutators.ts';
import { type Place, withSwitch } from './switch.ts';

/** As patterns below `src`: whole folders, and of `threads` those files of a cluster of nodes that need no other thread to run. */
const patterns = [
  'domain/**/*',
  'shard/**/*',
  'journal/**/*',
  'store/**/*',
  'networks/**/*',
  'webhooks/**/*',
  'directory/**/*',
  'cluster/**/*',
  'postgresql/**/*',
  'crypto/**/*',
  'http-client/**/*',
  'threads/{edges,follow-again,placement,standby-partitions}',
];
export const folders = patterns.map((pattern) => pattern.split('/')[0]!);

/** Texts are read by people, and a changed pattern is seldom a mistake that somebody makes. */
const excludedMutations = ['StringLiteral', 'Regex'];

export interface Mutant extends Place {
  readonly line: number;
  readonly column: number;
  readonly kind: string;
  /** The source line where it begins, without its indentation. */
  readonly within: string;
  readonly original: string;
  readonly replacement: string;
  /** A digest, which stays the same as long as the text of its file does. */
  readonly name: string;
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

export const mutatedFiles = patterns
  .flatMap((pattern) => globSync(`src/${pattern}.ts`, { cwd: root }))
  .sort();

export async function instrument(): Promise<readonly Mutant[]> {
  addMutators();
  writePlain(new Set(mutatedFiles));
  const makers = ['mutators.ts', 'instrument.ts', 'switch.ts'].map((name) => textOf(`test/mutation/${name}`));
  const mutants: Mutant[] = [];
  for (const file of mutatedFiles)
    mutants.push(...(await kept(`mutants/${file}`, digestOf(...makers, textOf(file)), () => make(file))));
  return mutants;
}

/**
 * Sources and tests in which there are no mutants. All are read now, so that digests are of what is
 * written here, whatever somebody changes meanwhile.
 */
function writePlain(mutated: ReadonlySet<string>): void {
  const changedMs = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  for (const path of globSync('{src,test}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })) {
    if (mutated.has(path) || path.endsWith('.d.ts')) continue;
    const text = textOf(path);
    if (changedMs(join(root, path)) >= changedMs(writtenAt(path)))
      write(writtenAt(path), stripTypeScriptTypes(text));
  }
}

function writtenAt(path: string): string {
  return join(cache, 'sources', path);
}

async function make(file: string): Promise<Mutant[]> {
  const text = textOf(file);
  const options = { plugins: null, excludedMutations, ignorers: [], noHeader: true };
  const made = await new Instrumenter(logger).instrument(
    [{ name: file, mutate: true, content: text }],
    options,
  );
  // Those that are left out have numbers, too.
  const idMax = made.mutants.reduce((max, { id }) => Math.max(max, Number(id)), 0);
  const switched = withSwitch(file, idMax, made.files[0]!.content);
  write(writtenAt(file), stripTypeScriptTypes(switched));
  const lines = text.split('\n');
  const placed = made.mutants.filter(({ status }) => status !== 'Ignored');
  return placed.map(({ id, location: { start, end }, mutatorName, replacement }) => {
    const originals = lines.slice(start.line, end.line + 1);
    originals[originals.length - 1] = originals.at(-1)!.slice(0, end.column);
    originals[0] = originals[0]!.slice(start.column);
    const original = originals.join('\n');
    const [line, column] = [start.line + 1, start.column + 1];
    return {
      id: Number(id),
      file,
      line,
      column,
      kind: mutatorName,
      within: lines[start.line]!.trim(),
      original,
      replacement,
      name: digestOf(text, file, String(line), String(column), original, replacement),
    };
  });
}
