// Runs the simulator on each planted bug, in a process of its own, until it finds it.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { planted, seedsMax } from './bugs.ts';
import { clusterBugs } from './cluster-bugs.ts';

/** A fifth of the seeds has nodes. */
const nodeSeedsMax = 3_000;
const main = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Says of each bug which seed found it, and by which assertion; returns how many were not found. */
export function findPlanted(names: readonly string[]): number {
  let missed = 0;
  const chosen = planted.filter(
    ({ name }) => names.length === 0 || names.some((part) => name.includes(part)),
  );
  for (const { name } of chosen) {
    const env = { ...process.env, SIMULATOR_PLANTED: name };
    const isOfNodes = clusterBugs.some((each) => each.name === name);
    const most = isOfNodes ? nodeSeedsMax : seedsMax;
    // One process comes upon the first seed that finds it.
    const args = [main, '--as-it-is', '--processes', '1', '--seeds', `1..${most}`];
    if (isOfNodes) args.push('--nodes');
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const [, seed, assertion] = /^seed (\d+): (.*)$/m.exec(stdout) ?? [];
    if (seed !== undefined) {
      console.log(`found by seed ${seed.padStart(3)}  ${name}: ${assertion}`);
      continue;
    }
    missed++;
    console.log(`NOT FOUND in ${most} seeds  ${name}${status === 0 ? '' : `\n${stderr}`}`);
  }
  console.log(`${chosen.length - missed} of ${chosen.length} planted bugs found`);
  return missed;
}
