// Measures the tests by the mistakes that they catch: mutants of the sources, each run against the unit tests that come upon it,
// and against seeds of the simulator when it survives these. What a run has found out is kept, so one that was ended goes on.
//
//   npm run mutate -- --sample 40             so many of each folder
//   npm run mutate -- --sample 40 --from 40   the next ones
//   npm run mutate -- --under src/domain      those of one folder or file
//   npm run mutate -- --simulator             against the simulator alone; with --seeds 50 so many seeds instead of 5
//   npm run mutate -- --time 600              as many as fit into so many seconds
//   npm run mutate -- --sample 40 --record    writes their score to recorded.json
//   npm run mutate -- --recorded 50           so many in all, chosen by the commit; fails where recorded.json has a better score

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { withoutEquivalents } from './equivalents.ts';
import { instrument, type Mutant } from './instrument.ts';
import { Judge, JudgeLane } from './judge.ts';
import { digestOf, root } from './kept.ts';
import { Progress } from './progress.ts';
import { complaint, record } from './recorded.ts';
import { isKilled, type Judged, printScore } from './score.ts';

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: 'Infinity' },
    from: { type: 'string', default: '0' },
    under: { type: 'string', default: 'src/' },
    simulator: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '5' },
    time: { type: 'string', default: 'Infinity' },
    record: { type: 'boolean', default: false },
    recorded: { type: 'string' },
  },
});
const startedAt = performance.now();
const seconds = () => (performance.now() - startedAt) / 1000;

/** In the order of their digests, which has nothing to do with what they are. */
function chosen(mutants: readonly Mutant[]): Mutant[] {
  const sorted = (digest: (mutant: Mutant) => string) =>
    mutants.toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1));
  if (values.recorded !== undefined) {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
    return sorted(({ name }) => digestOf(commit, name)).slice(0, Number(values.recorded));
  }
  const under = sorted(({ name }) => name).filter(({ file }) => file.startsWith(values.under));
  const taken = new Map<string, number>();
  const [from, sample] = [Number(values.from), Number(values.sample)];
  return under.filter(({ file }) => {
    const folder = file.split('/')[1]!;
    const at = taken.get(folder) ?? 0;
    taken.set(folder, at + 1);
    return at >= from && at < from + sample;
  });
}

const all = await instrument();
const waiting = chosen(withoutEquivalents(all));
const of = waiting.length;
console.log(`${of} of ${all.length} mutants; ${seconds().toFixed(0)} s`);

const judge = new Judge(Array.from({ length: Number(values.seeds) }, (_, i) => i + 1));
const lanes = Array.from({ length: availableParallelism() }, () => new JudgeLane());
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const lane of lanes) lane.end();
    process.exit(1);
  });
const progress = new Progress();
await judge.measure(lanes, (done, files) => progress.tell(done, files, () => ' test files and seeds'));
for (const why of judge.failing) console.log(`fails without a mutant: ${why}`);
console.log(`It is known what the tests come upon; ${seconds().toFixed(0)} s`);

const judged: Judged[] = [];

async function work(lane: JudgeLane): Promise<void> {
  while (seconds() < Number(values.time)) {
    const mutant = waiting.shift();
    if (mutant === undefined) break;
    const units = values.simulator ? null : await judge.byUnits(mutant, lane);
    const simulator = (units?.killer ?? null) === null ? await judge.bySimulator(mutant, lane) : null;
    judged.push({ mutant, units, simulator });
    progress.tell(judged.length, of, () => {
      const killed = judged.filter(isKilled).length;
      return ` mutants: ${killed} killed, ${judged.length - killed} survive`;
    });
  }
  lane.end();
}

progress.begin();
await Promise.all(lanes.map(work));
printScore(judged);
console.log(`\n${waiting.length} were not run; ${seconds().toFixed(0)} s`);
if (values.record) record(judged);
if (values.recorded !== undefined) {
  const why = complaint(judged);
  if (why !== null) {
    console.error(why);
    process.exitCode = 1;
  }
}
