// Runs the simulator on each planted bug, in a process of its own: the seed that is recorded as the one that finds it, and when
// that does not any more, others until one does.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Assertion, isAssertion } from '../kernel/findings.ts';
import { planted, seedsMax } from './bugs.ts';
import { clusterBugs } from './cluster-bugs.ts';
import { type Found, record, recorded } from './recorded.ts';

/** A fifth of the seeds has nodes. */
const nodeSeedsMax = 3_000;
const main = fileURLToPath(new URL('../main.ts', import.meta.url));

/**
 * Says of each bug which seed found it, and by which assertion: by `wanted`, or the recorded one. Returns how many were not found.
 * With `isKept` what was found becomes the record.
 */
export function findPlanted(
  names: readonly string[],
  wanted: Assertion | undefined,
  isKept: boolean,
): number {
  const known = recorded();
  const chosen = planted.filter(
    ({ name }) => names.length === 0 || names.some((part) => name.includes(part)),
  );
  let missed = 0;
  for (const { name } of chosen) {
    const before = known.get(name);
    const assertion = wanted ?? before?.assertion;
    const isStill = before !== undefined && before.assertion === assertion && isFoundStill(name, before);
    const found = isStill ? before : search(name, assertion);
    if (found === null) {
      missed++;
      console.log(`NOT FOUND  ${name}${assertion === undefined ? '' : `: ${assertion}`}`);
      continue;
    }
    const { seed } = found;
    const was = isStill || before === undefined ? '' : ` (was ${before.seed})`;
    console.log(`found by seed ${String(seed).padStart(4)}${was}  ${name}: ${found.assertion}`);
    if (isKept) record(name, found);
  }
  console.log(`${chosen.length - missed} of ${chosen.length} planted bugs found`);
  return missed;
}

/** Whether the seed finds the bug as it is recorded. */
export function isFoundStill(name: string, { seed, assertion }: Found): boolean {
  return runWith(name, ['--seed', String(seed)])?.assertion === assertion;
}

function search(name: string, assertion: Assertion | undefined): Found | null {
  const isOfNodes = clusterBugs.some((each) => each.name === name);
  // One process comes upon the first seed that finds it.
  const args = ['--processes', '1', '--seeds', `1..${isOfNodes ? nodeSeedsMax : seedsMax}`];
  if (isOfNodes) args.push('--nodes');
  if (assertion !== undefined) args.push('--assertion', assertion);
  return runWith(name, args);
}

function runWith(name: string, args: readonly string[]): Found | null {
  const env = { ...process.env, SIMULATOR_PLANTED: name };
  const { stdout, stderr, status } = spawnSync(process.execPath, [main, '--as-it-is', ...args], {
    env,
    encoding: 'utf8',
  });
  const [, seed, assertion] = /^seed (\d+): (.*)$/m.exec(stdout) ?? [];
  if (assertion !== undefined && isAssertion(assertion)) return { seed: Number(seed), assertion };
  if (status !== 0) console.log(stderr);
  return null;
}
