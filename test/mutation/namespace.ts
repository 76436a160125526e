// What the instrumented sources read and count in. The names are those of StrykerJS.

interface Namespace {
  activeMutant?: string;
  currentTestId?: string;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}

export function namespace(): Namespace {
  const holder = globalThis as { __stryker__?: Namespace };
  holder.__stryker__ ??= {};
  return holder.__stryker__;
}
