// Measures the tests by the mistakes that they catch: mutants of the sources, each run against the unit tests that come upon it
// and against seeds of the simulator.
//
//   npm run mutate                            all mutants; what was run before is taken from .cache/mutation
//   npm run mutate -- --sample 200            so many, chosen by the digest of the commit
//   npm run mutate -- --time 600              as many as fit into so many seconds
//   npm run mutate -- --under src/domain      those of one folder or file
//   npm run mutate -- --seeds 20              with so many seeds of the simulator, 0 for the unit tests alone
//   npm run mutate -- --recorded              fails where fewer are killed than recorded.json has

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { coverage } from './coverage.ts';
import { withoutEquivalents } from './equivalents.ts';
import { cache, digestOf, instrument, root } from './instrument.ts';
import { Judge } from './judge.ts';
import { complaints } from './recorded.ts';
import { type Judged, printScore } from './score.ts';

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    time: { type: 'string' },
    under: { type: 'string', default: 'src/' },
    seeds: { type: 'string', default: '10' },
    recorded: { type: 'boolean' },
  },
});
const startedAt = performance.now();
const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(0);
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);
const untilMs = startedAt + Number(values.time ?? Infinity) * 1000;

mkdirSync(cache, { recursive: true });
const mutants = await instrument();
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
const order = new Map(mutants.map((mutant) => [mutant, digestOf(commit, mutant.name)]));
const waiting = withoutEquivalents(mutants)
  .filter(({ file }) => file.startsWith(values.under))
  .sort((a, b) => (order.get(a)! < order.get(b)! ? -1 : 1))
  .slice(0, Number(values.sample ?? Infinity));
const covered = await coverage(digestOf(...mutants.map(({ name }) => name)), seeds);
const files = covered.files.filter(({ tests }) => tests.length > 0).length;
console.log(`${mutants.length} mutants, ${files} test files, ${seeds.length} seeds; ${seconds()} s`);
for (const what of covered.left) console.log(`not used: ${what}`);

const judged: Judged[] = [];
const judge = new Judge(covered);

async function work(): Promise<void> {
  const lane = judge.lane();
  while (performance.now() < untilMs) {
    const mutant = waiting.shift();
    if (mutant === undefined) break;
    judged.push({ mutant, result: await lane.judge(mutant) });
    if (judged.length % 20 === 0) judge.save();
  }
  lane.end();
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
judge.save();
printScore(judged);
console.log(`\n${waiting.length} were not run; ${seconds()} s`);
if (values.recorded)
  for (const complaint of complaints(judged)) {
    console.error(complaint);
    process.exitCode = 1;
  }
