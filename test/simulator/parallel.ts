// Searches in several processes at once: of `processes` seeds in a row, each process takes one.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Counts } from './kernel/findings.ts';
import { planOf } from './plan.ts';
import { type Outcome, run } from './run.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** What came of a search. */
export interface Found {
  seeds: number;
  seconds: number;
  readonly reached: Counts;
  readonly happened: Counts;
  finding: Outcome | null;
}

interface Told {
  readonly seeds: number;
  readonly seconds: number;
  readonly reached: readonly [string, number][];
  readonly happened: readonly [string, number][];
  readonly finding: string | undefined;
}

/** Ends when one of the processes finds something. `areWithNodes`: of the seeds those with nodes only. */
export async function searchIn(
  processes: number,
  [from, to]: readonly [number, number],
  seconds: number,
  areWithNodes: boolean,
): Promise<Found> {
  const found: Found = { seeds: 0, seconds: 0, reached: new Counts(), happened: new Counts(), finding: null };
  let seed: string | undefined;
  const children = Array.from({ length: processes }, (_, i) => {
    const range = `${from + i}..${to === Infinity ? '' : to}`;
    const args = ['--as-it-is', '--seeds', range, '--step', String(processes)];
    if (seconds !== Infinity) args.push('--time', String(seconds));
    if (areWithNodes) args.push('--nodes');
    return fork(main, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  });
  const ended = children.map(
    (child) =>
      new Promise<void>((resolve, reject) => {
        let hasTold = false;
        child.on('message', (told: Told) => {
          hasTold = true;
          found.seeds += told.seeds;
          found.seconds = Math.max(found.seconds, told.seconds);
          for (const [name, count] of told.reached) found.reached.add(name, count);
          for (const [name, count] of told.happened) found.happened.add(name, count);
          if (told.finding === undefined) return;
          // The others are ended before they tell, and have run about as many.
          found.seeds = processes * told.seeds;
          seed = told.finding;
          for (const each of children) each.kill();
        });
        child.on('error', reject);
        // All that it has sent was received by then.
        child.on('disconnect', () => {
          // Once something is found, the others are ended before they tell.
          if (hasTold || seed !== undefined) resolve();
          else reject(new Error('a process of the search has ended before it told anything'));
        });
      }),
  );
  await Promise.all(ended);
  if (seed !== undefined) found.finding = await run(planOf(seed));
  return found;
}
