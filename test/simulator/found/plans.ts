// What the simulator has found, each as the shortest plan that it came upon. A seed means something else when plans are made in
// another way; a plan is kept as it is, and a test runs them all.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Plan } from '../plan.ts';

interface Kept {
  readonly name: string;
  /** What did not hold; null: that was not kept, or the run had no end. */
  readonly assertion: string | null;
  readonly plan: Plan;
}

const folder = new URL('./', import.meta.url);

export function keptPlans(): Kept[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Kept);
}

/** A line for each step. */
export function keepPlan(name: string, { seed, settings, steps }: Plan, assertion: string): void {
  const head = JSON.stringify({ name, assertion }).slice(1, -1);
  const lines = steps.map((step) => `  ${JSON.stringify(step)}`).join(',\n');
  const plan = `{"seed":${JSON.stringify(seed)},"settings":${JSON.stringify(settings)},"steps":[\n${lines}\n]}`;
  writeFileSync(new URL(`${name.replaceAll(' ', '-')}.json`, folder), `{${head},"plan":${plan}}\n`);
}
