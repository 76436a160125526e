// The switch that the instrumented sources ask at each place where there are mutants, under names that StrykerJS' instrumenter
// writes: whether a mutant is on, and that the original was come upon.

let active: string | undefined = process.env.MUTANT;
let counted: Set<string> | null = null;

/** Of this process, and of what it starts from now on. */
export function switchOn(mutant: string | undefined): void {
  active = mutant;
  if (mutant === undefined) delete process.env.MUTANT;
  else process.env.MUTANT = mutant;
}

/** Into which set it is counted from now on what is come upon. */
export function count(into: Set<string> | null): void {
  counted = into;
}

export const header = 'const { stryCov_9fa48, stryMutAct_9fa48 } = globalThis.mutationSwitch;';

Object.assign(globalThis, {
  mutationSwitch: {
    stryMutAct_9fa48: (mutant: string) => mutant === active,
    stryCov_9fa48(...mutants: readonly string[]) {
      if (counted !== null) for (const mutant of mutants) counted.add(mutant);
    },
  },
});
