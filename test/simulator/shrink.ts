// Makes the plan of a run that finds something shorter, as far as it still finds the same: first halves of its steps are
// left out, then smaller parts, down to single steps; then what the settings add. The result is the shortest that it comes
// upon, not the shortest there is.

import type { Plan, Settings, Step } from './plan.ts';
import { run } from './run.ts';

/** Runs at most. */
const triesMax = 250;

export async function shrink(plan: Plan, assertion: string): Promise<Plan> {
  let tries = 0;
  const finds = async (candidate: Plan): Promise<boolean> => {
    if (++tries > triesMax) return false;
    const { finding } = await run(candidate);
    return finding?.assertion === assertion;
  };
  let best = await withFewerSteps(plan, finds);
  for (const calm of calmer(best.settings)) {
    const candidate = { ...best, settings: { ...best.settings, ...calm } };
    if (await finds(candidate)) best = candidate;
  }
  return withFewerSteps(best, finds);
}

async function withFewerSteps(plan: Plan, finds: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let best = plan;
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < best.steps.length; ) {
      const steps: readonly Step[] = best.steps.toSpliced(start, size);
      const candidate = { ...best, steps };
      if (await finds(candidate)) best = candidate;
      else start += size;
    }
  }
  return best;
}

/** Settings that inject less. */
function calmer(settings: Settings): Partial<Settings>[] {
  const calm: Partial<Settings>[] = [
    { lossRate: 0 },
    { bankTroubleRate: 0 },
    { receiverTroubleRate: 0 },
    { drift: 0 },
    ...(settings.clocksDiffer ? [{ clocksDiffer: false }] : []),
    { organizations: 1 },
    { shards: 1 },
  ];
  return calm.filter((each) =>
    Object.entries(each).some(([name, value]) => settings[name as keyof Settings] !== value),
  );
}
