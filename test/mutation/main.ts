// Measures the tests by the mistakes that they catch: mutants of the sources, each run against the unit tests that come upon it
// and against seeds of the simulator.
//
//   npm run mutate                            all mutants; what was run before is taken from .cache/mutation
//   npm run mutate -- --sample 200            so many, chosen by the digest of the commit
//   npm run mutate -- --time 600              as many as fit into so many seconds
//   npm run mutate -- --under src/domain      those of one folder or file
//   npm run mutate -- --seeds 20              with so many seeds of the simulator

import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Covered, covered } from './covered.ts';
import { cache, digestOf, folders, instrument, type Mutant, root } from './instrument.ts';
import { printScore, type Result } from './score.ts';
import { SimulatorLane } from './simulator-lane.ts';
import { killerOf } from './unit-tests.ts';

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    time: { type: 'string' },
    under: { type: 'string', default: 'src/' },
    seeds: { type: 'string', default: '10' },
  },
});
const startedAt = performance.now();
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);
const untilMs = startedAt + Number(values.time ?? Infinity) * 1000;

mkdirSync(cache, { recursive: true });
const mutants = await instrument();
const testFolders = [...folders, 'simulator'];
const testTexts = testFolders
  .flatMap((folder) => globSync(`test/${folder}/**/*.ts`, { cwd: root }))
  .sort()
  .map((path) => readFileSync(join(root, path), 'utf8'));
const tests = digestOf(...testTexts, String(seeds.length));
const equivalents = readEquivalents();
const coverage = await covered(digestOf(tests, ...mutants.map(({ name }) => name)), seeds);
console.log(`${mutants.length} mutants, ${coverage.files.length} test files, ${seeds.length} seeds`);
for (const file of coverage.left) console.log(`not used, because it fails or takes too long here: ${file}`);

type Place = Pick<Mutant, 'file' | 'within' | 'original' | 'replacement'>;

function keyOf({ file, within, original, replacement }: Place): string {
  return JSON.stringify([file, within, original, replacement]);
}

/** Mutants that do what the original does. Throws where one is no longer among the mutants. */
function readEquivalents(): Set<string> {
  const listed: (Place & { why: string })[] = JSON.parse(
    readFileSync(new URL('equivalents.json', import.meta.url), 'utf8'),
  );
  const made = new Set(mutants.map(keyOf));
  const gone = listed.find((each) => !made.has(keyOf(each)));
  if (gone !== undefined)
    throw new Error(`equivalents.json names a mutant that there is not: ${JSON.stringify(gone)}`);
  return new Set(listed.map(keyOf));
}

const resultsPath = join(cache, 'results.json');
const known = readKnown();

function readKnown(): Record<string, Result> {
  try {
    return JSON.parse(readFileSync(resultsPath, 'utf8'));
  } catch {
    return {};
  }
}

async function judge(mutant: Mutant, lane: SimulatorLane, { files, bySeed }: Covered): Promise<Result> {
  const name = `${mutant.name} ${tests}`;
  if (known[name] !== undefined) return known[name];
  const own = mutant.file.split('/')[1];
  const far = (file: string) => (file.startsWith(`test/${own}/`) ? 0 : 1);
  const fitting = files
    .filter(({ covered }) => covered.has(mutant.id))
    .sort((a, b) => far(a.file) - far(b.file) || a.ms - b.ms);
  const units = await killerOf(mutant.id, fitting);
  const actsAtLoad = bySeed.get('load')!.has(mutant.id);
  const reached = seeds.filter((seed) => actsAtLoad || bySeed.get(String(seed))?.has(mutant.id));
  const limitMs = 15_000 + 2_000 * reached.length;
  const simulator = reached.length > 0 && (await lane.kills(mutant.id, reached, actsAtLoad, limitMs));
  const result = { units, simulator, isCovered: fitting.length + reached.length > 0 };
  known[name] = result;
  return result;
}

const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
const order = new Map(mutants.map(({ id, name }) => [id, digestOf(commit, name)]));
const waiting = mutants
  .filter((mutant) => mutant.file.startsWith(values.under) && !equivalents.has(keyOf(mutant)))
  .sort((a, b) => (order.get(a.id)! < order.get(b.id)! ? -1 : 1))
  .slice(0, Number(values.sample ?? Infinity));
const judged: { mutant: Mutant; result: Result }[] = [];

async function work(): Promise<void> {
  const lane = new SimulatorLane();
  while (performance.now() < untilMs) {
    const mutant = waiting.shift();
    if (mutant === undefined) break;
    judged.push({ mutant, result: await judge(mutant, lane, coverage) });
    if (judged.length % 20 === 0) writeFileSync(resultsPath, JSON.stringify(known));
  }
  lane.end();
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
writeFileSync(resultsPath, JSON.stringify(known));
printScore(judged);
console.log(`\n${waiting.length} were not run; ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
