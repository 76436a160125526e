// Scenarios that take turns in rounds, so that what else the machine does falls on all of them alike. A round lasts until the
// work is done that its requests leave behind: deliveries, and the checkpoint of what was stored. The processor time of
// all threads until then belongs to it.

import { temporaryFolder } from '../test/temporary-folder.ts';
import type { ThreadSeconds } from './processor-time.ts';
import { type Round, type Summary, summarize } from './report.ts';
import type { Scenario } from './scenarios.ts';
import { syncMsIn } from './sync-time.ts';

interface Turns {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** The rate of each scenario; without: as fast as the servers answer. */
  rateOf?(scenario: Scenario): number;
}

const folder = temporaryFolder();

export async function runInTurns(scenarios: readonly Scenario[], turns: Turns): Promise<Summary[]> {
  for (const { target, run } of scenarios) {
    if (turns.warmUpSeconds > 0) await run(turns.connections, turns.warmUpSeconds);
    await target.settled?.();
  }
  const rows = scenarios.map(({ name, server }) => ({ name, server, rounds: [] as Round[] }));
  for (let round = 0; round < turns.rounds; round++) {
    const syncMs = syncMsIn(folder);
    for (const [i, scenario] of scenarios.entries())
      rows[i]!.rounds.push({ ...(await measure(scenario, turns)), syncMs });
  }
  return summarize(rows);
}

async function measure(scenario: Scenario, turns: Turns): Promise<Omit<Round, 'syncMs'>> {
  const { target, stores } = scenario;
  const bytesBefore = await stores?.bytes();
  const threadsBefore = await target.threads?.();
  const before = target.cpuSeconds();
  const found = await scenario.run(turns.connections, turns.seconds, turns.rateOf?.(scenario));
  await target.settled?.();
  const after = target.cpuSeconds();
  const threadsAfter = await target.threads?.();
  const bytesAfter = await stores?.bytes();
  const each = (value: number) => value / found.requests;
  const microseconds = (seconds: number) => each(seconds) * 1e6;
  return {
    ...found,
    cpuMicroseconds: before === null || after === null ? null : microseconds(after - before),
    threads: threadsBefore && threadsAfter ? difference(threadsBefore, threadsAfter, microseconds) : null,
    figures: {
      ...found.figures,
      ...(bytesAfter !== undefined && { 'bytes on disk': each(bytesAfter - bytesBefore!) }),
    },
  };
}

function difference(
  before: ThreadSeconds,
  after: ThreadSeconds,
  each: (seconds: number) => number,
): ThreadSeconds {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, each(Math.max(0, value - (before[name] ?? 0)))]),
  );
}
