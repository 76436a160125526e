// What finds each planted bug. The table in docs/simulator.md is the record: it is read here, and written anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { type Assertion, isAssertion } from '../kernel/findings.ts';
import { planted } from './bugs.ts';

/** A seed that finds a bug, and what does not hold there. */
export interface Found {
  readonly seed: number;
  readonly assertion: Assertion;
}

const file = new URL('../../../docs/simulator.md', import.meta.url);
const table = /(?<=^\| bug \| seed \| what did not hold \|\n\|---\|---\|---\|\n)(?:\|.*\n)+/m;
const row = /^\| (.+) \| (\d+) \| (.+) \|$/;

/** By the names of the bugs, in the order of the table. */
export function recorded(): Map<string, Found> {
  const [rows = ''] = table.exec(readFileSync(file, 'utf8')) ?? [];
  return new Map(rows.trim().split('\n').map(readRow));
}

function readRow(line: string): [string, Found] {
  const [, name, seed, assertion] = row.exec(line) ?? [];
  if (name === undefined || !isAssertion(assertion!)) throw new Error(`no row of a planted bug: ${line}`);
  return [name, { seed: Number(seed), assertion }];
}

/** Keeps what finds a bug. Rows are in the order in which the bugs are planted. */
export function record(name: string, found: Found): void {
  const known = recorded().set(name, found);
  const rows = planted.flatMap((bug) => {
    const { seed, assertion } = known.get(bug.name) ?? {};
    return seed === undefined ? [] : [`| ${bug.name} | ${seed} | ${assertion} |\n`];
  });
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(table, () => rows.join('')),
  );
}
