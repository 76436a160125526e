// Whether a unit test fails for a mutant.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isShort, type TestFile } from './coverage.ts';
import { type Mutant, root } from './instrument.ts';
import { Lane } from './lane.ts';
import type { Answer, Question } from './unit-process.ts';

interface Part {
  readonly file: string;
  readonly tests: readonly number[];
  readonly ms: number;
}

/** All that a file imports, and what that imports, as paths below the root. */
function importedBy(path: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, to] of readFileSync(join(root, path), 'utf8').matchAll(
    /(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g,
  ))
    importedBy(join(dirname(path), to!), seen);
  return seen;
}

/** The time in which tests run for a mutant that acts at load, since it has no narrower choice of them. */
const atLoadMsMax = 10_000;

export class UnitTests {
  readonly #files: readonly TestFile[];
  readonly #imported: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(files: readonly TestFile[]) {
    this.#files = files;
    this.#imported = new Map(files.map(({ file }) => [file, importedBy(file)]));
  }

  /** What may fail for the mutant: of the file `likely` first, then of its own folder, then what takes less time. */
  partsFor(mutant: Mutant, actsAtLoad: boolean, likely: string | null): Part[] {
    const own = `test/${mutant.file.split('/')[1]}/`;
    const rank = ({ file }: Part) => (file === likely ? 0 : file.startsWith(own) ? 1 : 2);
    const parts = this.#files.flatMap(({ file, tests }): Part[] => {
      const reaches = actsAtLoad && this.#imported.get(file)!.has(mutant.file);
      const some = [...tests.keys()].filter(
        (place) => isShort(tests[place]!) && (reaches || tests[place]!.covered.has(mutant.id)),
      );
      const ms = some.reduce((sum, place) => sum + tests[place]!.ms, 0);
      return some.length === 0 ? [] : [{ file, tests: some, ms }];
    });
    parts.sort((a, b) => rank(a) - rank(b) || a.ms - b.ms);
    if (!actsAtLoad) return parts;
    let leftMs = atLoadMsMax;
    return parts.filter(({ ms }) => {
      leftMs -= ms;
      return leftMs + ms > 0;
    });
  }
}

export class UnitLane {
  readonly #lane = new Lane<Question, Answer>('unit-process.ts');

  /** The first file with a test that fails for the mutant and passes without it; null where none does. */
  async killerOf(mutant: Mutant, parts: readonly Part[], actsAtLoad: boolean): Promise<string | null> {
    for (const part of parts) {
      const answer = await this.#try(part, mutant.id, actsAtLoad);
      if (answer?.failed === null) continue;
      if (actsAtLoad || (await this.#isSound(part, mutant.id, answer))) return part.file;
    }
    return null;
  }

  /** The mutant before may have left something behind that the test fails of: then it fails in a new process only if it should. */
  async #isSound(part: Part, mutant: string, answer: Answer | null): Promise<boolean> {
    if (answer === null) return true;
    const failed = answer.failed!;
    if (failed >= 0 && (await this.#try({ ...part, tests: [failed] }, undefined, false))?.failed === null)
      return true;
    this.end();
    const again = await this.#try(part, mutant, false);
    this.end();
    return again?.failed !== null;
  }

  async #try(
    { file, tests, ms }: Part,
    mutant: string | undefined,
    actsAtLoad: boolean,
  ): Promise<Answer | null> {
    const question = mutant === undefined ? { file, tests } : { file, tests, mutant };
    return this.#lane.ask(question, 5_000 + 10 * ms, actsAtLoad ? mutant : undefined);
  }

  end(): void {
    this.#lane.end();
  }
}
