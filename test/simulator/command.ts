// What the command does, apart from the stand-ins that must be there before the sources are loaded.

import { parseArgs } from 'node:util';
import { assertions, Counts } from './kernel/findings.ts';
import { planOf } from './plan.ts';
import { findPlanted } from './planted/find.ts';
import { type Outcome, run } from './run.ts';
import { shrink } from './shrink.ts';

export async function command(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      time: { type: 'string' },
      trace: { type: 'boolean' },
      planted: { type: 'boolean' },
      'as-it-is': { type: 'boolean' },
    },
  });
  if (values.planted) return findPlanted(positionals) === 0 ? 0 : 1;
  const [from, to] = rangeOf(values.seed, values.seeds);
  const untilMs = performance.now() + Number(values.time ?? Infinity) * 1000;
  const [reached, happened] = [new Counts(), new Counts()];
  let seeds = 0;
  const startedAt = performance.now();
  for (let seed = from; seed <= to && performance.now() < untilMs; seed++) {
    const outcome = await run(planOf(String(seed)), values.trace === true);
    seeds++;
    reached.addAll(outcome.reached);
    happened.addAll(outcome.happened);
    if (values.trace) console.log(outcome.lines.join('\n'));
    if (outcome.finding === null) continue;
    await report(outcome, values['as-it-is'] !== true);
    return 1;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${seeds} seeds in ${seconds.toFixed(1)} s, nothing found`);
  printCoverage(reached, happened);
  return 0;
}

function rangeOf(seed: string | undefined, seeds: string | undefined): [number, number] {
  if (seed !== undefined) return [Number(seed), Number(seed)];
  const [from = '', to] = (seeds ?? '100').split('..');
  if (to === undefined) return [1, Number(from)];
  return [Number(from), to === '' ? Infinity : Number(to)];
}

async function report({ plan, finding, digest }: Outcome, shrinks: boolean): Promise<void> {
  console.log(`seed ${plan.seed}: ${finding!.assertion}\n  ${finding!.message}\n  digest ${digest}`);
  if (!shrinks) return;
  const short = await shrink(plan, finding!.assertion);
  const { lines } = await run(short, true);
  console.log(
    `\nthe shortest trace found, ${short.steps.length} of ${plan.steps.length} steps:\n${lines.join('\n')}`,
  );
}

function printCoverage(reached: Counts, happened: Counts): void {
  const line = (name: string, count: number) => console.log(`${String(count).padStart(12)}  ${name}`);
  console.log('\nassertions reached:');
  for (const name of assertions) line(name, reached.get(name));
  console.log('\nwhat happened:');
  for (const [name, count] of happened.entries()) line(name, count);
}
