// Measures the tests by the mistakes that they catch: mutants of the sources, each run against the unit tests that come upon it,
// and against seeds of the simulator when it survives these. What a run has found out is kept, so one that was ended goes on.
//
//   npm run mutate -- --sample 40             so many of each folder
//   npm run mutate -- --sample 40 --from 40   the next ones
//   npm run mutate -- --under src/domain      those of one folder, file or line (src/domain/due.ts:20:)
//   npm run mutate -- --simulator             against the simulator alone; with --seeds 50 so many seeds instead of 5
//   npm run mutate -- --nearest               of the unit tests only against those that lie nearest, which is soon measured
//   npm run mutate -- --time 600              as many as fit into so many seconds
//   npm run mutate -- --sample 40 --record    writes their score to recorded.json; with --simulator or --nearest that of these alone
//
// Of mutants that the commit chooses, and fails when too many live:
//
//   npm run mutate -- --recorded 200          so many of those that recorded.json has as killed by a unit test
//   npm run mutate -- --found 20              so many of those that it has as found by a seed
//   npm run mutate -- --unrecorded 60         so many of which it tells nothing, first those of lines that have changed since

import { parseArgs } from 'node:util';
import { tellUsage } from '../usage.ts';
import { withoutEquivalents } from './equivalents.ts';
import { instrument, type Mutant } from './instrument.ts';
import { complaintsOfCommit } from './of-commit.ts';
import { record, recordNearest, recordSimulator } from './recorded.ts';
import { folderOf, printScore } from './score.ts';
import { Workers } from './workers.ts';

tellUsage(import.meta.filename);
const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: 'Infinity' },
    from: { type: 'string', default: '0' },
    under: { type: 'string', default: 'src/' },
    simulator: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '5' },
    nearest: { type: 'boolean', default: false },
    time: { type: 'string', default: 'Infinity' },
    record: { type: 'boolean', default: false },
    recorded: { type: 'string', default: '0' },
    found: { type: 'string', default: '0' },
    unrecorded: { type: 'string', default: '0' },
  },
});
const ofCommit = {
  recorded: Number(values.recorded),
  found: Number(values.found),
  unrecorded: Number(values.unrecorded),
};
const isOfCommit = Object.values(ofCommit).some((count) => count > 0);

/** In the order of their digests, which has nothing to do with what they are; the first of each folder come first. */
function sampleOf(mutants: readonly Mutant[]): Mutant[] {
  const sorted = mutants.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const under = sorted.filter(({ file, line }) => `${file}:${line}:`.startsWith(values.under));
  const from = Number(values.from);
  const samples = Object.values(Object.groupBy(under, (mutant) => folderOf({ mutant })));
  return samples
    .flatMap((some) => some!.slice(from, from + Number(values.sample)).map((mutant, at) => ({ mutant, at })))
    .sort((a, b) => a.at - b.at)
    .map(({ mutant }) => mutant);
}

const all = await instrument();
const counted = withoutEquivalents(all);
console.log(`${all.length} mutants, of which ${all.length - counted.length} do what the original does`);
const workers = new Workers({
  simulatorAlone: values.simulator,
  nearestAlone: values.nearest || isOfCommit,
  seeds: Number(values.seeds),
  timeS: Number(values.time),
});
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    workers.end();
    process.exit(1);
  });

if (isOfCommit) {
  const complaints = await complaintsOfCommit(ofCommit, all, counted, workers);
  for (const complaint of complaints) console.error(`\n${complaint}`);
  if (complaints.length > 0) process.exitCode = 1;
} else {
  const sample = sampleOf(counted);
  await workers.measure(sample);
  const judged = await workers.judgeEach(sample);
  printScore(judged);
  const recordIt = values.simulator ? recordSimulator : values.nearest ? recordNearest : record;
  if (values.record) recordIt(judged, all);
}
