// What the command does, apart from the stand-ins that must be there before the sources are loaded.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { hasNodes } from './cluster-plan.ts';
import { keepPlan } from './found/plans.ts';
import { type Assertion, assertions, Counts, isAssertion } from './kernel/findings.ts';
import { type Found, searchIn } from './parallel.ts';
import { type Plan, planOf } from './plan.ts';
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
      step: { type: 'string' },
      plan: { type: 'string' },
      keep: { type: 'string' },
      time: { type: 'string' },
      processes: { type: 'string' },
      nodes: { type: 'boolean' },
      trace: { type: 'boolean' },
      planted: { type: 'boolean' },
      record: { type: 'boolean' },
      assertion: { type: 'string' },
      'as-it-is': { type: 'boolean' },
    },
  });
  const { assertion } = values;
  if (assertion !== undefined && !isAssertion(assertion)) throw new Error(`no assertion says "${assertion}"`);
  if (values.planted) return findPlanted(positionals, assertion, values.record === true) === 0 ? 0 : 1;
  const shown = {
    trace: values.trace === true,
    shrinks: values['as-it-is'] !== true,
    keep: values.keep,
    assertion,
  };
  if (values.plan !== undefined) {
    const { plan } = JSON.parse(readFileSync(values.plan, 'utf8')) as { readonly plan: Plan };
    return runAll([plan], Infinity, shown);
  }
  const [from, to] = rangeOf(values.seed, values.seeds);
  const seconds = Number(values.time ?? Infinity);
  // A trace is printed by the process that keeps it, and a step tells that the seeds are divided already. Of what one assertion
  // finds the first seed is looked for.
  const isOne = shown.trace || values.step !== undefined || assertion !== undefined;
  const most = isOne ? 1 : Math.min(availableParallelism(), to - from + 1);
  const processes = Number(values.processes ?? most);
  const areWithNodes = values.nodes === true;
  if (processes > 1) return tell(await searchIn(processes, [from, to], seconds, areWithNodes), shown);
  const plans = plansOf(from, to, Number(values.step ?? 1), areWithNodes);
  return runAll(plans, seconds, shown);
}

/** `areWithNodes`: of those with nodes only. */
function* plansOf(from: number, to: number, step: number, areWithNodes: boolean): Generator<Plan> {
  for (let seed = from; seed <= to; seed += step)
    if (!areWithNodes || hasNodes(String(seed))) yield planOf(String(seed));
}

function rangeOf(seed: string | undefined, seeds: string | undefined): [number, number] {
  if (seed !== undefined) return [Number(seed), Number(seed)];
  const [from = '', to] = (seeds ?? '100').split('..');
  if (to === undefined) return [1, Number(from)];
  return [Number(from), to === '' ? Infinity : Number(to)];
}

interface Shown {
  readonly trace: boolean;
  readonly shrinks: boolean;
  /** The name under which the plan of a finding is kept. */
  readonly keep: string | undefined;
  /** What is looked for; undefined: whatever does not hold. */
  readonly assertion: Assertion | undefined;
}

/** Runs plans until one finds something, or the time is over. */
async function runAll(plans: Iterable<Plan>, seconds: number, shown: Shown): Promise<number> {
  const startedAt = performance.now();
  // A part of a search ends with the process that began it.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  const found: Found = { seeds: 0, seconds: 0, reached: new Counts(), happened: new Counts(), finding: null };
  for (const plan of plans) {
    if (performance.now() - startedAt >= seconds * 1000) break;
    const outcome = await run(plan, shown.trace);
    found.seeds++;
    found.reached.addAll(outcome.reached);
    found.happened.addAll(outcome.happened);
    if (shown.trace) console.log(outcome.lines.join('\n'));
    const { finding } = outcome;
    if (finding === null || finding.assertion !== (shown.assertion ?? finding.assertion)) continue;
    found.finding = outcome;
    break;
  }
  found.seconds = (performance.now() - startedAt) / 1000;
  // A search of several processes puts together what each has found.
  process.send?.({
    ...found,
    reached: found.reached.entries(),
    happened: found.happened.entries(),
    finding: found.finding?.plan.seed,
  });
  return tell(found, shown);
}

async function tell({ seeds, seconds, reached, happened, finding }: Found, shown: Shown): Promise<number> {
  const pace = `${seeds} seeds in ${seconds.toFixed(1)} s, ${(seeds / seconds).toFixed(1)} a second`;
  if (finding !== null) {
    console.log(pace);
    await report(finding, shown);
    return 1;
  }
  console.log(`${pace}, nothing found`);
  const line = (name: string, count: number) => console.log(`${String(count).padStart(12)}  ${name}`);
  console.log('\nassertions reached:');
  for (const name of assertions) line(name, reached.get(name));
  console.log('\nwhat happened:');
  for (const [name, count] of happened.entries()) line(name, count);
  return 0;
}

async function report({ plan, finding, digest }: Outcome, { shrinks, keep }: Shown): Promise<void> {
  console.log(`seed ${plan.seed}: ${finding!.assertion}\n  ${finding!.message}\n  digest ${digest}`);
  if (!shrinks) return;
  const short = await shrink(plan, finding!.assertion);
  const { lines } = await run(short, true);
  console.log(
    `\nthe shortest trace found, ${short.steps.length} of ${plan.steps.length} steps:\n${lines.join('\n')}`,
  );
  if (keep !== undefined) keepPlan(keep, short, finding!.assertion);
}
