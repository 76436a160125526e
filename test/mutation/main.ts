// Measures the tests by the mistakes that they catch: mutants of the sources, each run against the unit tests that come upon it,
// and against seeds of the simulator when it survives these. What a run has found out is kept, so one that was ended goes on.
//
//   npm run mutate -- --sample 40             so many of each folder
//   npm run mutate -- --sample 40 --from 40   the next ones
//   npm run mutate -- --under src/domain      those of one folder, file or line (src/domain/due.ts:20:)
//   npm run mutate -- --simulator             against the simulator alone; with --seeds 50 so many seeds instead of 5
//   npm run mutate -- --time 600              as many as fit into so many seconds
//   npm run mutate -- --sample 40 --record    writes their score to recorded.json; with --simulator that of the simulator alone
//   npm run mutate -- --recorded 200          of those that recorded.json has as killed so many, chosen by the commit: fails when they live

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { testFiles } from './coverage.ts';
import { withoutEquivalents } from './equivalents.ts';
import { instrument, type Mutant } from './instrument.ts';
import { Judge, JudgeLane } from './judge.ts';
import { closureOf, digestOf, root } from './kept.ts';
import { Progress } from './progress.ts';
import { complaint, record, recordedCount, recordedKills, recordSimulator } from './recorded.ts';
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
function sortedBy(mutants: readonly Mutant[], digest: (mutant: Mutant) => string): Mutant[] {
  return mutants.toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1));
}

function chosen(mutants: readonly Mutant[]): Mutant[] {
  const sorted = sortedBy(mutants, ({ name }) => name);
  const under = sorted.filter(({ file, line }) => `${file}:${line}:`.startsWith(values.under));
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
const counted = withoutEquivalents(all);
const lanes = Array.from({ length: availableParallelism() }, () => new JudgeLane());
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const lane of lanes) lane.end();
    process.exit(1);
  });
const judge = new Judge(Number(values.seeds));
const progress = new Progress();

/** Gives each lane one mutant after the other, and tells how many were not tried. */
async function eachOf(
  mutants: Mutant[],
  run: (mutant: Mutant, lane: JudgeLane) => Promise<void>,
): Promise<void> {
  const waiting = [...mutants];
  console.log(`${waiting.length} of ${all.length} mutants; ${seconds().toFixed(0)} s`);
  progress.begin();
  const work = async (lane: JudgeLane) => {
    while (seconds() < Number(values.time)) {
      const mutant = waiting.shift();
      if (mutant === undefined) break;
      await run(mutant, lane);
    }
    lane.end();
  };
  await Promise.all(lanes.map(work));
  console.log(`\n${waiting.length} were not run; ${seconds().toFixed(0)} s`);
}

async function judgeSample(mutants: Mutant[]): Promise<void> {
  const sources = new Set(mutants.map(({ file }) => file));
  const loadsOne = (test: string) => closureOf(test).some((path) => sources.has(path));
  const files = values.simulator ? [] : testFiles.filter(loadsOne);
  await judge.measure(files, lanes, (done, of) => progress.tell(done, of, () => ' test files and seeds'));
  for (const why of judge.failing) console.log(`fails without a mutant: ${why}`);
  console.log(`It is known what the tests come upon; ${seconds().toFixed(0)} s`);
  const judged: Judged[] = [];
  await eachOf(mutants, async (mutant, lane) => {
    const units = values.simulator ? null : await judge.byUnits(mutant, lane);
    const simulator = (units?.killer ?? null) === null ? await judge.bySimulator(mutant, lane) : null;
    judged.push({ mutant, units, simulator });
    progress.tell(judged.length, mutants.length, () => {
      const killed = judged.filter(isKilled).length;
      return ` mutants: ${killed} killed, ${judged.length - killed} survive`;
    });
  });
  printScore(judged);
  if (values.record) (values.simulator ? recordSimulator : record)(judged, all);
}

/** Whether what killed the recorded mutants kills them still, of as many as the commit's digest chooses. */
async function tryRecorded(count: number): Promise<void> {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const kills = recordedKills(all);
  const mutants = sortedBy([...kills.keys()], ({ name }) => digestOf(commit, name)).slice(0, count);
  await judge.measureLoad(lanes[0]!);
  const lost: Mutant[] = [];
  let tried = 0;
  await eachOf(mutants, async (mutant, lane) => {
    if (!(await judge.isKilledBy(mutant, kills.get(mutant)!, lane))) lost.push(mutant);
    progress.tell(++tried, mutants.length, () => ` mutants: ${lost.length} survive`);
  });
  console.log(`${tried - lost.length} of ${tried} mutants that are recorded as killed are killed still`);
  const counts = { recorded: recordedCount(), left: kills.size };
  console.log(`${counts.left} of ${counts.recorded} recorded ones are left`);
  const why = complaint(counts, tried, lost);
  if (why === null) return;
  console.error(why);
  process.exitCode = 1;
}

if (values.recorded === undefined) await judgeSample(chosen(counted));
else await tryRecorded(Number(values.recorded));
