// Writes the sources with all their mutants in them, each behind a switch that is set at run time, and the list of the mutants.

import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type File, Instrumenter } from '@stryker-mutator/instrumenter';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const cache = join(root, '.cache/mutation');

export const folders = ['domain', 'shard', 'journal', 'store', 'networks', 'webhooks', 'directory'];

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

export async function instrument(): Promise<Mutant[]> {
  const paths = folders.flatMap((folder) => globSync(`src/${folder}/**/*.ts`, { cwd: root })).sort();
  const files = paths.map((name): File => {
    return { name, mutate: true, content: readFileSync(join(root, name), 'utf8') };
  });
  const texts = new Map(files.map(({ name, content }) => [name, content]));
  const options = { plugins: null, excludedMutations, ignorers: [], noHeader: false };
  const made = await new Instrumenter(logger).instrument(files, options);
  rmSync(join(cache, 'src'), { recursive: true, force: true });
  for (const { name, content } of made.files) {
    mkdirSync(dirname(join(cache, name)), { recursive: true });
    writeFileSync(join(cache, name), stripTypeScriptTypes(content));
  }
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
