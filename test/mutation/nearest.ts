// The test files that lie nearest to a source: those that import it, or what imports it, and so on until there are some. What they
// come upon is soon measured, and they kill most of what all tests kill.

import { stripTypeScriptTypes } from 'node:module';
import { testFiles } from './coverage.ts';
import { closureOf, importedBy, textOf } from './kept.ts';

const filesMax = 4;

const importers = new Map<string, Set<string>>();

/** Which files load a file when they are loaded, among the tests and what these load. */
function importersOf(path: string): ReadonlySet<string> {
  if (importers.size === 0)
    for (const file of new Set(testFiles.flatMap(closureOf)))
      for (const imported of importedBy(file, stripTypeScriptTypes(textOf(file)))) {
        const known = importers.get(imported) ?? new Set();
        importers.set(imported, known.add(file));
      }
  return importers.get(path) ?? new Set();
}

/** Fewer imports first, then those of its folder, and then those that load least. */
export function nearestTests(source: string): readonly string[] {
  const own = `test/${source.split('/')[1]}/`;
  const isOther = (test: string) => Number(!test.startsWith(own));
  const nearest: string[] = [];
  const seen = new Set([source]);
  for (let level = [source]; level.length > 0 && nearest.length < filesMax; ) {
    level = [...new Set(level.flatMap((path) => [...importersOf(path)]))].filter((path) => !seen.has(path));
    for (const path of level) seen.add(path);
    const tests = level.filter((path) => testFiles.includes(path));
    nearest.push(
      ...tests.sort((a, b) => isOther(a) - isOther(b) || closureOf(a).length - closureOf(b).length),
    );
  }
  return nearest.slice(0, filesMax);
}
