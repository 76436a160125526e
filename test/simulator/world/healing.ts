// What the end of a run is given, in which nothing is injected any more.

import type { ActContext } from './acts.ts';
import type { Host } from './host.ts';
import type { Runs } from './runs.ts';

/** Goes on until something is so, or until a time. */
export type Until = (untilMs: number, isDone: () => boolean) => Promise<boolean>;

export interface Healing<H extends Runs = Host> extends Omit<ActContext, 'service'> {
  readonly host: H;
  readonly until: Until;
}

/** Has the clients do something, and goes on until all that they have asked is answered, or for so long. */
export async function asked(
  { world: { simulation }, clients, until }: Healing<Runs>,
  withinMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  clients.run(async () => {
    await work();
  });
  await until(simulation.nowMs + withinMs, () => clients.outstanding === 0);
}
