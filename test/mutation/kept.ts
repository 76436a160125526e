// What is kept from one run for the next, in .cache/mutation: made anew when the digest of what it was made of has changed.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const cache = join(root, '.cache/mutation');

export function digestOf(...texts: string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);
}

const texts = new Map<string, string>();

/** The text of a file by its path below the root, which does not change while this process runs. */
export function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** `name` is a path below the folder. */
export async function kept<T>(name: string, digest: string, make: () => Promise<T>): Promise<T> {
  const path = join(cache, `${name}.json`);
  try {
    const last: { digest: string; made: T } = JSON.parse(readFileSync(path, 'utf8'));
    if (last.digest === digest) return last.made;
  } catch {
    // There is none, or a process ended while it wrote it.
  }
  const made = await make();
  write(path, JSON.stringify({ digest, made }));
  return made;
}

const imports = new Map<string, readonly string[]>();

/** What is imported in the text of a file, as paths below the root. */
export function importedBy(path: string, text: string): readonly string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g);
  return Array.from(found, ([, to]) => join(dirname(path), to!));
}

/** A file, all that it imports, and what that imports, as paths below the root. */
export function closureOf(path: string): readonly string[] {
  const known = imports.get(path);
  if (known !== undefined) return known;
  const closure = new Set([path]);
  // A set that grows while it is gone through is gone through to its new end.
  for (const each of closure) for (const to of importedBy(each, textOf(each))) closure.add(to);
  imports.set(path, [...closure]);
  return [...closure];
}
